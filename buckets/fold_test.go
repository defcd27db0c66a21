package buckets

import (
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// TestBlocksOfTimeAreAsWideAsFoldedHopsNeed: thirty users make more cells of time than
// there may be, and one hop of all of them does not. That they are one hop is known only
// with the last line, when their blocks are wider long since.
func TestBlocksOfTimeAreAsWideAsFoldedHopsNeed(t *testing.T) {
	const users, minutes = 30, 10_000
	results := func(naming *spans.Naming) string {
		c := NewConfig(nil)
		c.Naming = naming
		a := NewAccumulator(c)
		defer a.Close()
		b := spans.NewBuilder(new(ledger), spans.Starts)
		defer b.Release()
		b.Use(naming)
		add := func() {
			if batch := b.Batch(); batch != nil {
				if err := a.AddBatch(batch); err != nil {
					t.Fatal(err)
				}
				batch.Release()
			}
		}
		line := func(name string, at, took int64) {
			row := spans.Row{Hop: b.Hop([]byte(name)), Duration: took, HasDuration: true, Start: at * 60e9, HasStart: true, Marked: true, Outcome: spans.Completed}
			if b.Full(&row) {
				add()
			}
			b.Append(&row)
		}
		for minute := range int64(minutes) {
			for user := range users {
				line(fmt.Sprintf("/user/%d", user), 29_000_000+minute, 1e6+1e6*(minute/7%2)) // spells of seven minutes
			}
		}
		line("last", 29_000_000, 5e6)
		add()
		if wide := a.config.clusters.window.Wider(); wide != (naming.Mode() == spans.FoldAuto) {
			t.Fatalf("blocks of time are wider than a minute: %v", wide)
		}
		if !naming.Folds() {
			t.Fatal("nothing was folded")
		}
		a.Fold()
		if a.config.clusters.window.Wider() {
			t.Error("blocks of one hop are wider than a minute")
		}
		p, _ := quantile.ParseP("0.95")
		page, err := json.Marshal(a.Results(Query{Quantiles: []quantile.P{p}, Confidence: p, Marked: true}))
		if err != nil {
			t.Fatal(err)
		}
		return string(page)
	}
	got, want := results(spans.NewNaming(spans.FoldAuto, users)), results(spans.NewNaming(spans.FoldAlways, users))
	if got != want {
		t.Errorf("folded at the end:\n%s\nfrom the start:\n%s", got, want)
	}
}

// TestACutOfTheSameFoldedHopIsNotBelowAFailure: two users are one hop, and a hop does
// not pass up its own cuts.
func TestACutOfTheSameFoldedHopIsNotBelowAFailure(t *testing.T) {
	for most, want := range map[int]uint64{2: 1, 3: 0} { // folded, or not
		c := NewConfig(nil)
		c.Naming = spans.NewNaming(spans.FoldAuto, most)
		a := NewAccumulator(c)
		b := spans.NewBuilder(new(ledger), spans.Traces|spans.Starts)
		b.Use(c.Naming)
		line := func(name string, start, took int64, o spans.Outcome) {
			b.Append(&spans.Row{Hop: b.Hop([]byte(name)), Trace: []byte("1"), Duration: took, HasDuration: true, Start: start, HasStart: true, Marked: true, Outcome: o})
		}
		line("/user/1", 10, 50, spans.Truncated)
		line("/user/2", 0, 100, spans.Failed)
		addAll := func() {
			batch := b.Batch()
			if err := a.AddBatch(batch); err != nil {
				t.Fatal(err)
			}
			batch.Release()
		}
		addAll()
		line("stock", 0, 1, spans.Completed)
		addAll()
		if c.Naming.Folds() {
			a.Fold()
		}
		var failed uint64
		for _, r := range a.Results(Query{Marked: true}) {
			failed += r.Failed.All.N
		}
		if failed != want {
			t.Errorf("at most %d hops: %d attempts failed, want %d", most, failed, want)
		}
		b.Release()
		a.Close()
	}
}

// TestAHopTakesLittleMemory: most of very many hops complete a few attempts, so what
// those do not need must not be there.
func TestAHopTakesLittleMemory(t *testing.T) {
	const hops, most = 20_000, 1100 // bytes; 1,640 with all counters in place
	b := spans.NewBuilder(new(ledger), spans.Starts)
	defer b.Release()
	a := NewAccumulator(NewConfig(nil))
	defer a.Close()
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	names := make([]int32, hops)
	for i := range names {
		names[i] = b.Hop(fmt.Appendf(nil, "hop-%d", i))
	}
	before := held()
	for i, hop := range names {
		row := spans.Row{Hop: hop, Duration: int64(i) * 1000, HasDuration: true, Start: 60e9, HasStart: true, Outcome: spans.Completed}
		if b.Full(&row) || i == len(names)-1 {
			batch := b.Batch()
			if err := a.AddBatch(batch); err != nil {
				t.Fatal(err)
			}
			batch.Release()
		}
		b.Append(&row)
	}
	perHop := (held() - before) / hops
	t.Logf("%d bytes a hop", perHop)
	if perHop > most {
		t.Errorf("a hop takes %d bytes, at most %d wanted", perHop, most)
	}
	runtime.KeepAlive(a)
}
