// Sorted answers the question of bench/trial in the plainest way: the standard
// library reads the file, every duration is kept, and a sorted slice has the
// quantiles. Usage: sorted FORM FILE
package main

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/tailscope/tailscope/bench/trial"
)

// perMille are the quantiles.
var perMille = []int{500, 900, 950, 990, 999, 1000}

// buckets are durations in ns by "hop,kind,bucket".
type buckets map[string][]int64

func (b buckets) add(hop, kind string, truncated bool, ns int64) {
	name := hop + "," + kind + "," + map[bool]string{false: "completed", true: "truncated"}[truncated]
	b[name] = append(b[name], ns)
}

func main() {
	if err := answer(os.Args[1], os.Args[2], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sorted:", err)
		os.Exit(1)
	}
}

func answer(form, path string, out io.Writer) error {
	in, err := trial.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	b := buckets{}
	read := map[string]func(io.Reader, buckets) error{"hops": readLog, "hops-csv": readTable, "jaeger": readJaeger, "otlp": readOTLP}[form]
	if err := read(in, b); err != nil {
		return err
	}
	for name, values := range b {
		slices.Sort(values)
		fmt.Fprintf(out, "%s,%d", name, len(values))
		for _, p := range perMille {
			fmt.Fprintf(out, ",%d", values[(p*len(values)+999)/1000-1])
		}
		fmt.Fprintln(out)
	}
	return nil
}
