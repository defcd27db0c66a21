package ingest

import (
	"strings"
	"testing"
)

// What a message quotes of an input does not make it long.
func TestMessagesStayShortWhateverTheInput(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("d", 200_000)
	for name, in := range map[string]string{
		"a long column":           "hop," + long + "\na,1\n",
		"many columns":            "hop," + strings.Repeat("column,", 20_000) + "x\na,1\n",
		"many nameless columns":   strings.Repeat("1,", 20_000) + "1\n" + strings.Repeat("2,", 20_000) + "2\n",
		"a long key":              `{"hop":"a","` + long + `":1}` + "\n",
		"a long key without unit": `{"hop":"a","` + long[:1000] + `.duration":1}` + "\n",
	} {
		d := decode(t, how{}, in)
		if d.err == nil || len(d.err.Error()) > 3000 || !strings.HasPrefix(d.err.Error(), "in: ") {
			t.Errorf("%s: an error of %d bytes: %.200v", name, len(textOf(d.err)), d.err)
		}
	}
	d := decode(t, how{}, rowA+`{"hop":"a","duration_ms":"`+long+`"}`+"\n")
	if len(d.rejects) != 1 || len(d.rejects[0].Detail) > 300 {
		t.Errorf("%.300v", d.rejects)
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// What is too large, or too late for a clock, is not called negative.
func TestWhatIsTooLargeIsNotNegative(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`"duration_ns":9223372036854775808`:                                    "bad_duration: duration_ns 9223372036854775808: larger than 292 years",
		`"duration_ms":9223372036854775808`:                                    "bad_duration: duration_ms 9223372036854775808: larger than 292 years",
		`"duration_ms":13835058055282163711`:                                   "bad_duration: duration_ms 13835058055282163711: larger than 292 years",
		`"duration_ms":13835058055282163712`:                                   "negative_duration: duration_ms 13835058055282163712: negative, written without its sign",
		`"start":"9999-01-01T00:00:00Z","end":"9999-01-01T00:00:01Z"`:          "bad_time: start 9999-01-01T00:00:00Z: not in the years 1678 to 2261",
		`"start":"0001-01-01T00:00:00Z","end":"2024-01-01T00:00:01Z"`:          "bad_time: start 0001-01-01T00:00:00Z: not in the years 1678 to 2261",
		`"start":"Fri, 01 Jan 9999 00:00:00 GMT","end":"2024-01-01T00:00:01Z"`: "bad_time: start Fri, 01 Jan 9999 00:00:00 GMT: not in the years 1678 to 2261",
		`"start_ms":9300000000000,"end_ms":9300000000001`:                      "bad_time: start_ms 9300000000000: not in the years 1678 to 2261",
		`"start_ns":18446744073709551615,"end_ns":18446744073709551616`:        "bad_time: start_ns 18446744073709551615: not in the years 1678 to 2261",
	} {
		d := decode(t, how{}, rowA+`{"hop":"x",`+in+"}\n")
		if len(d.rejects) != 1 {
			t.Errorf("%s: %v", in, d.rejects)
			continue
		}
		if got := string(d.rejects[0].Reason) + ": " + d.rejects[0].Detail; got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// A closed cell that is too long for its line breaks is not said to be open.
func TestALongCellWithLineBreaksIsNamedAsSuch(t *testing.T) {
	t.Parallel()
	d := decode(t, how{}, "hop,duration_ms,note\na,1,"+`"`+strings.Repeat("x", 1<<20)+`"`+"\nb,2,"+`"`+strings.Repeat("x\n", 1<<19)+`"`+"\nc,3,\n")
	if len(d.rows) != 2 || len(d.rejects) == 0 || !strings.Contains(d.rejects[0].Detail, "not within the 1 MiB that a cell with line breaks may have") {
		t.Errorf("%d rows, %.300v", len(d.rows), d.rejects[:min(1, len(d.rejects))])
	}
}
