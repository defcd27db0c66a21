package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/spans"
)

// A run that does not look up is not waited for; one that does says how it ended.
func TestARunIsLeftOnceItIsToldToEnd(t *testing.T) {
	t.Parallel()
	told, cancel := context.WithCancelCause(context.Background())
	cancel(signalError{syscall.SIGTERM})
	never := make(chan struct{})
	defer close(never)
	if err := untilTold(told, 0, func() error { <-never; return nil }); exitCode(err) != 143 {
		t.Errorf("%v", err)
	}
	own := errors.New("its own")
	if err := untilTold(context.Background(), 0, func() error { return own }); err != own {
		t.Errorf("%v", err)
	}
}

// counting is a collector that is told to stop in the middle of its first work.
type counting struct {
	looked *int
	tell   func()
}

func (c counting) AddTrace(*spans.Trace) { *c.looked++; c.tell() }
func (c counting) AddChain(*spans.Chain) { *c.looked++; c.tell() }

// Of a trace or chain that is left off, no further analysis sees anything.
func TestAWorkerLeavesOffBetweenTwoAnalyses(t *testing.T) {
	t.Parallel()
	settings, err := ingest.NewSettings(field.Config{}, outcome.Config{})
	if err != nil {
		t.Fatal(err)
	}
	p := &plan{ingest: ingest.Config{Fields: settings}}
	for at := 1; at <= 3; at++ {
		looked, stopped := 0, false
		one := counting{&looked, func() { stopped = looked == at }}
		w := &worker{plan: p, marked: true, stop: func() bool { return stopped }}
		for range 3 {
			w.traces, w.chains = appendIf(w.traces, one), appendIf(w.chains, one)
		}
		w.addTrace(&spans.Trace{Stop: w.stop})
		if looked != at {
			t.Errorf("told after %d analyses of a trace, %d looked", at, looked)
		}
		looked, stopped = 0, false
		w.addChain(&spans.Chain{Attempts: make([]spans.Attempt, longChain)})
		if looked != at {
			t.Errorf("told after %d analyses of a chain, %d looked", at, looked)
		}
	}
}

// A signal in the middle of one huge trace ends the run by its number; a report is
// there whole or not at all.
func TestASignalEndsWorkOnAHugeTrace(t *testing.T) {
	t.Parallel()
	var in bytes.Buffer
	in.WriteString("start_ns,trace_id,span_id,parent_id,hop,duration_us,error\n1700000000000000000,t,r,,caller,90000000,\n")
	for i := range 60_000 {
		fmt.Fprintf(&in, "%d,t,s%d,r,poll,900,boom\n", 1700000000000000000+i*1_000_000, i)
	}
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			temp, results := t.TempDir(), t.TempDir()
			run := exec.Command("tailscope", "analyze", "--field", "span=span_id", "--field", "parent=parent_id", "--field", "trace=trace_id",
				"--memory", "4MiB", "--temp-dir", temp, "-o", filepath.Join(results, "report"), "--format", "json", "-")
			stdin, err := run.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := stdin.Write(in.Bytes()); err != nil {
				t.Error(err)
			}
			stdin.Close()
			if err := run.Process.Signal(signal); err != nil {
				t.Error(err)
			}
			run.Wait()
			code := run.ProcessState.ExitCode()
			report, err := os.ReadFile(filepath.Join(results, "report"))
			if code != 128+int(signal) && code != exitFine || err == nil && !json.Valid(report) || err != nil && code == exitFine {
				t.Errorf("exit code %d, and a report of %d bytes", code, len(report))
			}
			if left, err := os.ReadDir(results); err != nil || len(left) > 1 {
				t.Errorf("left: %v, %v", left, err)
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}
