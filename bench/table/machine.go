package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// writeMachine says what all was measured on, and with.
func writeMachine(l *lab, out io.Writer) error {
	fmt.Fprintf(out, "%d cores (%s), %s of memory, %s/%s, %s", runtime.NumCPU(), fieldOf("/proc/cpuinfo", "model name"), gibibytes(fieldOf("/proc/meminfo", "MemTotal")), runtime.GOOS, runtime.GOARCH, runtime.Version())
	fmt.Fprintf(out, "; load average before %s; medians of %d pairs", load(), l.pairs)
	fmt.Fprintf(out, "; DuckDB %s on Node %s; Python %s; jq %s.\n", duckdbVersion(), version("node"), version("python3"), version("jq"))
	return nil
}

// load is that of the last minute: whether the machine had other things to do.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	last, _, _ := strings.Cut(string(text), " ")
	return last
}

// gibibytes rounds "24684084 kB".
func gibibytes(text string) string {
	kibibytes, err := strconv.ParseFloat(strings.TrimSuffix(text, " kB"), 64)
	if err != nil {
		return "unknown"
	}
	return fmt.Sprintf("%.0f GiB", kibibytes/(1<<20))
}

// fieldOf reads "name : value" of a file of /proc, where there is one.
func fieldOf(file, name string) string {
	text, _ := os.ReadFile(file)
	_, after, _ := strings.Cut(string(text), name)
	line, _, _ := strings.Cut(after, "\n")
	return strings.Trim(line, " \t:")
}

// version is what a program says of itself, without its name.
func version(program string) string {
	out, err := exec.Command(program, "--version").Output()
	if err != nil {
		return "not installed"
	}
	return strings.TrimLeft(strings.TrimSpace(string(out)), "Pythonjqv- ")
}

func duckdbVersion() string {
	var wanted struct{ Dependencies map[string]string }
	text, err := os.ReadFile("bench/peers/package.json")
	if err != nil || json.Unmarshal(text, &wanted) != nil {
		return "unknown"
	}
	return wanted.Dependencies["@duckdb/node-api"]
}
