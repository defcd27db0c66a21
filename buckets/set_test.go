package buckets

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

func TestNamesAreThoseOfHopsWithAttempts(t *testing.T) {
	a, b := setOf(t, NewConfig(nil), done(1, 2).on("x")), setOf(t, NewConfig(nil), all(done(1).on("y"), cut(9).on("x")))
	a.Merge(b)
	if got := namesOf(a); !slices.Equal(got, []string{"x", "y"}) {
		t.Errorf("names %q", got)
	}
	if n := a.Attempts(); n != 4 {
		t.Errorf("%d attempts, want 4", n)
	}
}

func namesOf(s *hopSet) []string {
	return slices.Sorted(maps.Keys((&Accumulator{unweighted: s}).Names()))
}

func (s *hopSet) Attempts() uint64 { return (&Accumulator{unweighted: s}).Attempts() }

func TestAnEmptySetHasNoResults(t *testing.T) {
	if got := newHopSet(NewConfig(nil)).Results(asked()); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// batches returns n batches of one builder, each with one attempt of its own
// hop and of "all"; a further hop is named and never logged.
func batches(t *testing.T, n int) []*spans.Batch {
	b := spans.NewBuilder(new(ledger), 0)
	defer b.Release()
	b.Hop([]byte("never logged"))
	var list []*spans.Batch
	for i := range n {
		for _, name := range []string{"all", fmt.Sprint("only ", i)} {
			b.Append(&spans.Row{Hop: b.Hop([]byte(name)), HasDuration: true, Duration: int64(i)})
		}
		full := b.Batch()
		t.Cleanup(full.Release)
		list = append(list, full)
	}
	return list
}

// A dictionary grows from batch to batch; who gets an older one later must
// still find its hops, and a name without a row is no hop.
func TestBatchesOfOneBuilderInAnyOrder(t *testing.T) {
	list := batches(t, 3)
	want := map[string]uint64{"all": 3, "only 0": 1, "only 1": 1, "only 2": 1}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		set := newHopSet(NewConfig(nil))
		for _, i := range order {
			set.Add(list[i])
		}
		got := map[string]uint64{}
		for _, r := range set.Results(asked()) {
			got[r.Name] = r.Attempts
		}
		if !maps.Equal(got, want) {
			t.Errorf("order %v: %v, want %v", order, got, want)
		}
	}
}

// A full batch is one of many: nothing may hang on the number of rows.
func TestMoreRowsThanABatchHolds(t *testing.T) {
	log := all(done(7).times(spans.BatchRows), cut(9).in("c"), done(8).on("x"))
	byHop := results(t, NewConfig(nil), asked(), log)
	if n, x := byHop["h"].Attempts, byHop["x"].Attempts; n != spans.BatchRows+1 || x != 1 {
		t.Errorf("%d and %d attempts", n, x)
	}
}

func TestKindsOfFailureAreKeptApart(t *testing.T) {
	log := failed(1, 2, 3, 4)
	log[1].Failure, log[2].Failure, log[3].Failure = spans.Refused, spans.FailureUnknown, spans.Refused
	log[3].Retry = true
	want := []FailureCount{{spans.Refused, 2}, {spans.OtherFailure, 1}, {spans.FailureUnknown, 1}}
	r := hopOf(t, NewConfig(nil), asked(), log)
	if d := same(want, []FailureCount(r.Failed.Kinds)); d != "" {
		t.Error(d)
	}
	if r.FailedShare != 1 || r.FirstAttempts != 3 || r.Retries != 1 {
		t.Errorf("share %v, %d first, %d retries", r.FailedShare, r.FirstAttempts, r.Retries)
	}
}

func TestWhoCutIsKeptApart(t *testing.T) {
	var log rows
	for i, by := range spans.CutBys {
		log = append(log, cut(5).by(by).times(i+1)...)
	}
	r := hopOf(t, NewConfig(nil), asked(), log)
	want := CutCounts{{spans.Own, 1}, {spans.Below, 2}, {spans.Caller, 3}, {spans.CutUnknown, 4}}
	if d := same(want, r.Truncated.CutBy); d != "" {
		t.Error(d)
	}
}

// A client and a server span of the same name are two rows, and so are two
// services whose names run together alike.
func TestARowIsAHopOfOneKind(t *testing.T) {
	b := spans.NewBuilder(new(ledger), spans.Links)
	hops := []spans.Hop{
		{Name: "a b c", Service: "a b", Operation: "c", Kind: spans.Server},
		{Name: "a b c", Service: "a", Operation: "b c", Kind: spans.Server},
		{Name: "a b c", Service: "a", Operation: "b c", Kind: spans.Client},
		{Name: "a"},
	}
	for i, h := range hops {
		index := b.SpanHop([]byte{byte(i)}, func() spans.Hop { return h })
		b.Append(&spans.Row{Hop: index, HasDuration: true, Duration: ms, Marked: true})
	}
	batch, set := b.Batch(), newHopSet(timeouts(map[string]int64{"a b c": 9}))
	set.Add(batch)
	batch.Release()
	b.Release()
	if got := namesOf(set); !slices.Equal(got, []string{"a", "a b c"}) {
		t.Errorf("names %q", got)
	}
	var got []string
	for _, r := range set.Results(asked()) {
		got = append(got, fmt.Sprintf("%s|%s|%s|%s|%d|%d walls", r.Name, r.Service, r.Operation, r.Kind, r.Attempts, len(r.Walls)))
	}
	want := []string{"a||||1|0 walls", "a b c|a|b c|client|1|1 walls", "a b c|a|b c|server|1|1 walls", "a b c|a b|c|server|1|1 walls"}
	if d := same(want, got); d != "" {
		t.Error(d)
	}
}
