package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// exponentialLog is a hop with a mean of 100 ms and a wall at 300: one in twenty
// is cut, and p99 is 460.5 ms.
func exponentialLog() []string {
	r := rand.New(rand.NewPCG(3, 4))
	var lines []string
	for range 3000 {
		v := 100 * r.ExpFloat64()
		lines = append(lines, fmt.Sprintf(`{"hop":"h","duration_ms":%.6f,"truncated":%t}`+"\n", math.Min(v, 300), v >= 300))
	}
	return lines
}

func TestAnEstimateStandsBesideItsCondition(t *testing.T) {
	t.Parallel()
	log := strings.Join(exponentialLog(), "")
	for _, command := range []string{"analyze", "quantiles"} {
		args := []string{command, "-v", "--timeout", "h=300ms", "--quantiles", "0.5,0.99"}
		page := must(t, log, args...)
		if !strings.Contains(page, "estimate ") || !strings.Contains(page, "if the tail goes on as below the timeout") {
			t.Errorf("%s", page)
		}
		if page := must(t, log, append(args, "--no-estimate")...); strings.Contains(page, "estimate") {
			t.Errorf("%s", page)
		}
		if doc := must(t, log, append(args, "--no-estimate", "--format", "json")...); strings.Count(doc, `"estimate": null`) != 2 {
			t.Errorf("%s", doc)
		}
	}
}

// The flag belongs to the commands that show the hop table.
func TestNoEstimateIsNoFlagOfTheSections(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"owner", "orphans", "retries"} {
		if r := tailscope("", command, "--no-estimate"); r.code != 2 {
			t.Errorf("%s: exit %d", command, r.code)
		}
	}
}

func TestEstimatesDoNotDependOnTheSplitOrTheWorkers(t *testing.T) {
	t.Parallel()
	lines := exponentialLog()
	want := hopsOf(t, strings.Join(lines, ""), "--timeout", "h=300ms")
	if !strings.Contains(want, `"bound_ns": 4`) && !strings.Contains(want, `"bound_ns": 5`) {
		t.Fatalf("no estimate to compare in %s", want)
	}
	rand.New(rand.NewPCG(5, 6)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	parts := slices.Collect(slices.Chunk(lines, 701))
	args := []string{"--timeout", "h=300ms", "--jobs", "3"}
	for i, part := range parts {
		args = append(args, write(t, fmt.Sprintf("%d.ndjson", i), []byte(strings.Join(part, ""))))
	}
	if got := hopsOf(t, "", args...); got != want {
		t.Error("the hops differ")
	}
}
