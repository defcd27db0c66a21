package hoplog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/internal/moment"
)

// oracle reads the known fields of an object with encoding/json: for each path
// the last scalar. ok is false for what encoding/json does not take as one
// object.
func oracle(line []byte) (last map[string]string, ok bool) {
	if !json.Valid(line) || bytes.TrimLeft(line, " \t\r\n")[0] != '{' {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	last = map[string]string{}
	dec.Token()
	oracleObject(dec, "", last)
	return last, true
}

func oracleObject(dec *json.Decoder, prefix string, last map[string]string) {
	for dec.More() {
		key, _ := dec.Token()
		oracleValue(dec, prefix+key.(string), last)
	}
	dec.Token()
}

func oracleValue(dec *json.Decoder, path string, last map[string]string) {
	token, _ := dec.Token()
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			oracleObject(dec, path+".", last)
			return
		}
		for dec.More() {
			oracleValue(dec, "\x00", map[string]string{})
		}
		dec.Token()
	case nil:
		last[path] = "null"
	default:
		last[path] = fmt.Sprintf("%T %v", v, v)
	}
}

// settings are those of a run with these values of --field.
func settings(t testing.TB, fields ...string) *format.Settings {
	t.Helper()
	c := field.Config{Unit: moment.NoUnitGiven, FirstAttempt: -1}
	for _, s := range fields {
		f, err := field.ParseFlag(s)
		if err != nil {
			t.Fatal(err)
		}
		c.Fields = append(c.Fields, f)
	}
	rules, err := outcome.NewSet(outcome.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return &format.Settings{Config: c, Rules: rules, Lines: NewTable(c, rules)}
}

// probed are settings whose keys the scanner is asked for in differential tests.
func probed(t testing.TB) *format.Settings {
	return settings(t, "trace=t", "hop=a.b", "duration=d:ms", "start=a.c.e", "end=\uFFFD", "truncated=k\"", "retry=a")
}

func agreesWithEncodingJSON(t *testing.T, fields *format.Settings, line []byte) {
	d := newNDJSON(fields, 0)
	err := d.scanner.scan(line)
	want, ok := oracle(line)
	if (err == nil) != ok {
		t.Fatalf("%q: error %v, but encoding/json takes it: %v", short(line), err, ok)
	}
	if err != nil {
		return
	}
	for _, f := range fields.Config.Fields {
		if got := shownValue(d.rec.Get(f.Role)); got != want[f.Key] && !hasReplacement(f.Key, line) {
			if f.Role != field.Hop && want[f.Key] == "string " && got == "null" {
				continue
			}
			t.Fatalf("%q: %s is %q, want %q", short(line), f.Key, got, want[f.Key])
		}
	}
}

// hasReplacement is where names and values may differ: encoding/json replaces
// bytes that are not UTF-8, and ours keeps them.
func hasReplacement(_ string, line []byte) bool {
	return !bytes.Equal(bytes.ToValidUTF8(line, nil), line)
}

func shownValue(v *field.Value) string {
	switch v.Kind {
	case jsonscan.Absent:
		return ""
	case jsonscan.Null:
		return "null"
	case jsonscan.Number:
		return "json.Number " + string(v.Raw)
	case jsonscan.True, jsonscan.False:
		return "bool " + string(v.Raw)
	}
	return "string " + string(v.Raw)
}

func short(b []byte) []byte { return b[:min(len(b), 200)] }

// jsonLines is a corpus of lines, good and bad.
var jsonLines = []string{
	`{}`, ` { } `, `{"t":"x"}`, `{"t":1,"t":2}`, `{"t":1,"t":null}`, `{"a":{"b":"x"}}`, `{"a.b":"x"}`, `{"a":{"b":1},"a.b":2}`, `{"a":{"c":{"e":-1.5e+3}}}`,
	`{"a":{"c.e":true}}`, `{"a.c":{"e":false}}`, `{"d":"a\u00e9\n\"\\\/\ud83d\ude00\ud800"}`, `{"\u0074":3}`, `{"k\"":1}`, `{"a":[{"b":1},[[]],{"b":[]}],"d":0}`,
	`{"d":[1]}`, `{"a":{"b":{"x":1}}}`, `{"a":5,"a":{"b":1}}`, "{\"t\":\"caf\xe9\"}", "{\"\xff\":1}", "{\"\uFFFD\":1}", "\t{\r\n\"t\" : 1 ,\"d\":2\n}\r\n",
	`{"d":-0}`, `{"d":01}`, `{"d":-}`, `{"d":1.}`, `{"d":.5}`, `{"d":1e}`, `{"d":1e+}`, `{"d":+1}`, `{"d":1E400}`, `{"d":NaN}`, `{"d":tru}`, `{"d":nul}`, `{"d":falsey}`,
	`{"d":true,}`, `{,}`, `{"d"}`, `{"d":}`, `{"d" 1}`, `{d:1}`, `{"d":1`, `{"d":"x`, `{"d":"\x"}`, `{"d":"\u12g4"}`, `{"d":"\u12"}`, "{\"d\":\"\x01\"}", `{"a":{"b":1}`,
	`{"a":[1,]}`, `{"a":[1 2]}`, `{"a":[`, `{"a":[}`, `{"a":{"b":[[[]]]}}x`, `{}{}`, `[]`, `[{"t":1}]`, `null`, `"t"`, `1`, ``, ` `, `x`, "{\"d\":1}\x00", `{"":1}`, `{"d":"\`,
	`{"x":{"y":{"z":[{"a":{"b":1}}]}},"t":"v"}`, `{"x":"\u0000","t":"\u0000"}`, `{"a":{},"t":[]}`, `{"a":{"\u0062":"esc"}}`, `{"d":"` + "\x7f" + `"}`,
}

func TestScannerReadsWhatEncodingJSONReads(t *testing.T) {
	fields := probed(t)
	for _, line := range jsonLines {
		agreesWithEncodingJSON(t, fields, []byte(line))
		for cut := range line {
			agreesWithEncodingJSON(t, fields, []byte(line[:cut]))
		}
	}
}

func FuzzScannerAgreesWithEncodingJSON(f *testing.F) {
	for _, line := range jsonLines {
		f.Add([]byte(line))
	}
	fields := probed(f)
	f.Fuzz(func(t *testing.T, line []byte) { agreesWithEncodingJSON(t, fields, line) })
}

func TestNestingEndsWhereThatOfEncodingJSONEnds(t *testing.T) {
	fields := probed(t)
	for _, n := range []int{jsonscan.MaxDepth - 2, jsonscan.MaxDepth - 1, jsonscan.MaxDepth, jsonscan.MaxDepth + 1} {
		for _, c := range []struct{ open, shut string }{{`{"x":`, `}`}, {`{"a":`, `}`}, {`[`, `]`}} {
			line := `{"d":` + strings.Repeat(c.open, n-1) + `1` + strings.Repeat(c.shut, n-1) + `}`
			if err := newNDJSON(fields, 0).scanner.scan([]byte(line)); (err == nil) != json.Valid([]byte(line)) || (err == nil) != (n <= jsonscan.MaxDepth) {
				t.Errorf("%d times %s: %v", n, c.open, err)
			}
		}
	}
}

// New keys without an end fill no memory, and known ones are still known.
func TestKeyCacheIsBounded(t *testing.T) {
	d := newNDJSON(settings(t), 0)
	for i := range 2 * field.MaxCachedKeys {
		d.rec.Reset()
		line := fmt.Appendf(nil, `{"k%d":1,"hop":"x","duration_ms":%d}`, i, i)
		if err := d.scanner.scan(line); err != nil || !measured(&d.rec) {
			t.Fatalf("%s: %v", line, err)
		}
	}
	if n := len(d.keys.Seen); n > field.MaxCachedKeys {
		t.Errorf("%d keys", n)
	}
}

const logLine = `{"time":"2026-03-01T10:00:00.000Z","level":"INFO","msg":"call done","chain_id":"0000000000000000000000000000002a","hop":"checkout","duration_ms":7.003,"timed_out":false,"attempt":1,"status":200}` + "\n"

func BenchmarkScanner(b *testing.B) {
	d := newNDJSON(settings(b), 0)
	line := []byte(strings.TrimSpace(logLine))
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		d.rec.Reset()
		if err := d.scanner.scan(line); err != nil {
			b.Fatal(err)
		}
	}
}
