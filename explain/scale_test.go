package explain

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/quantile"
	"pgregory.net/rapid"
)

// TestALimitOnThePageNeverPromisesMoreThanTheDocument reads the figures of a table back.
func TestALimitOnThePageNeverPromisesMoreThanTheDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := func(what string) int64 { return rapid.Int64Range(1, 1e12).Draw(t, what) }
		r := &Result{Tail: &buckets.Result{}}
		for i := range rapid.IntRange(1, 4).Draw(t, "quantiles") {
			lower, upper, most := ns("lower"), ns("upper"), ns("most")
			one := buckets.Tail{Tail: quantile.Tail{P: quantile.MustP(fmt.Sprint("0.9", i)), N: 9, Rank: 8, Status: quantile.AtLeast, Value: ns("value"), Lower: &lower, Upper: &upper, AtMost: &most}}
			r.Tail.Tail = append(r.Tail.Tail, one)
		}
		scale, table := r.tailScale(), r.latency()
		for i := range r.Tail.Tail {
			q := &r.Tail.Tail[i]
			for column, want := range map[int]struct {
				ns int64
				up bool
			}{2: {q.Value, false}, 3: {*q.AtMost, true}, 4: {*q.Lower, false}, 5: {*q.Upper, true}} {
				text := fmt.Sprintf("%+v", table.At(i, column))
				got := readBack(t, text, scale.Unit())
				if want.up && got < float64(want.ns)*(1-1e-9) || !want.up && got > float64(want.ns)*(1+1e-9) {
					t.Fatalf("%s %s for %d ns", text, scale.Unit(), want.ns)
				}
			}
		}
	})
}

// readBack returns the ns of the number in a value's dump.
func readBack(t *rapid.T, text, unit string) float64 {
	at := strings.Index(text, "text:")
	rest := strings.TrimPrefix(text[at+len("text:"):], "≥ ")
	word, _, _ := strings.Cut(rest, " ")
	scale := 0.0
	for _, u := range durations.Units {
		if u.Name == unit {
			scale = float64(u.Scale)
		}
	}
	if word == "<0.1" {
		return scale / 10
	}
	f, err := strconv.ParseFloat(word, 64)
	if err != nil {
		t.Fatalf("%q in %s", word, text)
	}
	return f * scale
}
