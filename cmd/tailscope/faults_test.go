package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/tailscope/tailscope/internal/disk"
	"github.com/tailscope/tailscope/internal/racing"
)

// fault is the k-th call of a kind that fails, and maybe all that come after it.
type fault struct {
	kind  string
	k     int
	err   error
	ever  bool // the calls after it fail as well
	bytes int  // are moved before
}

func (f fault) String() string {
	s := fmt.Sprintf("%s %d: %v after %d bytes", f.kind, f.k, f.err, f.bytes)
	if f.ever {
		s += " from then on"
	}
	return s
}

var faultErrors = []error{syscall.EIO, syscall.ENOSPC, syscall.ESTALE, syscall.EINTR, syscall.EACCES, syscall.EDQUOT}

// stage is where a scene is played again and again.
type stage struct {
	t                 testing.TB
	scene             scene
	in, temp, results string
	id                string // labels what the runs start

	mostRead int    // bytes of the input that a read gives, so that there are some
	outcomes [5]int // how often each exit code came of a fault

	whole  performance    // without faults
	prefix map[int]string // reports of the input's start, by the records accepted
}

// performance is one run with a fault in it.
type performance struct {
	code            int
	out, errs       string
	report, rejects string
	struck          []string // paths of the calls that failed
	held            int      // bytes of Arrow memory
	calls           map[string]int
}

var stages atomic.Int64

func newStage(t testing.TB, s scene) *stage {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := &stage{t: t, scene: s, in: filepath.Join(folder, "in"), temp: filepath.Join(folder, "temp"), results: filepath.Join(folder, "results"),
		id: fmt.Sprint("stage ", stages.Add(1)), prefix: map[int]string{}}
	for _, dir := range []string{g.in, g.temp, g.results} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range s.files {
		path := filepath.Join(g.in, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	g.mostRead = len(s.stdin)
	for _, text := range s.files {
		g.mostRead = max(g.mostRead, len(text))
	}
	g.mostRead = max(31, g.mostRead/s.parts)
	return g
}

// oldContent is what stands under the names of outputs before a run.
const oldContent = "what was there before"

func (g *stage) reportPath() string  { return filepath.Join(g.results, "report.json") }
func (g *stage) rejectsPath() string { return filepath.Join(g.results, "rejects.json") }

// play runs the scene with a fault, which may be of a kind that no call has.
func (g *stage) play(f fault) (p performance) {
	for _, path := range []string{g.reportPath(), g.rejectsPath()} {
		if err := os.WriteFile(path, []byte(oldContent), 0o644); err != nil {
			g.t.Fatal(err)
		}
	}
	calls := &callCounter{stage: g, fault: f, made: map[string]int{}}
	defer disk.Intercept(filepath.Dir(g.in), calls.ask)()
	checked := memory.NewCheckedAllocator(memory.NewGoAllocator())
	var out, errs bytes.Buffer
	s := streams{
		in:  &fallibleReader{calls, strings.NewReader(g.scene.stdin)},
		out: &fallibleWriter{calls, "stdout", &out}, err: &errs, memory: checked,
	}
	pprof.Do(context.Background(), pprof.Labels("stage", g.id), func(context.Context) { p.code = execute(g.args(), s) })
	p.out, p.errs, p.struck, p.calls, p.held = out.String(), errs.String(), calls.struck, calls.made, checked.CurrentAlloc()
	p.report, p.rejects = g.content(g.reportPath()), g.content(g.rejectsPath())
	if g.scene.stdout {
		p.report = p.out
	}
	return p
}

func (g *stage) args() []string {
	args := append([]string{g.scene.command, "--format", "json", "--jobs", "2", "--progress", "never", "--temp-dir", g.temp, "--rejects", g.rejectsPath()}, g.scene.args...)
	if !g.scene.stdout {
		args = append(args, "-o", g.reportPath())
	}
	for _, name := range g.scene.reads {
		if name != "-" {
			name = filepath.Join(g.in, name)
		}
		args = append(args, name)
	}
	return args
}

func (g *stage) content(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		g.t.Fatal(err)
	}
	return string(text)
}

// callCounter lets calls of one run be made, until that of its fault.
type callCounter struct {
	stage  *stage
	fault  fault
	mu     sync.Mutex
	made   map[string]int
	struck []string
}

func (c *callCounter) ask(call disk.Call) *disk.Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stage.scene.hidden && call.Kind == disk.OpenCall && (call.Path == c.stage.results || call.Path == c.stage.temp) {
		return &disk.Fault{Err: syscall.EOPNOTSUPP}
	}
	c.made[call.Kind]++
	n := c.made[call.Kind]
	switch {
	case call.Kind == c.fault.kind && (n == c.fault.k || n > c.fault.k && c.fault.ever):
		c.struck = append(c.struck, call.Path)
		return &disk.Fault{Bytes: min(c.fault.bytes, call.Size), Err: c.fault.err}
	case call.Kind == disk.SyncCall:
		return &disk.Fault{} // it would take long, and change nothing that can be seen
	case call.Kind == disk.ReadCall && call.Size > c.stage.mostRead && !strings.HasPrefix(call.Path, c.stage.temp):
		return &disk.Fault{Bytes: c.stage.mostRead}
	}
	return nil
}

