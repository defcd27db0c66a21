package trial

import (
	"encoding/json"
	"fmt"
	"maps"
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

// peer is another tool: how it is asked of a file of some form, what must be there, and
// the files that it cannot read.
type peer struct {
	command []string // FORM and FILE stand for those
	path    string
	not     []string
}

var peers = map[string]peer{
	"duckdb": {[]string{"node", "bench/peers/duckdb.js", "FORM", "FILE", strconv.Itoa(Workers)}, "bench/peers/node_modules/@duckdb/node-api", nil},
	"python": {[]string{"python3", "bench/peers/python.py", "FORM", "FILE"}, "", []string{".zst"}},
	"jq":     {[]string{"jq", "-nr", "--arg", "form", "FORM", "-f", "bench/peers/jq.jq", "FILE"}, "", []string{".zst", ".gz", ".csv"}},
	"sorted": {[]string{"go", "run", "./bench/peers/sorted", "FORM", "FILE"}, "", nil},
}

// Peers are the names that Peer knows.
var Peers = slices.Sorted(maps.Keys(peers))

// Peer is another tool that answers the question of a file, run from the root of
// the repository. The error is Absent if it cannot.
func Peer(name, file string) (Tool, error) {
	p, known := peers[name]
	if !known {
		return Tool{}, fmt.Errorf("peer %q: one of %s", name, strings.Join(Peers, ", "))
	}
	if reason := p.absent(file); reason != "" {
		return Tool{}, Absent{name, reason}
	}
	form, err := Form(file)
	command := slices.Clone(p.command)
	command[slices.Index(command, "FORM")], command[slices.Index(command, "FILE")] = form, file
	return Tool{Name: name, Command: command, Rows: lines}, err
}

// absent says why a file cannot be read, "" if it can.
func (p peer) absent(file string) string {
	_, noProgram := exec.LookPath(p.command[0])
	_, noPath := os.Stat(p.path)
	if noProgram != nil || p.path != "" && noPath != nil {
		return "is not installed"
	}
	for _, ending := range p.not {
		if strings.HasSuffix(file, ending) {
			return "does not read " + ending
		}
	}
	return ""
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
