package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/ingest/format"
)

// fixture reads a file of testdata.
func fixture(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// fixtures returns the one file of a format whose name starts with kind, "" where
// there is none.
func fixtures(t testing.TB, format, kind string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("testdata", format, kind+".*"))
	if err != nil || len(found) != 1 {
		t.Errorf("testdata/%s: %d fixtures %q", format, len(found), kind)
		return ""
	}
	return filepath.Join(format, filepath.Base(found[0]))
}

// Each format in the list has a folder with a good, a bad and an empty fixture.
// Its good one is recognised by it and by no other format (but for protobuf,
// which has to be named), and decodes without a reject; the bad one has rejects and accepted records; the empty one is empty.
func TestEachFormatKnowsItsOwnFixtures(t *testing.T) {
	for _, f := range formats {
		t.Run(f.Name, func(t *testing.T) {
			good := fixture(t, fixtures(t, f.Name, "good"))
			h := how{}
			if f.Name == "jaeger-proto" {
				h.format = f.Name // has no marks by which it is known
			}
			for _, other := range formats {
				s := other.Sniff(&format.Head{Bytes: []byte(good)}, how{}.config(t).Fields)
				if s.Mine != (other.Name == f.Name && h.format == "") {
					t.Errorf("%s takes it for its own: %v (%s)", other.Name, s.Mine, s.Why)
				}
				if !s.Mine && s.Why == "" {
					t.Errorf("%s does not say why not", other.Name)
				}
			}
			d := decodeAnyhow(t, h, good)
			if d.err != nil || len(d.rows) == 0 || len(d.rejects) > 0 || d.summary.Files[0].Format != f.Name {
				t.Errorf("good: %v, %d rows, rejects %v, format %q", d.err, len(d.rows), d.rejects, d.summary.Files[0].Format)
			}
			d = decodeAnyhow(t, h, fixture(t, fixtures(t, f.Name, "bad")))
			if d.err != nil || len(d.rows) == 0 || len(d.rejects) == 0 || d.summary.Files[0].Format != f.Name {
				t.Errorf("bad: %v, %d rows, rejects %v", d.err, len(d.rows), d.rejects)
			}
			d = decodeAnyhow(t, h, fixture(t, fixtures(t, f.Name, "empty")))
			if d.err != nil || len(d.rows) > 0 || len(d.rejects) > 0 || len(d.summary.Warnings) != 1 || d.summary.Warnings[0].Code != "empty_file" {
				t.Errorf("empty: %v, %+v", d.err, d.summary)
			}
		})
	}
}

func TestGoodFixturesDecodeToTheSameAttempts(t *testing.T) {
	for name, want := range map[string][]attempt{
		"ndjson/good.ndjson": {
			{Line: 1, Offset: 0, Hop: "checkout", Duration: 120500e3, End: "completed", Marked: true, Trace: "c1", Start: "2026-03-01T10:00:00.0045Z", Resolution: 5},
			{Line: 2, Offset: 119, Hop: "inventory", Duration: 5e9, End: "truncated own", Marked: true, Timeout: 5e9, Trace: "c2", Start: "2026-03-01T10:00:00.2Z", Resolution: 6},
			{Line: 3, Offset: 250, Hop: "inventory", Duration: 80e6, End: "completed", Marked: true, Retry: true, Trace: "c2", Start: "2026-03-01T10:00:05.22Z", Resolution: 6},
		},
		"csv/good.csv": {
			{Line: 2, Offset: 48, Hop: "checkout", Duration: 120500e3, End: "completed", Marked: true, Trace: "c1", Resolution: 3},
			{Line: 3, Offset: 73, Hop: "inventory, west", Duration: 5e9, End: "truncated below", Marked: true, Trace: "c2", Resolution: 3},
			{Line: 4, Offset: 108, Hop: "inventory, west", Duration: 80e6, End: "completed", Marked: true, Retry: true, Trace: "c2", Resolution: 3},
		},
		"tsv/good.tsv": {
			{Line: 2, Offset: 48, Hop: "checkout", Duration: 120500e3, End: "completed", Marked: true, Trace: "c1", Resolution: 3},
			{Line: 3, Offset: 73, Hop: "inventory west", Duration: 5e9, End: "truncated below", Marked: true, Trace: "c2", Resolution: 3},
			{Line: 4, Offset: 105, Hop: "inventory west", Duration: 80e6, End: "completed", Marked: true, Retry: true, Trace: "c2", Resolution: 3},
		},
	} {
		for _, eol := range []string{"", "\uFEFF"} {
			in := eol + fixture(t, name)
			d := decodeAnyhow(t, how{}, in)
			for i := range want {
				if i < len(d.rows) && d.rows[i].Offset > 0 {
					d.rows[i].Offset -= int64(len(eol))
				}
			}
			same(t, name, d.rows, want)
		}
	}
}