// fallibleReader and fallibleWriter are streams that somebody else opened.
type fallibleReader struct {
	calls *callCounter
	r     io.Reader
}

func (r *fallibleReader) Read(p []byte) (int, error) {
	return move(r.calls.ask(disk.Call{Kind: disk.ReadCall, Path: "stdin", Size: len(p)}), "stdin", p, r.r.Read)
}

type fallibleWriter struct {
	calls *callCounter
	name  string
	w     io.Writer
}

func (w *fallibleWriter) Write(p []byte) (int, error) {
	return move(w.calls.ask(disk.Call{Kind: disk.WriteCall, Path: w.name, Size: len(p)}), w.name, p, w.w.Write)
}

func move(f *disk.Fault, name string, p []byte, call func([]byte) (int, error)) (n int, err error) {
	if f == nil {
		return call(p)
	}
	if n, err = call(p[:min(f.Bytes, len(p))]); err == nil && f.Err != nil {
		err = &fs.PathError{Op: "move", Path: name, Err: f.Err}
	}
	return n, err
}

// sweep has calls of every kind fail, until a run has none left.
func (g *stage) sweep() {
	g.whole = g.play(fault{})
	if g.whole.code != exitFine || g.whole.report == oldContent || !json.Valid([]byte(g.whole.report)) {
		g.t.Fatalf("%s: without a fault: exit code %d\n%s", g.scene.name, g.whole.code, g.whole.errs)
	}
	g.check(fault{}, g.whole)
	for kind := range g.whole.calls {
		for k := 1; g.strike(kind, k); k = afterCall(k) {
		}
	}
	g.noGoroutines()
}

// afterCall is the next call that fails. Each of the first does; a run with hundreds of
// them reads or writes one block of a file after the other. The race detector sees no
// more in many.
func afterCall(k int) int {
	if k < 24 && !racing.Enabled || k < 4 {
		return k + 1
	}
	return k + 11
}

// strike has a call fail, alone or with all that come after it: the first two both
// ways, the others in turn. It reports whether there is such a call.
func (g *stage) strike(kind string, k int) (struck bool) {
	for _, ever := range []bool{k%2 == 0, k%2 == 1} {
		f := fault{kind: kind, k: k, err: faultErrors[(k+len(kind))%len(faultErrors)], ever: ever, bytes: k % 3 * 37}
		p := g.play(f)
		g.check(f, p)
		if len(p.struck) == 0 {
			break
		}
		struck = true
		if p.code < len(g.outcomes) {
			g.outcomes[p.code]++
		}
		if k > 2 {
			break
		}
	}
	return struck
}

