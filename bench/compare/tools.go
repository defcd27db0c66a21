package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// quantiles are those of the question.
const quantiles = "0.5,0.9,0.95,0.99,0.999,1"

// tool is a command that answers the question, and how to read its rows: "hop,
// bucket,n,q…" in ns.
type tool struct {
	name    string
	command []string
	rows    func([]byte) ([]string, error)
}

func tailscope(binary, file string) tool {
	return tool{"tailscope", []string{binary, "quantiles", "--format", "json", "--quantiles", quantiles, "--jobs", "2", file}, rowsOfReport}
}

func peerNamed(name, file string) (tool, error) {
	commands := map[string][]string{
		"sorted": {"go", "run", "./bench/peers/sorted", file},
		"duckdb": {"node", "bench/peers/duckdb.js", file, "2"},
		"python": {"python3", "bench/peers/python.py", file},
		"jq":     {"jq", "-nrf", "bench/peers/jq.jq", file},
	}
	command, known := commands[name]
	if !known {
		return tool{}, fmt.Errorf("-peers %q: duckdb, python, jq or sorted", name)
	}
	return tool{name, command, lines}, nil
}

func lines(out []byte) ([]string, error) { return strings.Fields(string(out)), nil }

// bucket is what the question asks of the report.
type bucket struct {
	N         int64
	Quantiles []struct {
		Value *int64 `json:"value_ns"`
	}
}

func (b bucket) row(hop, name string) string {
	row := fmt.Sprintf("%s,%s,%d", hop, name, b.N)
	for _, q := range b.Quantiles {
		row += fmt.Sprintf(",%d", *q.Value)
	}
	return row
}

func rowsOfReport(out []byte) ([]string, error) {
	var report struct {
		Hops []struct {
			Hop                  string
			Completed, Truncated bucket
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return nil, err
	}
	var rows []string
	for _, h := range report.Hops {
		for name, b := range map[string]bucket{"completed": h.Completed, "truncated": h.Truncated} {
			if b.N > 0 {
				rows = append(rows, b.row(h.Hop, name))
			}
		}
	}
	return rows, nil
}

// answer runs the tool once and returns its rows in order.
func (t tool) answer() ([]string, error) {
	out, err := t.output(new(usage))
	if err != nil {
		return nil, err
	}
	rows, err := t.rows(out)
	slices.Sort(rows)
	return rows, err
}

func (t tool) output(u *usage) ([]byte, error) {
	var out bytes.Buffer
	cmd := exec.Command(t.command[0], t.command[1:]...)
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := u.measure(cmd); err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(t.command, " "), err)
	}
	return out.Bytes(), nil
}

// sameAnswer names the first row in which two tools differ.
func sameAnswer(a, b tool) error {
	left, err := a.answer()
	if err != nil {
		return err
	}
	right, err := b.answer()
	if err != nil {
		return err
	}
	if len(left) == 0 {
		return fmt.Errorf("%s has no rows", a.name)
	}
	for i := range max(len(left), len(right)) {
		if x, y := at(left, i), at(right, i); x != y {
			return fmt.Errorf("row %d differs\n  %s: %s\n  %s: %s", i+1, a.name, x, b.name, y)
		}
	}
	return nil
}

func at(rows []string, i int) string {
	if i < len(rows) {
		return rows[i]
	}
	return "none"
}
