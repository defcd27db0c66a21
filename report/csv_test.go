package report

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type fruit struct {
	name string
	n    uint64
}

var fruits = []Column[fruit]{
	{Key: "fruit", Head: "fruit", Is: Key | Name, Of: func(f *fruit) Value { return String(f.name) }},
	{Head: "for people", Of: func(*fruit) Value { panic("CSV asked for a column of people") }},
	{Key: "n", Of: func(f *fruit) Value { return Count(f.n) }},
}

func basket() *Report {
	return &Report{Sections: []Section{
		{Key: "sentences", Lines: []string{"no rows"}},
		{Key: "apples", Data: NewTable("", []fruit{{"=red", 2}}, fruits)},
		{Key: "none", Data: NewTable("", nil, fruits)},
		{Key: "pears", Data: NewTable("", []fruit{{"green", 3}}, fruits)},
	}}
}

func TestCSVWritesOneTable(t *testing.T) {
	for table, want := range map[string]string{
		"": "fruit,n\n'=red,2\n", "apples": "fruit,n\n'=red,2\n", "none": "fruit,n\n", "pears": "fruit,n\ngreen,3\n", "sentences": "",
	} {
		r, b := basket(), new(bytes.Buffer)
		r.Table = table
		if err := CSV(b, r, Options{}); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, b.String()); d != "" {
			t.Errorf("table %q (-want +got):\n%s", table, d)
		}
	}
}

// A section without rows lacks nothing in CSV.
func TestCSVTablesNamesWhatIsLeftOut(t *testing.T) {
	r := basket()
	if written, others := r.CSVTables(); written != "apples" || !cmp.Equal(others, []string{"pears"}) {
		t.Errorf("%s is written, %v left out", written, others)
	}
}

func TestValuesReadAndWritten(t *testing.T) {
	ns, share := int64(1500), .5
	for _, c := range []struct {
		v          Value
		is         Is
		read, data string
	}{
		{Value{}, 0, "–", ""},
		{String(""), Words, "", ""},
		{Code("same_slowness"), Words, "same slowness", "same_slowness"},
		{Flag(true), Words, "true", "true"},
		{Count(7), 0, "7", "7"},
		{OutOf(3, 12), 0, "3 of 12", "3"},
		{Nanos(1234567), 0, "1.234567 ms", "1234567"},
		{Nanos(1234567), Rounded, "1.235 ms", "1234567"},
		{Nanos(-5), 0, "-5 ns", "-5"},
		{Maybe(&ns, Nanos).AtMost(true), 0, "≤ 1.5 µs", "1500"},
		{Maybe[int64](nil, Nanos), 0, "–", ""},
		{Maybe(&share, Share).AtLeast(true), 0, "≥ 50 %", "0.5"},
		{Share(-.25).AtLeast(false), 0, "-25 %", "-0.25"},
		{Number(7.9249), 0, "7.92", "7.9249"},
		{String("-1"), Name, "-1", "'-1"},
	} {
		if got := c.v.read(c.is, Scale{}); got != c.read {
			t.Errorf("%+v reads %q, want %q", c.v, got, c.read)
		}
		if got := c.v.field(); got != c.data {
			t.Errorf("%+v is %q in CSV, want %q", c.v, got, c.data)
		}
	}
}

// Values of a column share a unit; a bound is rounded down on it.
func TestColumnScale(t *testing.T) {
	values := []Value{Nanos(1_999_999), Nanos(2_345_678).AtLeast(true), {}}
	s := columnScale(OneUnit, values)
	for i, want := range []string{"2.000 ms", "≥ 2.345 ms", "–"} {
		if got := values[i].read(OneUnit, s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Nanos(-3e9).read(ByMost, columnScale(ByMost, []Value{Nanos(4e6), Nanos(-3e9)})); got != "-3 s" {
		t.Errorf("the largest, whatever its sign: %q", got)
	}
}

func TestNotesOfAValueAreCitedOnce(t *testing.T) {
	v := Count(1).Tagged("(max)").Noted("a", "", "b", "a")
	if !cmp.Equal(v.footnotes(), []string{"a", "b"}) || v.remark() != "(max)" {
		t.Errorf("%q, %q", v.footnotes(), v.remark())
	}
}