// check holds what one run left and said against what it may.
func (g *stage) check(f fault, p performance) {
	bad := func(format string, args ...any) {
		g.t.Helper()
		g.t.Errorf("%s, %v (%s): %s\nexit code %d, stderr: %s", g.scene.name, f, p.struck, fmt.Sprintf(format, args...), p.code, p.errs)
	}
	if p.held != 0 {
		bad("%d bytes of Arrow memory are held", p.held)
	}
	g.checkFolders(f, bad, p)
	switch p.code {
	case exitFine:
		if p.report != g.whole.report || p.rejects != g.whole.rejects && g.whole.rejects != "" {
			bad("the report or the rejects differ")
		}
	case exitFailed:
		g.checkFailed(f, p, bad)
	case exitIncomplete:
		g.checkIncomplete(f, p, bad)
	default:
		bad("an exit code that does not belong here")
	}
	if p.code != exitFine && len(p.struck) == 0 {
		bad("failed without a fault")
	}
}

type complaint func(format string, args ...any)

func (g *stage) checkFolders(f fault, bad complaint, p performance) {
	for _, folder := range []string{g.temp, g.results} {
		entries, err := os.ReadDir(folder)
		if err != nil {
			g.t.Fatal(err)
		}
		for _, e := range entries {
			path := filepath.Join(folder, e.Name())
			if path == g.reportPath() || path == g.rejectsPath() {
				continue
			}
			if f.kind != disk.RemoveCall {
				bad("%s is left", path)
			}
			os.Remove(path)
		}
	}
}

// checkFailed: one line says why and where, and what stood under the final names stands
// there still, or is whole.
func (g *stage) checkFailed(f fault, p performance, bad complaint) {
	lines := strings.Split(strings.TrimSuffix(p.errs, "\n"), "\n")
	last := lines[len(lines)-1]
	if !strings.HasPrefix(last, "tailscope: ") || strings.Count(p.errs, "tailscope: ") != len(lines) {
		bad("it does not say why on one line")
	}
	if !slices.ContainsFunc(p.struck, func(path string) bool { return strings.Contains(p.errs, placeNamed(path)) }) {
		bad("it does not name the place")
	}
	if !g.scene.stdout && p.report != oldContent && p.report != g.whole.report {
		bad("a report that is not whole: %.200s", p.report)
	}
	if g.scene.stdout && f.kind != disk.WriteCall && p.out != "" && p.out != g.whole.out {
		bad("a report that is not whole: %.200s", p.out)
	}
	if p.rejects != oldContent && p.rejects != g.whole.rejects && p.report == g.whole.report {
		bad("rejects that are not whole")
	}
}

// placeNamed is what an error has to name: the file, or the folder of one without a
// name.
func placeNamed(path string) string {
	if name := filepath.Base(path); strings.HasPrefix(name, "tailscope-") || strings.HasPrefix(name, ".") {
		return filepath.Dir(path)
	}
	return path
}

// checkIncomplete: the report is that of the records that were read, and says so.
func (g *stage) checkIncomplete(f fault, p performance, bad complaint) {
	var page document
	if err := json.Unmarshal([]byte(p.report), &page); err != nil {
		bad("%v", err)
		return
	}
	in := page.Input
	var broken []fileAccount
	sum := fileAccount{}
	for _, file := range in.Files {
		if file.Records != file.Accepted+file.Rejected+file.Blank {
			bad("%+v does not add up", file)
		}
		sum.add(file)
		if !file.Complete {
			broken = append(broken, file)
		}
	}
	if sum != in.fileAccount || in.Records != in.Accepted+in.Rejected+in.Blank {
		bad("%+v of %+v do not add up", sum, in.fileAccount)
	}
	if len(broken) == 0 || len(broken) > 1 && !f.ever || !strings.Contains(p.errs, broken[0].Path+" is incomplete") {
		bad("incomplete: %+v", broken)
		return
	}
	if g.scene.plain == "" {
		return
	}
	want := g.prefixOf(in.Accepted)
	if got := withoutInput(g.t, p.report); !reflect.DeepEqual(got, withoutInput(g.t, want)) {
		bad("the report is not that of the first %d records:\n%s\nwant\n%s", in.Accepted, p.report, want)
	}
}

