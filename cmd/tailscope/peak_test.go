package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"github.com/tailscope/tailscope/internal/racing"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// peakVariable names a file for what the kernel says of a run's memory at its end. The
// usage that a parent is told of is no use: there it counts as its own child.
const peakVariable = "TAILSCOPE_TEST_STATUS"

// keepStatus writes that file, if there is to be one.
func keepStatus() {
	if path := os.Getenv(peakVariable); path != "" {
		status, _ := os.ReadFile("/proc/self/status")
		_ = os.WriteFile(path, status, 0o644)
	}
}

// text writes an input that is mostly the same bytes over and over.
type text struct{ *bufio.Writer }

func (w text) many(s string, n int) {
	block := strings.Repeat(s, max(1, min(n, 1<<16/len(s))))
	for left := n * len(s); left > 0; {
		k, _ := w.WriteString(block[:min(left, len(block))])
		left -= k
	}
}

// around writes one string between two others.
func (w text) around(before, s string, n int, after string) {
	w.WriteString(before)
	w.many(s, n)
	w.WriteString(after)
}

const (
	hopLine    = `{"chain_id":"7","hop":"a","duration_ms":5}` + "\n"
	jaegerSpan = `{"traceID":"a1","spanID":"b1","operationName":"op","references":[],"startTime":1768442400000000,"duration":1000,"processID":"p","tags":[]}`
	processes  = `"processes":{"p":{"serviceName":"s"}}`
	jaegerOne  = `{"traceID":"a1","spans":[` + jaegerSpan + `],` + processes + `}`
	otlpName   = `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"`
	otlpRest   = `"}}]},"scopeSpans":[{"spans":[{"traceId":"a1","spanId":"b1","name":"op","startTimeUnixNano":"1768442400000000000","endTimeUnixNano":"1768442400001000000"}]}]}]}` + "\n"
)

// hostile are inputs of which a few kilobytes become gigabytes; n is how large the
// large part is, in MiB or in thousands of spans, in a quick test and in a long one.
var hostile = []struct {
	name        string
	quick, long int
	write       func(w text, n int)
	command     string
	want        string // accepted, rejected, and the first reject
}{
	{"zeros in a hop log", 300, 10 << 10, func(w text, n int) { w.around(hopLine, "\x00", n<<20, "\n"+hopLine) }, "analyze", "2 1 line 2, byte 43: line_too_long"},
	{"zeros among spans", 300, 10 << 10, func(w text, n int) {
		w.around(`{"data":[{"traceID":"a1","spans":[`+jaegerSpan, "\x00", n<<20, `],`+processes+`}]}`)
	}, "analyze", "1 1 line 1, byte 172: line_too_long"},
	{"blanks between traces", 300, 1 << 10, func(w text, n int) { w.around(`{"data":[`+jaegerOne, " ", n<<20, `]}`) }, "analyze", "1 0"},
	{"a key of a hop log", 100, 100, func(w text, n int) { w.around(hopLine+`{"`, "k", n<<20, `":1,"hop":"a","duration_ms":5}`+"\n"+hopLine) }, "analyze", "2 1 line 2, byte 43: line_too_long"},
	{"a key of a tag", 100, 100, func(w text, n int) {
		w.around(`{"data":[{"traceID":"a1","spans":[`+jaegerSpan+`,{"traceID":"a1","spanID":"b2","tags":[{"key":"`, "k", n<<20, `","value":1}]}],`+processes+`}]}`)
	}, "analyze", "1 1 line 1, byte 173: line_too_long"},
	{"a key of a document", 100, 100, func(w text, n int) { w.around(`{"data":[`+jaegerOne+`],"`, "k", n<<20, `":{}}`) }, "analyze", "1 1 line 1, byte 214: line_too_long"},
	{"the name of a hop", 230, 230, func(w text, n int) { w.around(hopLine+`{"duration_ms":5,"hop":"`, "h", n<<20, `"}`+"\n"+hopLine) }, "analyze", "2 1 line 2, byte 43: line_too_long"},
	{"a cell", 230, 230, func(w text, n int) { w.around("chain,hop,duration_ms\n1,a,5\n1,\"", "h", n<<20, "\",5\n1,a,5\n") }, "analyze", "2 1 line 3, byte 28: line_too_long"},
	{"a service of Jaeger", 300, 1 << 10, func(w text, n int) {
		w.around(`{"data":[`+jaegerOne+`,{"traceID":"a2","spans":[`+jaegerSpan+`],"processes":{"p":{"serviceName":"`, "s", n<<20, `"}}}]}`)
	}, "analyze", "1 1 line 1, byte 213: line_too_long"},
	{"a service of OTLP", 300, 1 << 10, func(w text, n int) { w.around(otlpName+"s"+otlpRest+otlpName, "s", n<<20, otlpRest) }, "analyze", "1 1 line 2, byte 271: line_too_long"},
	{"names below the limit", 30, 120, func(w text, n int) {
		for i := range n / 15 {
			w.around(fmt.Sprintf(`{"duration_ms":5,"hop":"%d`, i), "h", 15<<20, `"}`+"\n")
		}
	}, "quantiles", ""},
	{"keys below the limit", 300, 900, func(w text, n int) {
		for i := range n / 15 {
			w.around(fmt.Sprintf(`{"duration_ms":5,"hop":"a","%d`, i), "k", 15<<20, `":1}`+"\n")
		}
	}, "analyze", ""},
	{"one span again and again", 300, 1000, func(w text, n int) {
		w.around(`{"data":[{"traceID":"a1","spans":[`, jaegerSpan+`,`, 1000*n-1, jaegerSpan+`],`+processes+`}]}`)
	}, "analyze", ""},
	{"one chain again and again", 300, 1000, func(w text, n int) { w.many(hopLine, 1000*n) }, "quantiles", ""},
}

