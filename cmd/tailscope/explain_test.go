package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIsKnownOfHopsOfTheGoldenInputs(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"explain-mesh.txt":       {"search → catalog", mesh},
		"explain-chain.txt":      {"stock", jaegerRaw},
		"explain-chain-hops.txt": {"orders", chain},
		"explain-three-hops.txt": {"retrieve", threeHops},
		"explain-seed.txt":       {"generate", seed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := must(t, "", append([]string{"explain"}, args...)...)
			at := strings.Index(page, "first attempts timed out.\n")
			if at < 0 {
				t.Fatalf("no headline in\n%s", page)
			}
			golden(t, name, page[strings.LastIndex(page[:at], "\n")+1:])
		})
	}
}

// TestWhatIsExplainedIsWhatTheReportHas compares each part with the document of analyze.
func TestWhatIsExplainedIsWhatTheReportHas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, hop, kind string }{
		{mesh, "search call catalog", "client"}, {mesh, "gateway GET /", "server"}, {jaegerRaw, "orders call stock", "client"}, {meshHops, "catalog", ""}, {chain, "orders", ""}, {seed, "generate", ""}, {threeHops, "retrieve", ""},
	} {
		written := c.hop
		if c.kind != "" {
			written += " (" + c.kind + ")"
		}
		var whole struct {
			Hops                     []json.RawMessage
			Owner, Retries, Timeouts struct{ Hops []json.RawMessage }
			Orphans                  struct{ Pairs []json.RawMessage }
			Findings                 []json.RawMessage
		}
		var one struct {
			Explain struct {
				Attempts, Retries, Timeouts json.RawMessage
				Owner                       []json.RawMessage
				Orphans                     struct{ Pairs []json.RawMessage }
				Findings                    []json.RawMessage
			}
		}
		decode(t, must(t, "", "analyze", "--format", "json", c.file), &whole)
		decode(t, must(t, "", "explain", "--format", "json", written, c.file), &one)
		e := one.Explain
		same(t, c.hop+" attempts", rowOf(t, whole.Hops, c.hop, c.kind), e.Attempts)
		same(t, c.hop+" retries", rowOf(t, whole.Retries.Hops, c.hop, c.kind), e.Retries)
		same(t, c.hop+" timeouts", rowOf(t, whole.Timeouts.Hops, c.hop, c.kind), e.Timeouts)
		for _, row := range e.Owner {
			if !contains(whole.Owner.Hops, row) {
				t.Errorf("%s: the owner's section has no %s", c.hop, row)
			}
		}
		for _, row := range e.Orphans.Pairs {
			if !contains(whole.Orphans.Pairs, row) {
				t.Errorf("%s: the section of orphans has no %s", c.hop, row)
			}
		}
		if c.kind == "client" && (len(e.Owner) < 2 || len(e.Orphans.Pairs) == 0 || len(e.Findings) == 0) {
			t.Errorf("%s: %d rows of the owner, %d pairs, %d findings", c.hop, len(e.Owner), len(e.Orphans.Pairs), len(e.Findings))
		}
	}
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

// rowOf is the row of a hop, nil where there is none.
func rowOf(t *testing.T, list []json.RawMessage, hop, kind string) json.RawMessage {
	for _, row := range list {
		var its struct{ Hop, Kind string }
		decode(t, string(row), &its)
		if its.Hop == hop && its.Kind == kind {
			return row
		}
	}
	return json.RawMessage("null")
}

func compact(row json.RawMessage) string {
	if row == nil {
		return "null"
	}
	var b bytes.Buffer
	_ = json.Compact(&b, row)
	return b.String()
}

func same(t *testing.T, what string, want, got json.RawMessage) {
	t.Helper()
	if diff := cmp.Diff(compact(want), compact(got)); diff != "" {
		t.Errorf("%s (-analyze +explain):\n%s", what, diff)
	}
}

func contains(list []json.RawMessage, row json.RawMessage) bool {
	for _, one := range list {
		if compact(one) == compact(row) {
			return true
		}
	}
	return false
}

func TestTheJobsDoNotMatterForAHop(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"catalog", mesh}, {"stock", chain}} {
		one, four := must(t, "", append([]string{"explain", "-j", "1"}, args...)...), must(t, "", append([]string{"explain", "-j", "4", "--memory", "64KiB"}, args...)...)
		if one != four {
			t.Errorf("%v: not the same for 1 and 4 jobs", args)
		}
	}
}
