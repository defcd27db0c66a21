package fit

import (
	"encoding/csv"
	"os"
	"strconv"
	"testing"

	"github.com/tailscope/tailscope/quantile"
)

var ninetyFive = quantile.MustP("0.95")

func sampleOf(values ...int64) *quantile.Sample {
	s := new(quantile.Sample)
	s.AddAll(values)
	return s
}

func show(p *int64) string {
	if p == nil {
		return "none"
	}
	return strconv.FormatInt(*p, 10)
}

func equal(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }

// readHop reads the durations of a golden case of package quantile.
func readHop(t *testing.T, name string) quantile.Observed {
	t.Helper()
	table, err := os.Open("../testdata/" + name + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	rows, err := csv.NewReader(table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	completed, cut := new(quantile.Sample), new(quantile.Sample)
	for _, row := range rows[1:] {
		ns, err := strconv.ParseInt(row[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if row[1] == "1" {
			cut.Add(ns)
		} else {
			completed.Add(ns)
		}
	}
	return quantile.Observed{Completed: quantile.Union{completed}, CutSeen: quantile.Union{cut}}
}