// The same 1.50025 ms as five loggers of Go write it.
func TestLoggersOfGoAreRead(t *testing.T) {
	for _, c := range []struct {
		name, unit string
		rejects    []string
	}{
		{"slog", "ns", []string{"duration !ERROR:json: unsupported value: NaN: not a number"}},
		{"zap", "s", []string{"duration +Inf: not a finite number"}},
		{"zapdev", "", []string{"duration +Inf: not a finite number"}},
		{"zerolog", "ms", []string{"duration NaN: not a finite number"}},
		{"logrus", "ns", nil},
	} {
		in := fixture(t, "loggers/"+c.name+".ndjson")
		d := decodeAnyhow(t, how{unit: c.unit}, in)
		same(t, c.name+" durations", pick(d.rows, func(a attempt) string {
			return fmt.Sprint(a.Hop, " ", a.Trace, " ", a.Duration, " ", a.End, " ", a.Retry)
		}),
			[]string{"inventory t1 1.50025ms completed false", "inventory t2 1.50025ms failed other true"})
		same(t, c.name+" rejects", pick(d.rejects, func(r format.Reject) string { return r.Detail }), c.rejects)
		same(t, c.name+" message", pick(d.rows, func(a attempt) bool { return a.Speaks }), []bool{false, true})
		_, unitless := decode(t, how{}, in).err.(*format.UnitError)
		same(t, c.name+" needs a unit", unitless, c.unit != "")
	}
}

func TestUnknownInputSaysPerFormatWhyNot(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"hello world\nthis is text\n", `in: not recognised
  ndjson: no line is a JSON object
  csv: the first line has only one column
  tsv: the first line has only one column
name the format with --input-format, or the fields with --field NAME=KEY`},
		{"{\"svc\":\"x\",\"t\":5}\n", `in: not recognised
  ndjson: records without a hop and a duration that is known by name (keys: svc, t): name it with --field
  csv: a quote inside a field that does not start with one
  tsv: a quote inside a field that does not start with one
name the format with --input-format, or the fields with --field NAME=KEY`},
		{"hop,t\nx,1\n", `in: not recognised
  ndjson: no line is a JSON object
  csv: records without a duration that is known by name (keys: hop, t): name it with --field
  tsv: the first line has only one column
name the format with --input-format, or the fields with --field NAME=KEY`},
		{"a\tduration_ms\nx\t1\n", `in: not recognised
  ndjson: no line is a JSON object
  csv: the first line has only one column
  tsv: records without a hop that is known by name (keys: a, duration_ms): name it with --field
name the format with --input-format, or the fields with --field NAME=KEY`},
	} {
		d := decode(t, how{}, c.in)
		var unknown *UnknownFormatError
		if !errors.As(d.err, &unknown) {
			t.Fatalf("%q: %v", c.in, d.err)
		}
		// Other formats may say their own reasons between these.
		for _, line := range strings.Split(c.want, "\n") {
			if !strings.Contains(d.err.Error(), line) {
				t.Errorf("%q: no %q in\n%v", c.in, line, d.err)
			}
		}
		same(t, "reasons", len(unknown.Whys), len(formats))
	}
	many := decode(t, how{}, "{"+strings.Repeat(`"k":0,`, 3)+`"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"l":1,"m":1}`)
	if !strings.Contains(many.err.Error(), "(keys: a, b, c, d, e, f, g, h, i, j, k, l, …)") {
		t.Errorf("many keys: %v", many.err)
	}
}

func TestNamedFormatIsNotDoubted(t *testing.T) {
	d := decodeAnyhow(t, how{format: "csv"}, "a,b\nx,1\n")
	same(t, "reason", d.rejects[0].Reason, format.NoHop)
	d = decodeAnyhow(t, how{format: "ndjson"}, "hello\n"+rowA)
	same(t, "hops", pick(d.rows, hopOf), []string{"a"})
	d = decode(t, how{format: "csv"}, "\"a,b\nx,1\n")
	if d.err == nil || d.err.Error() != "in: not recognised\n  csv: a quote that is not closed, or not within the 1 MiB that a cell with line breaks may have\nname the format with --input-format, or the fields with --field NAME=KEY" {
		t.Errorf("a broken header: %v", d.err)
	}
	for _, name := range FormatNames() {
		if d := decode(t, how{format: name}, "\n \n"); d.err != nil {
			t.Errorf("%s of blank lines: %v", name, d.err)
		}
	}
}

// Lines that are no records may come before the first that is.
func TestHopLogIsFoundAfterOtherLines(t *testing.T) {
	d := decodeAnyhow(t, how{}, "starting up {\n\n[1]\n{\"level\":\"info\"}\n\uFEFF"+rowA)
	same(t, "hops", pick(d.rows, hopOf), []string{"a"})
	same(t, "reasons", pick(d.rejects, func(r format.Reject) format.Reason { return r.Reason }), []format.Reason{format.Malformed, format.NotARecord, format.NoHop})
}

// A first line that is longer than the part of the file that is looked at is
// judged by what is seen of it.
func TestLongFirstLineIsRecognised(t *testing.T) {
	pad := strings.Repeat("x", 2*format.HeadSize)
	for _, in := range []string{
		`{"hop":"x","pad":"` + pad + `","duration_ms":1}` + "\n",
		`{"time":"2026-03-01T10:00:00Z","pad":"` + pad + `","hop":"x","duration_ms":1}` + "\n",
		`{"hop":"x","duration_ms":1,"pad":"` + pad + `"}`,
	} {
		d := decode(t, how{}, in)
		same(t, in[:30], pick(d.rows, hopOf), []string{"x"})
	}
	if d := decode(t, how{}, `{"lines":"x","pages":["`+pad+`"]}`); d.err == nil {
		t.Errorf("anything is taken for a hop log")
	}
	if d := decode(t, how{}, `{"hop":"x","took":5,"pad":"`+pad+`"}`); d.err == nil || !bytes.Contains([]byte(d.err.Error()), []byte("unit")) {
		t.Errorf("a long line without a unit: %v", d.err)
	}
}
