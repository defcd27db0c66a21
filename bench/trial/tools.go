package trial

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// Workers are as many as every tool is given that can be told.
const Workers = 2

// quantiles are those of the question.
const quantiles = "0.5,0.9,0.95,0.99,0.999,1"

// Tailscope is a command of a built binary ("quantiles", "analyze") with so many
// workers.
func Tailscope(binary, command, file string, workers int) Tool {
	return Tool{
		Name:    command,
		Command: []string{binary, command, "--format", "json", "--quantiles", quantiles, "--hops", "all", "--jobs", strconv.Itoa(workers), file},
		Rows:    rowsOfReport,
	}
}

// Absent says why a peer cannot be asked: it is not installed, or it does not
// read such a file.
type Absent struct{ Peer, Reason string }

func (a Absent) Error() string { return a.Peer + " " + a.Reason }

// needs are what must be there for a peer, and the files it cannot read.
var needs = map[string]struct {
	program, path string
	not           []string
}{
	"sorted": {program: "go"},
	"duckdb": {program: "node", path: "bench/peers/node_modules/@duckdb/node-api"},
	"python": {program: "python3", not: []string{".zst"}},
	"jq":     {program: "jq", not: []string{".zst", ".gz", ".csv"}},
}

// Peers are the names that Peer knows.
var Peers = []string{"duckdb", "python", "jq", "sorted"}

// Peer is another tool that answers the question of a file, run from the root of
// the repository. The error is Absent if it cannot.
func Peer(name, file string) (Tool, error) {
	if !slices.Contains(Peers, name) {
		return Tool{}, fmt.Errorf("peer %q: one of %s", name, strings.Join(Peers, ", "))
	}
	if err := possible(name, file); err != nil {
		return Tool{}, err
	}
	form, err := Form(file)
	commands := map[string][]string{
		"sorted": {"go", "run", "./bench/peers/sorted", form, file},
		"duckdb": {"node", "bench/peers/duckdb.js", form, file, strconv.Itoa(Workers)},
		"python": {"python3", "bench/peers/python.py", form, file},
		"jq":     {"jq", "-nr", "--arg", "form", form, "-f", "bench/peers/jq.jq", file},
	}
	return Tool{Name: name, Command: commands[name], Rows: lines}, err
}

func possible(name, file string) error {
	n := needs[name]
	if _, err := exec.LookPath(n.program); err != nil {
		return Absent{name, "is not installed"}
	}
	if _, err := os.Stat(n.path); n.path != "" && err != nil {
		return Absent{name, "is not installed"}
	}
	for _, ending := range n.not {
		if strings.HasSuffix(file, ending) {
			return Absent{name, "does not read " + ending}
		}
	}
	return nil
}

func lines(out []byte) ([]string, error) {
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' }), nil
}

// bucket is what the question asks of the report.
type bucket struct {
	N         int64
	Quantiles []struct {
		Value int64 `json:"value_ns"`
	}
}

func (b bucket) row(hop, kind, name string) string {
	row := fmt.Sprintf("%s,%s,%s,%d", hop, kind, name, b.N)
	for _, q := range b.Quantiles {
		row += fmt.Sprintf(",%d", q.Value)
	}
	return row
}

func rowsOfReport(out []byte) ([]string, error) {
	var report struct {
		Hops []struct {
			Hop, Kind                    string
			Completed, Truncated, Failed bucket
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return nil, err
	}
	var rows []string
	for _, h := range report.Hops {
		for name, b := range map[string]bucket{"completed": h.Completed, "truncated": h.Truncated, "failed": h.Failed} {
			if b.N > 0 {
				rows = append(rows, b.row(h.Hop, h.Kind, name))
			}
		}
	}
	return rows, nil
}
