package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	mesh     = "../../testdata/mesh/jaeger-raw.json.gz"
	meshHops = "../../testdata/mesh/hops.ndjson.gz"
)

// drawn is a page from the headline of the request on.
func drawn(t *testing.T, args ...string) string {
	t.Helper()
	page := must(t, "", append([]string{"trace"}, args...)...)
	at := strings.Index("\n"+page, "\ntrace ")
	if at < 0 {
		t.Fatalf("no headline in\n%s", page)
	}
	return page[at:]
}

// golden compares a text with a file, or writes it anew.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestTheWorstRequestsOfTheGoldenInputs(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"trace-mesh.txt":       {"worst", mesh},
		"trace-mesh-price.txt": {"worst", "--of", "search → price", mesh},
		"trace-mesh-hops.txt":  {"worst", meshHops},
		"trace-chain.txt":      {"worst", jaegerRaw},
		"trace-chain-hops.txt": {"worst", chain},
		"trace-three-hops.txt": {"worst", threeHops},
		"trace-seed.txt":       {"worst", seed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, drawn(t, args...))
		})
	}
}

// requestInJSON is what these tests read of a drawn request.
type requestInJSON struct {
	Trace struct {
		Trace, Outcome string
		Why            string
		EndToEnd       int64 `json:"end_to_end_ns"`
		Spans          []struct {
			Span, Parent, Hop, Kind, Outcome string
			Offset                           *int64 `json:"offset_ns"`
			Duration                         *int64 `json:"duration_ns"`
			Wait                             *int64 `json:"wait_ns"`
			Orphan                           *struct {
				Kind   string
				Wasted int64 `json:"wasted_ns"`
			}
		}
	}
}

func requestOf(t *testing.T, args ...string) (r requestInJSON) {
	t.Helper()
	if err := json.Unmarshal([]byte(must(t, "", append([]string{"trace", "--format", "json"}, args...)...)), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestTheWorstTraceIsTheLongestOfTheOwner compares with the end-to-end time of analyze.
func TestTheWorstRequestTookWhatAnalyzeSays(t *testing.T) {
	t.Parallel()
	var whole struct {
		Owner struct {
			EndToEnd struct {
				N int
			} `json:"end_to_end"`
		}
		Orphans struct{ Items []struct{ Trace string } }
	}
	if err := json.Unmarshal([]byte(must(t, "", "analyze", "--format", "json", mesh)), &whole); err != nil {
		t.Fatal(err)
	}
	r := requestOf(t, "worst", mesh)
	if want := "of 1200 requests"; whole.Owner.EndToEnd.N != 1200 || !strings.Contains(r.Trace.Why, want) {
		t.Errorf("%d requests, %q", whole.Owner.EndToEnd.N, r.Trace.Why)
	}
	// The worst orphan is in its own trace, as long as the page of orphans has it.
	id := whole.Orphans.Items[0].Trace
	orphaned := 0
	for _, s := range requestOf(t, id, mesh).Trace.Spans {
		if s.Orphan != nil {
			orphaned++
		}
	}
	if orphaned == 0 {
		t.Errorf("trace %s has no orphan", id)
	}
}

func TestAJaegerFileOfARequestTellsTheSame(t *testing.T) {
	t.Parallel()
	for _, input := range []string{mesh, jaegerRaw} {
		file := filepath.Join(t.TempDir(), "trace.json")
		must(t, "", "trace", "worst", "--format", "jaeger", "-o", file, input)
		want, got := requestOf(t, "worst", input), requestOf(t, "worst", file)
		want.Trace.Why, got.Trace.Why = "", ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-original +file):\n%s", input, diff)
		}
	}
}

// TestTheJobsDoNotMatterForARequest: which worker saw what makes no difference.
func TestTheJobsDoNotMatterForARequest(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"worst", mesh}, {"worst", meshHops}, {"worst", "--of", "price", mesh}, {"b4e4e", jaegerRaw}} {
		one, four := must(t, "", append([]string{"trace", "--format", "json", "-j", "1"}, args...)...), must(t, "", append([]string{"trace", "--format", "json", "-j", "4", "--memory", "64KiB"}, args...)...)
		if one != four {
			t.Errorf("%v: not the same for 1 and 4 jobs", args)
		}
	}
}
