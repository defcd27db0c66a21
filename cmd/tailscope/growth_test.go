//go:build !race

// What is counted here is counted without the race detector: it allocates too, and the
// program whose statements are counted is built without it.

package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Work that grows faster than its input is found by counting it at n, 2n and 4n: what
// comes with the second doubling is twice what came with the first, if it is linear, and
// four times, if it is a square. Nothing is timed.

// mostSteps is how much more may be executed for the second doubling than for the first:
// twice is linear, and sorting takes a little more.
const mostSteps = 2.6

// TestStepsGrowWithTheInput counts the blocks of statements that a run executes. A loop that goes
// over everything for each thing shows there whether it takes memory or not.
func TestStepsGrowWithTheInput(t *testing.T) {
	t.Parallel()
	counted := countingProgram(t)
	for _, s := range growing {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			at := [3]string{s.input(t, s.n), s.input(t, 2*s.n), s.input(t, 4*s.n)}
			for _, command := range growthCommands() {
				var steps [3]int
				for i, in := range at {
					steps[i] = counted(t, command, "--jobs", "1", "--format", "json", in)
				}
				first, second := steps[1]-steps[0], steps[2]-steps[1]
				if first <= 0 || float64(second) > mostSteps*float64(first) {
					t.Errorf("%s: %d steps at %d, 2 and 4 times that: more than linear", command, steps, s.n)
				}
			}
		})
	}
}

// mostGrown is how much more may be allocated for four times the input: some lists
// are twice as large as they need be.
const mostGrown = 4.6

// TestAllocationGrowsWithTheInput counts bytes and objects. It runs alone, as the whole
// process is counted.
func TestAllocationGrowsWithTheInput(t *testing.T) {
	for _, s := range growing {
		small, large := s.input(t, s.n), s.input(t, 4*s.n)
		for _, command := range growthCommands() {
			one, four, fine := grown(func(times4 bool) allocation {
				if times4 {
					return allocated(t, command, large)
				}
				return allocated(t, command, small)
			})
			if !fine {
				t.Errorf("%s, %s: %d bytes in %d objects at %d, %d in %d at four times that", s.name, command, one.bytes, one.objects, s.n, four.bytes, four.objects)
			}
		}
	}
}

// allocation is what a run allocates.
type allocation struct{ bytes, objects uint64 }

func (a allocation) least(b allocation) allocation {
	return allocation{min(a.bytes, b.bytes), min(a.objects, b.objects)}
}

// grown measures runs of an input and of four times that, and reports whether the second
// allocates as much more as it may. Some of what is counted is chance: a buffer is in use
// or free, a collection empties a pool, what was started before ends. That is added to
// some runs only, and what the input costs to all: where a run seems to take too much, the
// least of several counts.
func grown(measure func(large bool) allocation) (one, four allocation, fine bool) {
	const most = 5
	one, four = measure(false), measure(true)
	for n := 1; ; n++ {
		fine = float64(four.bytes) <= mostGrown*float64(one.bytes) && float64(four.objects) <= mostGrown*float64(one.objects)
		if fine || n == most {
			return one, four, fine
		}
		one, four = one.least(measure(false)), four.least(measure(true))
	}
}

func TestGrowthIsToldFromChance(t *testing.T) {
	for name, c := range map[string]struct {
		large []uint64 // what runs of four times the input allocate, the last one again and again
		fine  bool
	}{
		"linear":                           {[]uint64{400}, true},
		"linear, and chance adds at first": {[]uint64{900, 700, 410}, true},
		"a square":                         {[]uint64{1600}, false},
		"a square, and chance adds":        {[]uint64{2000, 1600, 1900}, false},
		"with a logarithm of its own":      {[]uint64{470}, false},
	} {
		for _, of := range []func(n uint64) allocation{
			func(n uint64) allocation { return allocation{n, 1} },
			func(n uint64) allocation { return allocation{1, n} },
		} {
			rest := c.large
			_, _, fine := grown(func(large bool) allocation {
				if !large {
					return of(100)
				}
				n := rest[0]
				if len(rest) > 1 {
					rest = rest[1:]
				}
				return of(n)
			})
			if fine != c.fine {
				t.Errorf("%s: fine is %t", name, fine)
			}
		}
	}
}

// growthCommands are the one that runs what all the others do, and the fastest, which
// leaves out what it does not need.
func growthCommands() []string {
	if testing.Short() {
		return []string{"analyze"}
	}
	return []string{"analyze", "quantiles"}
}

func allocated(t *testing.T, command, in string) allocation {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := tailscope("", command, "--jobs", "1", "--format", "json", in)
	runtime.ReadMemStats(&after)
	if !finished(r.code) {
		t.Fatalf("%s %s: exit code %d, %s", command, in, r.code, r.stderr)
	}
	return allocation{after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs}
}

// finished reports whether a run has read its input to the end, be that where it breaks off.
func finished(code int) bool { return code == exitFine || code == exitIncomplete }

// countingProgram builds the program so that it counts how often each of its statements is
// executed, and returns what runs it and adds that up.
func countingProgram(t *testing.T) func(t *testing.T, args ...string) int {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go to build the program with: statements are not counted")
	}
	path := filepath.Join(t.TempDir(), "counting")
	build := exec.Command(tool, "build", "-cover", "-covermode=count", "-coverpkg=github.com/tailscope/tailscope/...", "-o", path, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return func(t *testing.T, args ...string) int {
		t.Helper()
		folder := t.TempDir()
		run := exec.Command(path, args...)
		run.Env = append(os.Environ(), "GOCOVERDIR="+folder)
		var errs bytes.Buffer
		run.Stderr = &errs
		if err := run.Run(); run.ProcessState == nil || !finished(run.ProcessState.ExitCode()) {
			t.Fatalf("%v: %v, %s", args, err, &errs)
		}
		files, err := filepath.Glob(filepath.Join(folder, "covcounters.*"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%v: counters in %q", err, files)
		}
		counters, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		return executed(t, counters)
	}
}

// executed adds up how often each block of statements was executed. The counters are as
// internal/coverage of Go lays them out: a header of the file, one of what follows and its
// texts, and for each function how many counters it has, its package, its number, and the
// counters. go tool covdata says the same, but takes four times as long as the run.
func executed(t *testing.T, file []byte) (sum int) {
	t.Helper()
	const header, texts = 32, 40
	magic, version, flavor := []byte("\x00cwm"), uint32(1), uint8(2) // of varints
	if len(file) < header+16 || !bytes.HasPrefix(file, magic) || binary.LittleEndian.Uint32(file[4:]) != version || file[24] != flavor {
		t.Fatalf("this Go lays its counters out in another way: % x", file[:min(len(file), header)])
	}
	functions := binary.LittleEndian.Uint64(file[header:])
	skipped := binary.LittleEndian.Uint32(file[texts:]) + binary.LittleEndian.Uint32(file[texts+4:])
	rest := file[header+16+(skipped+3)/4*4:]
	next := func() int {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			t.Fatal("the counters break off")
		}
		rest = rest[n:]
		return int(v)
	}
	for range functions {
		counters, _, _ := next(), next(), next()
		for range counters {
			sum += next()
		}
	}
	return sum
}
