// Package trial puts one question to several commands: whether their answers are
// the same row by row, and what each took.
package trial

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Tool is a command that answers the question, and how to read its rows: "hop,
// kind,bucket,n,q…" in ns, the kind empty for hop logs.
type Tool struct {
	Name    string
	Command []string
	Rows    func([]byte) ([]string, error)
	Input   []string // a command whose output it reads, if any
}

// Answer runs the tool once and returns its rows in order.
func (t Tool) Answer() ([]string, error) {
	out, err := t.output(new(Usage))
	if err != nil {
		return nil, err
	}
	rows, err := t.Rows(out)
	slices.Sort(rows)
	return rows, err
}

// Run runs the tool once and says what it took, without what feeds it.
func (t Tool) Run() (Usage, error) {
	var u Usage
	_, err := t.output(&u)
	return u, err
}

func (t Tool) output(u *Usage) ([]byte, error) {
	var out bytes.Buffer
	cmd := exec.Command(t.Command[0], t.Command[1:]...)
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	ended, err := t.startInput(cmd)
	if err != nil {
		return nil, err
	}
	err = u.measure(cmd)
	unread := ended()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(t.Command, " "), err)
	}
	return out.Bytes(), unread
}

// startInput starts the command of the input, and returns what waits for its end.
func (t Tool) startInput(cmd *exec.Cmd) (wait func() error, err error) {
	if t.Input == nil {
		return func() error { return nil }, nil
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	source := exec.Command(t.Input[0], t.Input[1:]...)
	source.Stdout, source.Stderr = to, os.Stderr
	cmd.Stdin = from
	err = source.Start()
	to.Close()
	return func() error { from.Close(); return source.Wait() }, err
}

// Same names the first row in which two tools differ.
func Same(a, b Tool) error {
	left, err := a.Answer()
	if err != nil {
		return err
	}
	right, err := b.Answer()
	if err != nil {
		return err
	}
	if len(left) == 0 {
		return fmt.Errorf("%s has no rows", a.Name)
	}
	for i := range max(len(left), len(right)) {
		if x, y := at(left, i), at(right, i); x != y {
			return fmt.Errorf("row %d differs\n  %s: %s\n  %s: %s", i+1, a.Name, x, b.Name, y)
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

// Pairs checks that both give the same answer and then runs them in turn, so
// many times each.
func Pairs(a, b Tool, pairs int) (first, second Runs, err error) {
	if err := Same(a, b); err != nil {
		return nil, nil, err
	}
	for range pairs {
		for _, side := range []struct {
			tool Tool
			runs *Runs
		}{{a, &first}, {b, &second}} {
			u, err := side.tool.Run()
			if err != nil {
				return nil, nil, err
			}
			*side.runs = append(*side.runs, u)
		}
	}
	return first, second, nil
}
