package wrap

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/ingest/format"
)

// same fails the test where got is not want.
func same[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// accepts takes lines of which each is an object with a hop.
func accepts(lines []byte, _ bool) bool {
	for line := range bytes.Lines(lines) {
		if !bytes.HasPrefix(line, []byte(`{"hop":`)) {
			return false
		}
	}
	return true
}

func TestWrappersHaveNames(t *testing.T) {
	for in, want := range map[string]string{
		`[pod/a/b] {"hop":1}`: "kubectl --prefix", `<14>1 - h a - - - {"hop":1}`: "syslog", `2024-05-01T10:00:00Z app[web.1]: {"hop":1}`: "heroku", `0|api  | {"hop":1}`: "pm2", `api-1  | {"hop":1}`: "docker compose",
		`INFO {"hop":1}`: "text before the object", "\x1b[32m{\"hop\":1}\x1b[0m": "terminal colours", `2024-05-01T10:00:00Z stdout F {"hop":1}`: "CRI", `2024-05-01T10:00:00Z stdout F INFO {"hop":1}`: "CRI, text before the object",
		`{"log":"{\"hop\":1}\n","stream":"stdout","time":"2024-05-01T10:00:00Z"}`: "docker's json-file", `{"anything":"{\"hop\":1}"}`: "JSON in anything", `{"a":{"b":"{\"hop\":1}"}}`: "JSON in a.b",
		`[{"hop":1},{"hop":2}]`: "array", "{\"hop\":1}{\"hop\":2}": "objects of several lines, or several on one", `{"x":[{"y":[{"hop":1}]}]}`: "array x.y",
	} {
		if plan := Find([]byte(in+"\n"), accepts); plan == nil || plan.Name() != want {
			t.Errorf("%s: %+v, want %s", in, plan, want)
		}
	}
	for _, in := range []string{"", "text", `{"request":{"hop":1}}`, `{"log":"no object"}`, `[1,2]`, `x {"hop":1} y`, `["{\"hop\":1}"]`} {
		if plan := Find([]byte(in+"\n"), accepts); plan != nil {
			t.Errorf("%s: %s", in, plan.Name())
		}
	}
}

func TestDocumentsAreToldFromLines(t *testing.T) {
	for in, want := range map[string]bool{
		"[\n{\"a\":1}\n]": true, `[{"a":1}]`: true, "[[1]]": true, "{\n\"a\": 1\n}": true, `{"a":1}{"a":2}`: true, `{"a":1}, {"a":2}`: true, "\ufeff [ {": true,
		"{\"a\":1}\n{\"a\":2}\n": false, "[pod/x] {\"a\":1}": false, "": false, "text": false, "{\"a\": \n{\"a\":2}\n": false, `{"a":1}`: false, "[1,2]": false,
	} {
		same(t, in, IsDocument([]byte(in)), want)
	}
}

// A chunk ends where no record goes on, whichever stream its parts are of.
func TestChunksDoNotEndInsideARecordOfSeveralLines(t *testing.T) {
	cri, docker := layer{partial: partialCRI}, layer{partial: partialDocker}
	p := func(stream, tag, text string) string {
		return "2024-05-01T10:00:00Z " + stream + " " + tag + " " + text + "\n"
	}
	d := func(stream, text string) string {
		return `{"log":"` + text + `","stream":"` + stream + `","time":"2024-05-01T10:00:00Z"}` + "\n"
	}
	whole := p("stdout", "F", "{}")
	for in, want := range map[string]int{
		whole + whole: 2 * len(whole), whole + p("stdout", "P", "{"): len(whole), whole + p("stdout", "P", "text"): len(whole + p("stdout", "P", "text")),
		p("stdout", "P", "{") + whole: len(p("stdout", "P", "{") + whole), whole + p("stdout", "P", "{") + p("stderr", "F", "{}"): len(whole), "{": 0,
	} {
		same(t, in, cri.wholeRecords([]byte(in)), want)
	}
	for in, want := range map[string]int{
		d("stdout", `{}\n`) + d("stdout", `{\"a`): len(d("stdout", `{}\n`)), d("stdout", `{\"a`) + d("stdout", `\":1}\n`): len(d("stdout", `{\"a`) + d("stdout", `\":1}\n`)),
		d("stdout", `no newline`): len(d("stdout", `no newline`)), d("stdout", `{}`): len(d("stdout", `{}`)),
	} {
		same(t, in, docker.wholeRecords([]byte(in)), want)
	}
}

func TestTimesAreFoundInTextBeforeAnObject(t *testing.T) {
	for in, want := range map[string]string{
		"2024-05-01T10:00:00Z stream ": "2024-05-01T10:00:00Z", "[2024-05-01 10:00:00,123] INFO ": "2024-05-01 10:00:00,123", "api | 2024/05/01 10:00:00 ": "2024/05/01 10:00:00", "1714557600.5 x ": "1714557600.5",
		"INFO [main] ": "", "May  1 10:00:00 host ": "", "10.0.0.1:8080 - ": "", "": "", strings.Repeat("word ", 9) + "2024-05-01T10:00:00Z": "",
	} {
		same(t, in, string(timeIn([]byte(in))), want)
	}
}

func TestColoursAreTakenOut(t *testing.T) {
	same(t, "colours", string(uncolored([]byte("\x1b[1;31ma\x1b[0mb\x1b[K\x1b"))), "ab")
}

// Whatever a chunk holds, its records stand in it one behind the other.
func FuzzUnwrappingKeepsTheOrder(f *testing.F) {
	plans := []*Plan{{layers: []layer{{peel: peelText}}, Timed: true}, {layers: []layer{{peel: peelCRI, partial: partialCRI}}}, {layers: []layer{newMember(memberKinds[0].name, "log"), {peel: peelText}}, Timed: true},
		{layers: []layer{{peel: peelArrayLine}}}, {isDoc: true}, {layers: []layer{{peel: peelPair}}}, {layers: []layer{{peel: peelInsights}}}, {layers: []layer{{peel: peelRust}}}}
	for i, in := range []string{"x {\"a\":1}\n", "2024-05-01T10:00:00Z stdout P {\"a\n", `{"log":"{\"a\":1}{\"b\":2}\n"}`, "[{\"a\":1},\n", "{}, {\n}{", `["1714557600","{}"]`, `[{"field":"@message","value":"{}"}]`, `{"fields":{"time.busy":"1ms","time.idle":"1s"},"span":{"name":"a"}}`} {
		f.Add(in, uint8(i))
	}
	f.Fuzz(func(t *testing.T, in string, which uint8) {
		file := &format.File{MaxLine: 1 << 20}
		c := new(Unwrapper).Unwrap(&format.Chunk{File: file, Line: 1, Data: []byte(in), Open: !strings.HasSuffix(in, "\n")}, plans[int(which)%len(plans)])
		if n := strings.Count(string(c.Data), "\n"); len(c.Places) > n+1 {
			t.Errorf("%d places of %d lines", len(c.Places), n)
		}
		for i, p := range c.Places {
			if p.Offset < 0 || p.Offset > int64(len(in)) || i > 0 && p.From <= c.Places[i-1].From {
				t.Errorf("place %d: %+v", i, p)
			}
		}
		_ = proposePaths([]byte(in))
		_ = Find([]byte(in), func([]byte, bool) bool { return false })
	})
}