// TestHostileInputsTakeLittleMemory measures the most memory that a run has at once.
func TestHostileInputsTakeLittleMemory(t *testing.T) {
	if runtime.GOOS != "linux" || racing.Enabled {
		t.Skip("the kernel says what a run took, and the race detector takes more")
	}
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n, want := c.long, c.want
			if testing.Short() {
				n = c.quick
			}
			switch {
			case strings.HasSuffix(c.name, "below the limit"):
				want = fmt.Sprint(n/15, " 0")
			case want == "":
				want = fmt.Sprint(1000*n, " 0")
			}
			path := filepath.Join(t.TempDir(), "in.zst")
			compressed(t, path, func(w text) { c.write(w, n) })
			got, peak := measured(t, c.command, "--jobs", "2", "--temp-dir", t.TempDir(), "--format", "json", path)
			if got != want || peak > 256<<20 {
				t.Errorf("%d MiB at most; read %q, want %q", peak>>20, got, want)
			}
		})
	}
}

func compressed(t *testing.T, path string, write func(text)) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	w := text{bufio.NewWriterSize(z, 1<<18)}
	write(w)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

var highWater = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)

// peakOf runs the program, and returns its report and the most bytes it had at once.
func peakOf(t *testing.T, args ...string) (report string, peak int64) {
	t.Helper()
	status := filepath.Join(t.TempDir(), "status")
	run := exec.Command("tailscope", args...)
	run.Env = append(os.Environ(), peakVariable+"="+status)
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	about, err := os.ReadFile(status)
	if err != nil {
		t.Fatal(err)
	}
	kilobytes, err := strconv.ParseInt(string(highWater.FindSubmatch(about)[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return string(out), kilobytes << 10
}

// measured runs the program, and returns what it read and the most bytes it had at once.
func measured(t *testing.T, args ...string) (read string, peak int64) {
	t.Helper()
	report, peak := peakOf(t, args...)
	if len(report) > 1<<20 {
		t.Errorf("a report of %d bytes", len(report))
	}
	return inputOf(t, []byte(report)), peak
}

// inputOf is what a report says of its input.
func inputOf(t *testing.T, report []byte) string {
	t.Helper()
	var r struct {
		Input struct {
			Accepted, Rejected int64
			Rejects            []struct {
				Reason string
				First  struct{ Line, Offset int64 }
			}
		}
	}
	if err := json.Unmarshal(report, &r); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(r.Input.Accepted, " ", r.Input.Rejected)
	for _, reject := range r.Input.Rejects {
		text += fmt.Sprintf(" line %d, byte %d: %s", reject.First.Line, reject.First.Offset, reject.Reason)
	}
	return text
}
