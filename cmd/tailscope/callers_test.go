package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/nesting/worlds"
)

// statedLog writes the log of a world whose lines name their callers under a key, as the
// text that name makes of the caller's.
func statedLog(t *testing.T, world, form, key string, requests int, seed uint64, name func(hop, caller string) string) string {
	t.Helper()
	kinds := worlds.Kinds()
	w := slices.IndexFunc(kinds, func(w worlds.World) bool { return w.Name == world })
	f := slices.IndexFunc(worlds.Forms, func(f worlds.Form) bool { return f.Name == form })
	if w < 0 || f < 0 {
		t.Fatalf("no world %q of the form %q", world, form)
	}
	var b strings.Builder
	for _, l := range kinds[w].Log(requests, worlds.Forms[f], seed) {
		fmt.Fprintf(&b, `{"chain_id":"c%d","hop":%q,%q:%q,"start_us":%d,"duration_us":%d,"truncated":%v,"error":%v}`+"\n",
			l.Chain, l.Hop, key, name(l.Hop, l.Caller), l.Start/1000, l.Duration/1000, l.Cut, l.Failed)
	}
	return b.String()
}

func asItIs(_, caller string) string { return caller }

// statedPage is what the tests read of a report.
type statedPage struct {
	Owner struct {
		Owner   *string
		Verdict string
		Nesting struct {
			Callers *string
			Pairs   []struct {
				Caller, Callee, Verdict string
				Stated                  bool
			}
		}
	}
	Input struct{ Warnings []struct{ Code, Text string } }
}

func statedOwner(t *testing.T, log string, args ...string) (p statedPage) {
	t.Helper()
	if err := json.Unmarshal([]byte(must(t, log, append([]string{"owner", "--format", "json"}, args...)...)), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *statedPage) owner() string {
	if p.Owner.Owner == nil {
		return ""
	}
	return *p.Owner.Owner
}

func (p *statedPage) callers() string {
	if p.Owner.Nesting.Callers == nil {
		return ""
	}
	return *p.Owner.Nesting.Callers
}

func (p *statedPage) calls() string {
	var list []string
	for _, one := range p.Owner.Nesting.Pairs {
		if one.Verdict != "none" {
			list = append(list, one.Caller+">"+one.Callee+" "+one.Verdict)
		}
	}
	return strings.Join(list, ", ")
}

func TestTheOwnerIsFoundByStatedCallers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ world, form, key, owner, calls, says string }{
		{"nested three deep, the innermost slow", "exact", "caller", "c", "a>b call, b>c call, front>a call", "c: "},
		{"side by side, one of them calls", "whole ms", "upstream_service", "c", "a>c call, front>a call, front>b call", "c: "},
		{"one name, two callers in a row, the callee slow", "exact", "source", "db", "a>db call, b>db call, front>a call, front>b call", "db: "},
		{"retried below", "5 % of lines lost", "caller", "b", "a>b call, front>a call", "b: "},
		{"an audit after the end", "exact", "caller", "a", "front>a call, front>audit siblings", "a: "},
		{"no root, nested", "exact", "caller", "b", "a>b call", "b: "},
	} {
		p := statedOwner(t, statedLog(t, c.world, c.form, c.key, 400, 3, asItIs))
		if p.owner() != c.owner || p.calls() != c.calls || p.callers() != c.key || !strings.HasPrefix(p.Owner.Verdict, c.says) || !strings.HasSuffix(p.Owner.Verdict, "; what calls what is as "+c.key+" says") || len(p.Input.Warnings) > 0 {
			t.Errorf("%s: %q, %s, %s, %v", c.world, p.owner(), p.calls(), p.Owner.Verdict, p.Input.Warnings)
		}
	}
}

// Clocks that disagree do not make another hop the owner, and do not hide who calls whom.
func TestStatedCallersWithClocksThatDisagree(t *testing.T) {
	t.Parallel()
	for _, world := range []string{"nested three deep, the innermost slow", "side by side, one of them calls", "retried below", "in a row, the second slow"} {
		truth := map[string]string{"nested three deep, the innermost slow": "c", "side by side, one of them calls": "c", "retried below": "b", "in a row, the second slow": "b"}[world]
		for seed := range uint64(4) {
			p := statedOwner(t, statedLog(t, world, "clocks 50 ms apart", "caller", 400, seed, asItIs))
			if got := p.owner(); got != truth && (got != "" || !strings.Contains(p.Owner.Verdict, " calls ") && !strings.Contains(p.Owner.Verdict, "waits for")) {
				t.Errorf("%s, seed %d: %q, %s", world, seed, got, p.Owner.Verdict)
			}
			for _, one := range p.Owner.Nesting.Pairs {
				if !one.Stated {
					t.Errorf("%s, seed %d: %s>%s is %s by times", world, seed, one.Caller, one.Callee, one.Verdict)
				}
			}
		}
	}
}

