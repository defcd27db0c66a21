package ingest

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/ingest/preset"
)

// TestLogsOfKnownToolsNeedNoFlags has a log of every preset, as the tool writes it.
func TestLogsOfKnownToolsNeedNoFlags(t *testing.T) {
	want := map[string][]string{
		"envoy": {
			"outbound|9080||reviews.default.svc.cluster.local 12ms completed", "outbound|9080||reviews.default.svc.cluster.local 15.001s truncated below",
			"outbound|9080||reviews.default.svc.cluster.local 15.002s truncated below", "outbound|9080||reviews.default.svc.cluster.local 9ms failed unavailable",
			"outbound|9080||reviews.default.svc.cluster.local 450ms truncated caller", "outbound|9080||reviews.default.svc.cluster.local 11ms completed",
		},
		"traefik":      {"shop@file 5.80017ms completed", "shop@file 1.80017s truncated caller", "shop@file 30.00017s truncated below"},
		"caddy":        {"example.com 250ms completed", "example.com 30.0012s truncated below", "example.com 900ms truncated caller", "example.com 400ms truncated caller"},
		"nginx":        {"shop 12ms completed", "shop 1m0.001s truncated below", "shop 1.5s truncated caller", "shop 100ms failed unavailable"},
		"gcp":          {"shop 103.412ms completed", "shop 5m0.000123s truncated below"},
		"elastic-apm":  {"shop GET /cart 120.5ms completed", "shop GET /cart 30s truncated below", "shop GET stock 29.99s failed unknown"},
		"ecs":          {"shop 103.412ms completed", "shop 5.000123s truncated below"},
		"honeycomb":    {"shop cart 12.5ms completed", "shop cart 2.00025s truncated below", "shop stock 1.999s truncated own"},
		"datadog":      {"shop GET /cart 12.5ms completed", "shop GET /cart 5.0001s truncated below", "shop GET stock 4.999s failed unavailable"},
		"datadog-logs": {"shop 12.5ms completed", "shop 5s truncated below"},
		"cloudflare":   {"shop.example.com 12.5ms completed", "shop.example.com 1m40.1s truncated own", "shop.example.com 900ms truncated caller"},
		"pino":         {"shop 12ms completed", "shop 30.001s truncated below"},
		"k6":           {"http://svc/a 12.5ms completed", "http://svc/a 1m0.0008s truncated own"},
		"k6-csv":       {"http://svc/a 12.5ms completed", "http://svc/a 1m0.0008s truncated own"},
		"vegeta": {
			"http://svc/x 120.728573ms completed", "http://svc/x 3.000278573s truncated own", "http://svc/x 5.427249524s truncated own",
			"http://svc/x 2.000278573s truncated below", "http://svc/x 2.000278573s failed unknown",
		},
	}
	for _, p := range preset.Table {
		files, err := filepath.Glob(filepath.Join("testdata", "preset", p.Name+".*"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no log of %s: %v", p.Name, err)
		}
		for _, file := range files {
			d := decodeSource(t, how{}, Source{Path: file, Named: true})
			if d.err != nil {
				t.Errorf("%s: %v", file, d.err)
				continue
			}
			same(t, file, endings(d.rows), want[p.Name])
			same(t, file+": preset", string(d.summary.Files[0].Preset), p.Name)
		}
	}
}

func endings(rows []attempt) (list []string) {
	for _, r := range rows {
		list = append(list, fmt.Sprintf("%s %s %s", r.Hop, r.Duration, r.End))
	}
	return list
}

// TestAPresetGivesWayToFlags: a role that a flag names is read as the flag says.
func TestAPresetGivesWayToFlags(t *testing.T) {
	log, err := os.ReadFile(filepath.Join("testdata", "preset", "traefik.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	first := func(h how) string {
		d := decode(t, h, string(log))
		if d.err != nil {
			return d.err.Error()
		}
		return endings(d.rows)[0]
	}
	for _, c := range []struct {
		how  how
		want string
	}{
		{how{fields: []string{"hop=RouterName"}}, "r@file 5.80017ms completed"},
		{how{fields: []string{"duration=OriginDuration:us"}}, "shop@file 1.069315s completed"},
		{how{fields: []string{"hop==edge"}}, "edge 5.80017ms completed"},
		{how{unit: "us"}, "shop@file 5.80017s completed"},
		{how{preset: "traefik"}, "shop@file 5.80017ms completed"},
		{how{preset: NoPreset, unit: "ns", fields: []string{"hop=ClientAddr"}}, "192.0.2.7:55842 5.80017ms completed"},
	} {
		same(t, fmt.Sprint(c.how.fields, c.how.unit, c.how.preset), first(c.how), c.want)
	}
	// A log that only shares some keys with a tool's is none of it.
	d := decode(t, how{}, `{"hop":"a","duration_ms":5,"response_flags":"UT"}`+"\n")
	same(t, "preset", string(d.summary.Files[0].Preset), "")
}

// TestPresetsSayWhatCanBeRead: every row can be made into settings and has keys that tell it.
func TestPresetsSayWhatCanBeRead(t *testing.T) {
	s := how{}.config(t).Fields
	for _, p := range preset.Table {
		if s.ByPreset(p.Name) == nil {
			t.Errorf("%s cannot be used", p.Name)
		}
		if len(p.Keys) < 2 || p.Of == "" {
			t.Errorf("%s has too few keys, or no text", p.Name)
		}
	}
	if s.ByPreset("unknown") != nil {
		t.Error("an unknown preset is found")
	}
}

// TestTheDocumentationListsThePresets with the very words and keys of the table.
func TestTheDocumentationListsThePresets(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "formats.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range preset.Table {
		keys := make([]string, len(p.Keys))
		for i, any := range p.Keys {
			keys[i] = "`" + strings.ReplaceAll(any, "|", "` or `") + "`"
		}
		if row := fmt.Sprintf("| `%s` | %s | %s |", p.Name, p.Of, strings.Join(keys, ", ")); !strings.Contains(string(text), row) {
			t.Errorf("docs/formats.md has no row %s", row)
		}
	}
}

func TestTheHopMayBeAConstantOrTheFile(t *testing.T) {
	for _, c := range []struct{ path, in, field, want string }{
		{"logs/orders.ndjson.gz", `{"duration_ms":5,"truncated":false}`, "hop=file", "orders 5ms completed"},
		{"orders", `{"duration_ms":5,"truncated":false,"file":"main.go"}`, "hop=file", "main.go 5ms completed"},
		{"-", `{"duration_ms":5,"truncated":false}`, "hop=file", "stdin 5ms completed"},
		{"x.ndjson", `{"duration_ms":5,"truncated":false}`, "hop==the db", "the db 5ms completed"},
		{"x.ndjson", `{"hop":"a","duration_ms":5,"truncated":false}`, "hop==db", "db 5ms completed"},
		{"x.csv", "duration_ms,truncated\n5,false\n", "hop==db", "db 5ms completed"},
		{"x.2024.csv", "duration_ms,truncated\n5,false\n", "hop=file", "x.2024 5ms completed"},
	} {
		// Many lines, so that the fast path reads some.
		body := c.in
		for range 50 {
			body += "\n" + lastLine(c.in)
		}
		d := decodeSource(t, how{fields: []string{c.field}}, Source{Path: c.path, Stdin: textReader(body + "\n")})
		if d.err != nil {
			t.Fatalf("%s: %v", c.field, d.err)
		}
		same(t, c.path, len(d.rows), 51)
		for _, got := range endings(d.rows) {
			same(t, c.path+" "+c.field, got, c.want)
		}
	}
}

func lastLine(s string) string {
	s = strings.TrimRight(s, "\n")
	return s[strings.LastIndexByte(s, '\n')+1:]
}

func textReader(s string) io.Reader { return strings.NewReader(s) }
