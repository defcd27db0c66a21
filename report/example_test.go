package report_test

import (
	"fmt"
	"os"

	"github.com/tailscope/tailscope/report"
)

// One list of columns serves every format.
func Example() {
	type hop struct {
		name string
		p99  int64
		cut  bool
	}
	hops := []hop{{"gateway", 250_000_000, true}, {"orders", 80_500_000, false}}
	t := report.NewTable("Slowest hops", hops, []report.Column[hop]{
		{Key: "hop", Head: "hop", Is: report.Name, Of: func(h *hop) report.Value { return report.String(h.name) }},
		{Key: "p99_ns", Head: "p99", Is: report.OneUnit, Of: func(h *hop) report.Value { return report.Nanos(h.p99).AtLeast(h.cut) }},
	})
	r := &report.Report{Sections: []report.Section{{Key: "hops", Tables: []report.Table{t}, Data: t}}}
	for _, write := range []report.Format{report.Text, report.CSV} {
		if err := write(os.Stdout, r, report.Options{}); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// Slowest hops
	//
	//   hop             p99
	//   ───────────────────
	//   gateway  ≥ 250.0 ms
	//   orders      80.5 ms
	// hop,p99_ns
	// gateway,250000000
	// orders,80500000
}