func TestAColumnOfOtherThingsNamesNoCaller(t *testing.T) {
	t.Parallel()
	const world = "nested three deep, the innermost slow"
	below := map[string]string{"front": "a", "a": "b", "b": "c", "c": "-"}
	for _, c := range []struct {
		name, key string
		of        func(hop, caller string) string
		args      []string
		callers   string
		warns     string
	}{
		{"places in source files", "caller", func(hop, _ string) string { return "app/" + hop + ".go:12" }, nil, "", ""},
		{"regions", "source", func(_, _ string) string { return "eu-west-1" }, nil, "", ""},
		{"the hop itself", "source", func(hop, _ string) string { return hop }, nil, "", ""},
		{"one of three", "source", func(hop, caller string) string {
			return map[string]string{"a": "front", "b": "x", "c": "y", "front": "-"}[hop]
		}, nil, "", `"source" is not taken for the hop that made the call: of 3 different values 1 is a name of hops`},
		{"half", "source", func(hop, caller string) string {
			return map[string]string{"a": "front", "b": "x", "c": "x", "front": "-"}[hop]
		}, nil, "source", ""},
		{"regions, and the user says so", "source", func(_, _ string) string { return "eu-west-1" }, []string{"--field", "caller=source"}, "", `"source" is not taken for the hop that made the call: of 1 value 0 are names of hops`},
		{"the hop itself, and the user says so", "of", func(hop, _ string) string { return hop }, []string{"--field", "caller=of"}, "", `"of" is not taken for the hop that made the call: no line names another hop there`},
		{"what is called", "upstream_service", func(hop, _ string) string { return below[hop] }, nil, "", `"upstream_service" is not taken for the hop that made the call: most of the hops that it names run inside those whose lines name them; --field caller=upstream_service takes it all the same`},
		{"another key", "by", asItIs, []string{"--field", "caller=by"}, "by", ""},
	} {
		p := statedOwner(t, statedLog(t, world, "exact", c.key, 400, 3, c.of), c.args...)
		var warnings []string
		for _, w := range p.Input.Warnings {
			if w.Code == "callers_not_used" {
				warnings = append(warnings, w.Text)
			}
		}
		if p.owner() != "c" || p.callers() != c.callers || strings.Join(warnings, "\n") != c.warns {
			t.Errorf("%s: owner %q, callers %q, %q", c.name, p.owner(), p.callers(), warnings)
		}
	}
}

// What a column says that the user named counts, and where it cannot be, that is said.
func TestANamedColumnOfCalleesLeavesNoOwner(t *testing.T) {
	t.Parallel()
	below := map[string]string{"front": "a", "a": "b", "b": "c"}
	log := statedLog(t, "nested three deep, the innermost slow", "exact", "to", 400, 3, func(hop, _ string) string { return below[hop] })
	p := statedOwner(t, log, "--field", "caller=to")
	const want = "no owner: a calls front, but only 0 of 400 attempts of front lie in a caller: clocks disagree, lines are stamped late, or another hop calls it; what calls what is as to says"
	if p.owner() != "" || p.Owner.Verdict != want {
		t.Errorf("%q, %s", p.owner(), p.Owner.Verdict)
	}
}

func TestStatedCallersDoNotDependOnHowTheInputComes(t *testing.T) {
	t.Parallel()
	log := statedLog(t, "one name, two callers side by side", "whole ms", "caller", 3000, 5, asItIs)
	lines := strings.SplitAfter(log, "\n")
	slices.Reverse(lines)
	want := statedOwner(t, log)
	for name, p := range map[string]statedPage{
		"one worker": statedOwner(t, log, "--jobs", "1"), "three workers": statedOwner(t, log, "--jobs", "3"),
		"backwards": statedOwner(t, strings.Join(lines, "")), "little memory": statedOwner(t, log, "--memory", "64KiB"),
	} {
		if fmt.Sprint(p.Owner.Verdict, p.calls(), p.callers()) != fmt.Sprint(want.Owner.Verdict, want.calls(), want.callers()) {
			t.Errorf("%s: %s, %s, want %s, %s", name, p.Owner.Verdict, p.calls(), want.Owner.Verdict, want.calls())
		}
	}
}

// --infer-nesting places lines by the same callers.
func TestInferredTracesFollowStatedCallers(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 40 { // too few votes to tell by times; the callee outlives a caller that was cut
		at := 1790000000000 + 1000*i
		for _, l := range []string{`"hop":"front","start_ms":%d,"duration_ms":500,"truncated":false`, `"hop":"a","caller":"front","start_ms":%d,"duration_ms":100,"truncated":true`, `"hop":"b","caller":"a","start_ms":%d,"duration_ms":300,"truncated":false`} {
			fmt.Fprintf(&b, `{"chain_id":"c%d",`+l+"}\n", i, at)
			at++
		}
	}
	var page struct{ Orphans struct{ Orphaned int } }
	if err := json.Unmarshal([]byte(must(t, b.String(), "orphans", "--format", "json", "--infer-nesting")), &page); err != nil || page.Orphans.Orphaned != 40 {
		t.Errorf("%v, %d orphans", err, page.Orphans.Orphaned)
	}
}
