package ingest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/ingest/outcome"
)

// ruled is a record of testdata/marks and how it ends: in a hop log, and as the tags of
// a span of a client or of a server, where that is not the same. "?": nothing says so.
type ruled struct {
	Want, Client, Server string
	Match                bool // with --match-messages
	Record               map[string]json.RawMessage
}

func ruledBy(t *testing.T, rule string) (list []ruled) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "marks", rule+".ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var r ruled
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", s.Text(), err)
		}
		list = append(list, r)
	}
	return list
}

// ruleFixtures are the rules that have one.
func ruleFixtures(t *testing.T) (rules []string) {
	t.Helper()
	files, err := filepath.Glob("testdata/marks/*.ndjson")
	if err != nil || len(files) == 0 {
		t.Fatal("no fixtures", err)
	}
	for _, f := range files {
		rules = append(rules, strings.TrimSuffix(filepath.Base(f), ".ndjson"))
	}
	return rules
}

// asLine writes the record as a line of a hop log.
func (r ruled) asLine() string {
	line := `{"hop":"x","duration_ms":1`
	for key, value := range r.Record {
		line += fmt.Sprintf(`,%q:%s`, key, value)
	}
	return line + "}"
}

// asSpan writes the record as the tags of a span.
func (r ruled) asSpan(kind string) string {
	tags := `{"key":"span.kind","value":"` + kind + `"}`
	for key, value := range r.Record {
		tags += fmt.Sprintf(`,{"key":%q,"value":%s}`, key, value)
	}
	return withField(`"tags":[` + tags + `]`)
}

// TestEveryRuleHasItsFixtures reads each record as a line and as tags of spans.
func TestEveryRuleHasItsFixtures(t *testing.T) {
	t.Parallel()
	for _, rule := range ruleFixtures(t) {
		for _, r := range ruledBy(t, rule) {
			config := outcome.Config{MatchMessages: r.Match}
			line := r.asLine()
			want, unmarked := strings.CutSuffix(r.Want, "?")
			got := one(t, how{rules: config}, line)
			same(t, rule+": "+line, []any{got.End, got.Marked}, []any{want, !unmarked})
			r.isOff(t, rule, line, config)
			for kind, want := range map[string]string{"client": r.Client, "server": r.Server} {
				if want == "" {
					want = strings.TrimSuffix(r.Want, "?")
				}
				got := oneSpan(t, traceHow{rules: config}, r.asSpan(kind)).End
				if got == "" {
					got = "completed"
				}
				same(t, rule+" as "+kind+": "+line, got, want)
			}
		}
	}
}

// isOff sees to it that a rule that is switched off cuts nothing.
func (r ruled) isOff(t *testing.T, rule, line string, config outcome.Config) {
	t.Helper()
	if !strings.HasPrefix(r.Want, "truncated") {
		return
	}
	config.Not = []string{rule}
	if got := one(t, how{rules: config}, line).End; got == r.Want && !strings.Contains(line, "504") && !strings.Contains(line, `"error":"request timeout"`) {
		t.Errorf("%s: %s without %s too", line, got, rule)
	}
}

// TestTheTableOfRulesIsThatOfTheFixtures compares docs/formats.md with both.
func TestTheTableOfRulesIsThatOfTheFixtures(t *testing.T) {
	page, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\| [a-zA-Z]").FindAllSubmatch(page, -1) {
		if name := string(m[1]); slices.ContainsFunc(outcome.Rules[:], func(r outcome.Rule) bool { return r.Name == name }) {
			documented = append(documented, name)
		}
	}
	slices.Sort(documented)
	same(t, "rows of docs/formats.md", documented, ruleFixtures(t))
}

// The public inputs of testdata/found, with what is right of them.
func TestFoundInputsEndAsTheyShould(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		how  how
		want []string
	}{
		{"p01-istio-access", how{unit: "ms"}, []string{"completed", "truncated below", "truncated below", "failed unavailable", "truncated caller", "completed"}},
		{"p01-envoy-ut-200", how{unit: "ms"}, []string{"truncated own", "completed"}},
		{"p01-envoy-urx-ut", how{unit: "ms"}, []string{"truncated own", "truncated own"}},
		{"p01-flags-matrix", how{}, []string{"truncated caller", "truncated caller", "completed", "truncated caller", "truncated caller", "truncated caller", "truncated caller", "truncated own",
			"failed unavailable", "failed unavailable", "failed unavailable", "truncated own", "truncated caller", "truncated caller"}},
		{"p04-status-with-reason", how{}, []string{"completed", "completed", "truncated below", "failed client_error"}},
		{"p09-vegeta", how{unit: "ns", preset: NoPreset}, []string{"completed", "failed unknown", "failed unknown", "truncated below", "failed unknown"}},
		{"p09-vegeta", how{unit: "ns", preset: NoPreset, rules: outcome.Config{MatchMessages: true}}, []string{"completed", "truncated own", "truncated own", "truncated below", "failed unknown"}},
		{"p18-traefik", how{unit: "ns"}, []string{"completed", "truncated caller", "truncated below"}},
		{"p21-clickhouse-otel", how{fields: []string{"hop=SpanName", "trace=TraceId", "duration=Duration:ns", "start=Timestamp"}}, []string{"completed", "completed", "completed", "completed", "truncated below"}},
		{"p23-gcp", how{fields: []string{"hop=resource.labels.service_name", "duration=httpRequest.latency"}}, []string{"completed", "truncated below"}},
		{"p23-caddy", how{fields: []string{"hop=request.host", "duration=duration:s"}}, []string{"completed", "truncated below", "truncated caller", "truncated caller"}},
		{"p23-ecs", how{fields: []string{"hop=service.name", "duration=event.duration:ns"}}, []string{"completed", "truncated below"}},
	} {
		d := decode(t, c.how, fixture(t, "found/"+c.name+".ndjson"))
		same(t, c.name, pick(d.rows, func(a attempt) string { return a.End }), c.want)
	}
	words := decode(t, how{}, fixture(t, "found/p04-status-words.ndjson"))
	for _, a := range words.rows[:20] {
		if a.Hop != "504 Gateway Timeout" && a.End != "completed" {
			t.Errorf("%s: %s", a.Hop, a.End)
		}
	}
}