type fileAccount struct {
	Path                               string
	Records, Accepted, Rejected, Blank int
	Complete                           bool
}

func (a *fileAccount) add(b fileAccount) {
	a.Records += b.Records
	a.Accepted += b.Accepted
	a.Rejected += b.Rejected
	a.Blank += b.Blank
}

type document struct {
	Input struct {
		fileAccount
		Files []fileAccount
	}
}

// withoutInput is a report but for the account of the input, and what was found wrong
// with it.
func withoutInput(t testing.TB, text string) map[string]any {
	var all map[string]any
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatalf("%v in %.300q", err, text)
	}
	delete(all, "input")
	if list, ok := all["findings"].([]any); ok {
		all["findings"] = slices.DeleteFunc(list, func(f any) bool { return f.(map[string]any)["code"] == "input_incomplete" })
	}
	return all
}

// prefixOf is the report of the longest start of the input of which so many records are
// accepted, read without a fault.
func (g *stage) prefixOf(accepted int) string {
	if text, known := g.prefix[accepted]; known {
		return text
	}
	text := g.scene.plain
	low, high := 0, len(text) // the start is at least low, and shorter than high+1
	for low < high {
		middle := (low + high + 1) / 2
		if n, _ := g.readStart(text[:middle]); n <= accepted {
			low = middle
		} else {
			high = middle - 1
		}
	}
	_, g.prefix[accepted] = g.readStart(text[:low])
	return g.prefix[accepted]
}

func (g *stage) readStart(text string) (accepted int, report string) {
	args := append([]string{g.scene.command, "--format", "json", "--temp-dir", g.temp}, g.scene.args...)
	r := tailscope(text, args...)
	if r.out == "" {
		return 0, ""
	}
	var page document
	if err := json.Unmarshal([]byte(r.out), &page); err != nil {
		g.t.Fatal(err)
	}
	return page.Input.Accepted, r.out
}

// noGoroutines waits until nothing goes on that a run has started.
func (g *stage) noGoroutines() {
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		var b bytes.Buffer
		pprof.Lookup("goroutine").WriteTo(&b, 1)
		if !strings.Contains(b.String(), fmt.Sprintf("%q", g.id)) {
			return
		}
		if time.Now().After(end) {
			i := strings.Index(b.String(), g.id)
			g.t.Errorf("%s: goroutines go on:\n%.2000s", g.scene.name, b.String()[max(0, i-200):])
			return
		}
	}
}

// TestAFaultAtAnyCallGivesNoWrongNumber and no half output, and leaves nothing.
func TestAFaultAtAnyCallGivesNoWrongNumber(t *testing.T) {
	t.Parallel()
	execute([]string{"version"}, streams{out: io.Discard}) // starts what stays: the reception of signals
	var mu sync.Mutex
	var outcomes [5]int
	all := append(scenes(t), spillScenes()...)
	if testing.Short() || racing.Enabled {
		few := []string{"analyze of lines", "in.csv plain", "hidden files", "spans are spilled to files with names"}
		all = slices.DeleteFunc(all, func(s scene) bool { return !slices.Contains(few, s.name) })
	}
	slices.SortFunc(all, func(a, b scene) int { return strings.Compare(a.name, b.name) })
	t.Run("scenes", func(t *testing.T) {
		for _, s := range all {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				g := newStage(t, s)
				g.sweep()
				mu.Lock()
				defer mu.Unlock()
				for code, n := range g.outcomes {
					outcomes[code] += n
				}
			})
		}
	})
	t.Logf("%d scenes; faults by the exit code that came of them: %v", len(all), outcomes)
}
