// Sorted answers the question of bench/compare in the plainest way: the standard
// library reads the log, every duration is kept, and a sorted slice has the
// quantiles. Usage: sorted FILE
package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// perMille are the quantiles.
var perMille = []int{500, 900, 950, 990, 999, 1000}

func main() {
	if err := answer(os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sorted:", err)
		os.Exit(1)
	}
}

func answer(path string, out io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	buckets := map[string][]int64{}
	read := readJSON
	if strings.HasSuffix(path, ".csv") {
		read = readCSV
	}
	if err := read(bufio.NewReader(f), buckets); err != nil {
		return err
	}
	for name, values := range buckets {
		slices.Sort(values)
		fmt.Fprintf(out, "%s,%d", name, len(values))
		for _, p := range perMille {
			fmt.Fprintf(out, ",%d", values[(p*len(values)+999)/1000-1])
		}
		fmt.Fprintln(out)
	}
	return nil
}

func bucket(hop string, truncated bool) string {
	return hop + "," + map[bool]string{false: "completed", true: "truncated"}[truncated]
}

func readJSON(in io.Reader, buckets map[string][]int64) error {
	lines := json.NewDecoder(in)
	for {
		var a struct {
			Hop       string
			Truncated bool
			US        int64 `json:"duration_us"`
			NS        int64 `json:"duration_ns"`
		}
		if err := lines.Decode(&a); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		name := bucket(a.Hop, a.Truncated)
		buckets[name] = append(buckets[name], a.US*1000+a.NS)
	}
}

func readCSV(in io.Reader, buckets map[string][]int64) error {
	rows, err := csv.NewReader(in).ReadAll()
	if err != nil {
		return err
	}
	column := func(name string) int { return slices.Index(rows[0], name) }
	at, scale := column("duration_ns"), int64(1)
	if at < 0 {
		at, scale = column("duration_us"), 1000
	}
	for _, row := range rows[1:] {
		ns, err := strconv.ParseInt(row[at], 10, 64)
		if err != nil {
			return err
		}
		name := bucket(row[column("hop")], row[column("truncated")] == "true")
		buckets[name] = append(buckets[name], ns*scale)
	}
	return nil
}
