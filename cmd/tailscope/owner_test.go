package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ownerPage is what the tests read of the owner's section.
type ownerPage struct {
	Basis    *string
	Tail     int `json:"tail_traces"`
	Body     int `json:"body_traces"`
	EndToEnd struct {
		N         int
		Quantiles []struct {
			P     string
			Value int64 `json:"value_ns"`
		}
		SumOfP99 int64 `json:"sum_of_hops_p99_ns"`
	} `json:"end_to_end"`
	Hops []struct {
		Hop        string
		TailMean   int64 `json:"tail_mean_ns"`
		Share      *float64
		Lower      *float64 `json:"share_lower"`
		LargestIn  int      `json:"largest_in"`
		LowerBound bool     `json:"lower_bound"`
	}
	Owner    *string
	Verdict  string
	Failures struct {
		N       int
		ByHop   []hopCount `json:"by_hop"`
		Verdict string
		AnyCut  struct {
			N       int
			ByHop   []hopCount `json:"by_hop"`
			Verdict string
		} `json:"any_cut"`
	}
}

type hopCount struct {
	Hop string
	N   int
}

func ownerOf(t *testing.T, stdin string, args ...string) ownerPage {
	t.Helper()
	var page struct{ Owner ownerPage }
	if err := json.Unmarshal([]byte(must(t, stdin, append([]string{"owner", "--format", "json"}, args...)...)), &page); err != nil {
		t.Fatal(err)
	}
	return page.Owner
}

// summary writes the figures of a page that were counted by another program.
func (p ownerPage) summary() string {
	owner := "nobody"
	for _, h := range p.Hops {
		if p.Owner != nil && h.Hop == *p.Owner {
			owner = fmt.Sprintf("%s %.1f %% in %d of %d, lower bound %v", h.Hop, 100**h.Share, h.LargestIn, p.Tail, h.LowerBound)
		}
	}
	return fmt.Sprintf("%s; body %d; fails %d %v %s; any cut %d %v %s", owner, p.Body,
		p.Failures.N, p.Failures.ByHop, p.Failures.Verdict, p.Failures.AnyCut.N, p.Failures.AnyCut.ByHop, p.Failures.AnyCut.Verdict)
}

func TestTheOwnerOfTheChain(t *testing.T) {
	t.Parallel()
	want := "stock GET / 94.3 % in 76 of 76, lower bound true; body 750; fails 7 [{orders call stock 6} {gateway call orders 1}] too_few; any cut 72 [{orders call stock 68} {gateway call orders 4}] one_hop"
	for _, file := range []string{jaegerRaw, jaegerAdjusted, jaegerV3} {
		if got := ownerOf(t, "", file).summary(); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
	want = "stock 94.4 % in 76 of 76, lower bound true; body 750; fails 7 [{stock 6} {orders 1}] too_few; any cut 72 [{stock 68} {orders 4}] one_hop"
	for _, args := range [][]string{{chain}, {"--infer-nesting", chain}} {
		if got := ownerOf(t, "", args...).summary(); got != want {
			t.Errorf("%v: %s, want %s", args, got, want)
		}
	}
}

// The order of lines, the workers and the split into files change nothing.
func TestTheOwnerDoesNotDependOnHowTheInputComes(t *testing.T) {
	t.Parallel()
	lines := slices.Collect(strings.Lines(string(chainLines(t))))
	want := ownerOf(t, strings.Join(lines, ""), "-j", "1", "-")
	folder := scattered(t, lines)
	for _, args := range [][]string{{"-j", "3", folder}, {"-j", "2", "--memory", "64KiB", folder}} {
		if d := cmp.Diff(want, ownerOf(t, "", args...)); d != "" {
			t.Errorf("%v: %s", args, d)
		}
	}
}

// steps are 100 requests of A, then B: 10 ms each, but 200 ms in two of them, for
// B in the same ones or in others.
func steps(timed, coincide bool) string {
	var b strings.Builder
	line := func(i int, hop string, start, took int) {
		fmt.Fprintf(&b, `{"chain_id":"r-%d","hop":"%s","duration_ms":%d`, i, hop, took)
		if timed {
			fmt.Fprintf(&b, `,"start":"2026-11-29T18:%02d:%02d.%03dZ"`, i/60, i%60, start)
		}
		b.WriteString("}\n")
	}
	for i := range 100 {
		a, c := 10, 10
		if i < 2 {
			a = 200
		}
		if slow := i; coincide && slow < 2 || !coincide && slow >= 98 {
			c = 200
		}
		line(i, "A", 0, a)
		line(i, "B", a, c)
	}
	return b.String()
}

func TestEndToEndQuantilesAreMeasuredNotAdded(t *testing.T) {
	t.Parallel()
	for _, timed := range []bool{false, true} {
		for coincide, want := range map[bool]int64{false: 210e6, true: 400e6} {
			p := ownerOf(t, steps(timed, coincide), "--quantiles", "0.99,1", "-")
			if p.EndToEnd.Quantiles[0].Value != want || p.EndToEnd.Quantiles[1].Value != want || p.EndToEnd.SumOfP99 != 400e6 {
				t.Errorf("timed %v, coincide %v: %+v, want %d", timed, coincide, p.EndToEnd, want)
			}
		}
	}
}

// CRISP's own files, with the critical path worked out by hand: attribution's
// tests say how.
func TestCRISPsCases(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"1": "[S1 O1 100]", "2": "[S1 O1 50 S2 O2 50]", "4": "[S1 O1 50 S2 O2 40 S3 O3 10]", "5": "[S1 O1 40 S2 O2 60]",
		"10": "[S1 O1 402 S2 O2 199 S3 O3 99 S4 O4 300]", "11": "[S1 O1 70 S2 O2 30]",
		"13": "[S1 O1 40 S2 O2 35 S3 O3 5 S4 O4 20]", "14": "[S1 O1 25 S2 O2 10 S3 O3 20 S4 O4 25]",
	} {
		file := filepath.Join("../../../shared/corpus/uber-research+CRISP/test_cases", name+".json")
		if _, err := os.Stat(file); err != nil {
			t.Skip("the corpus of public files is not here")
		}
		var got []string
		for _, h := range ownerOf(t, "", file).Hops {
			got = append(got, fmt.Sprint(h.Hop, " ", h.TailMean/us))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("case %s: %v, want %s", name, got, want)
		}
	}
}
