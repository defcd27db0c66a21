package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/tailscope/tailscope/bench/trial"
)

// input is a file of the generator, compressed or not.
type input struct {
	form   string
	n      int
	unit   string
	ending string // "", ".gz" or ".zst"
}

func (in input) flags() []string {
	return []string{"-form", in.form, "-n", fmt.Sprint(in.n), "-unit", in.unit}
}

func (in input) String() string {
	kind := map[string]string{"jaeger": "json", "hops-csv": "csv"}[in.form]
	if kind == "" {
		kind = "ndjson"
	}
	return fmt.Sprintf("%s-%s-%d.%s%s", in.form, in.unit, in.n, kind, in.ending)
}

// compressors write what a log rotation would.
var compressors = map[string][]string{".gz": {"gzip", "-6", "-c"}, ".zst": {"zstd", "-3", "-q", "-c"}}

// file is the path of an input, which is made if it is not there.
func (l *lab) file(in input) (string, error) {
	path := filepath.Join(l.dir, in.String())
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	words := append([]string{l.generate}, in.flags()...)
	if in.ending != "" {
		uncompressed, err := l.file(input{in.form, in.n, in.unit, ""})
		if err != nil {
			return "", err
		}
		words = append(compressors[in.ending], uncompressed)
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return "", trial.Absent{Peer: words[0], Reason: "is not installed"}
	}
	return path, output(path, words)
}

// output puts what a command writes in place when it is whole.
func output(path string, words []string) error {
	f, err := os.Create(path + ".part")
	if err != nil {
		return err
	}
	defer f.Close()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = f, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(words, " "), err)
	}
	return os.Rename(f.Name(), path)
}
