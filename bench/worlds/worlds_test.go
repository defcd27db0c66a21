package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/nesting/worlds"
)

// Clocks that are 50 ms apart are left to the table: no rule is right there always.
func TestNoOwnerIsWrong(t *testing.T) {
	t.Parallel()
	s := settings{seeds: 6, requests: 400}
	if testing.Short() {
		s.seeds = 1
	}
	right, logs := 0, 0
	for _, f := range worlds.Forms {
		if f.Skew > 4 {
			continue
		}
		for _, w := range worlds.Kinds() {
			n := s.count(&w, f)
			if n.wrong > 0 {
				t.Errorf("%s, %s: %d of %d owners are wrong", w.Name, f.Name, n.wrong, s.seeds)
			}
			if f.Skew == 0 {
				right, logs = right+n.right, logs+s.seeds
			}
		}
	}
	if 10*right < 6*logs {
		t.Errorf("%d of %d logs of one clock have the right owner", right, logs)
	}
}

func TestATableHasARowForEachWorld(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := (&settings{seeds: 1, requests: 60, form: "exact"}).run(&out); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "\n"); got != len(worlds.Kinds())+3 {
		t.Errorf("%d lines:\n%s", got, out.String())
	}
	if err := (&settings{world: "no such"}).run(&out); err == nil {
		t.Error("a world that is not there is no mistake")
	}
}

func TestALogIsTheSameForTheSameSeed(t *testing.T) {
	t.Parallel()
	var logs [3]bytes.Buffer
	for i, seed := range []int{1, 1, 2} {
		if err := (&settings{requests: 20, world: "retried", form: "whole ms", log: seed}).run(&logs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if logs[0].String() != logs[1].String() || logs[0].String() == logs[2].String() || strings.Count(logs[0].String(), "\n") < 60 {
		t.Errorf("%d, %d and %d bytes", logs[0].Len(), logs[1].Len(), logs[2].Len())
	}
}
