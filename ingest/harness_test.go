package ingest

import (
	"fmt"
	"io"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/ingest/selection"
	"github.com/tailscope/tailscope/internal/moment"
	"github.com/tailscope/tailscope/spans"
)

// how is the way in which a test reads its input; the zero value is the tool's
// without any flag.
type how struct {
	fields  []string // values of --field
	unit    string
	timeIs  string
	first   string // --first-attempt
	by      string
	format  string
	maxLine int
	hopName string
	preset  string
	where   []string
	since   string
	until   string
	chunk   int // size of chunks, 0 for the usual
	// firstRejects keeps only the first reject of each reason of a chunk.
	firstRejects bool
	rules        outcome.Config
	columns      *spans.Columns // nil for all
	callers      bool
}

func (h how) config(t testing.TB) Config {
	t.Helper()
	c := field.Config{Unit: moment.NoUnitGiven, TimeIs: h.timeIs, FirstAttempt: -1, By: h.by, HopName: h.hopName, Callers: h.callers}
	var err error
	if c.Selection, err = selection.New(h.where, h.since, h.until, time.Time{}); err != nil {
		t.Fatal(err)
	}
	c.Fields, c.Unit = flagsOf(t, h.fields), unitOf(h.unit)
	if h.first != "" {
		c.FirstAttempt = int(h.first[0] - '0')
	}
	return Config{Fields: settingsOf(t, c, h.rules), Format: h.format, Preset: h.preset, MaxLine: h.maxLine, sizes: format.Sizes{Chunk: h.chunk}}
}

func flagsOf(t testing.TB, fields []string) (flags []field.Flag) {
	t.Helper()
	for _, s := range fields {
		f, err := field.ParseFlag(s)
		if err != nil {
			t.Fatal(err)
		}
		flags = append(flags, f)
	}
	return flags
}

func unitOf(name string) moment.Unit {
	if u, ok := moment.ParseUnit(name); ok {
		return u
	}
	return moment.NoUnitGiven
}

// attempt is a row as a test reads it back.
type attempt struct {
	Line, Offset int64
	Hop          string
	Duration     time.Duration
	End          string // "completed", "truncated own", "failed refused"
	Marked       bool
	Retry        bool
	Speaks       bool // a message that does not count speaks of a timeout
	Tries        uint8
	Timeout      time.Duration
	Trace        string
	Start        string // RFC 3339, "" for none
	Resolution   uint8
	Stratum      string
	Instance     string
}

// decoded is what an input became.
type decoded struct {
	rows    []attempt
	hops    []int32 // index of each row's hop
	rejects []format.Reject
	summary Summary
	damage  error
	err     error // of Open
	chunks  int
	callers Callers
}

// warned returns the text of the warning of that code, "" where there is none.
func (d *decoded) warned(code string) string {
	for _, w := range d.summary.Warnings {
		if w.Code == code {
			return w.Text
		}
	}
	return ""
}

// decode reads an input as the tool does: Open, Next, Decode, Ledger. It fails
// the test where Arrow memory leaks or the ledger does not add up.
func decode(t testing.TB, h how, in string) decoded {
	t.Helper()
	return decodeSource(t, h, Source{Path: "in", Stdin: strings.NewReader(in)})
}

func decodeSource(t testing.TB, h how, src Source) (d decoded) {
	t.Helper()
	c := h.config(t)
	f, err := Open(src, c, new(atomic.Int64))
	if err != nil {
		return decoded{err: err}
	}
	defer f.Close()
	ledger := NewLedger()
	d.read(t, h, c, f, ledger)
	ledger.Done(f)
	d.summary, d.damage, d.chunks = ledger.Summary(false), f.Damage(), f.Chunks()
	if s := d.summary; s.Accepted != int64(len(d.rows)) || s.Records != s.Accepted+s.Rejected+s.Blank+s.Filtered {
		t.Errorf("%d records, %d accepted, %d rejected, %d blank, but %d rows", s.Records, s.Accepted, s.Rejected, s.Blank, len(d.rows))
	}
	return d
}

func (d *decoded) read(t testing.TB, h how, c Config, f *format.File, ledger *Ledger) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	columns := spans.Traces | spans.Starts | spans.Positions | spans.Strata | spans.Resolutions | spans.Instances | spans.Hosts | spans.Texts
	if h.columns != nil {
		columns = *h.columns
	}
	decoder := NewDecoder(c, mem, columns, !h.firstRejects)
	defer decoder.Release()
	take := func(b *spans.Batch) {
		for i := range b.Len() {
			d.rows = append(d.rows, readBack(b, i))
			d.hops = append(d.hops, b.Hop[i])
		}
		b.Release()
	}
	for {
		chunk, err := f.Next()
		if err == io.EOF {
			break
		}
		tally := decoder.Decode(chunk, take)
		spoil(chunk)
		d.rejects = append(d.rejects, tally.Rejects...)
		if err := ledger.Add(tally); err != nil {
			t.Error(err)
		}
	}
	decoder.Flush(take)
	decoder.AddCallers(&d.callers)
}

// spoil gives a chunk back after it was written over: nothing may look at it any
// more.
func spoil(c *format.Chunk) {
	for i := range c.Data {
		c.Data[i] = '#'
	}
	c.Release()
}

func readBack(b *spans.Batch, i int) attempt {
	a := attempt{
		Hop: column(b, "hop", i), Stratum: column(b, "stratum", i), Duration: time.Duration(b.Duration[i]), Timeout: time.Duration(b.Timeout[i]),
		Marked: b.Marked(i), Retry: b.Retry(i), Speaks: b.Speaks(i), Tries: b.Tries[i], Trace: string(b.Trace(i)),
		End: ending(spans.Outcome(b.Outcome[i]), spans.CutBy(b.CutBy[i]), spans.Failure(b.Failure[i])),
	}
	if b.Line != nil {
		a.Line, a.Offset = b.Line[i], b.Offset[i]
	}
	if b.Instance != nil {
		a.Instance = b.Instances[b.Instance[i]]
	}
	if b.Resolution != nil {
		a.Resolution = b.Resolution[i]
	}
	if ns, ok := b.Start(i); ok {
		a.Start = time.Unix(0, ns).UTC().Format(time.RFC3339Nano)
	}
	return a
}

func ending(o spans.Outcome, by spans.CutBy, kind spans.Failure) string {
	return strings.TrimSpace(o.String() + " " + by.String() + kind.String())
}

func column(b *spans.Batch, name string, i int) string {
	for n, f := range b.Record().Schema().Fields() {
		if f.Name == name {
			return b.Record().Column(n).ValueStr(i)
		}
	}
	return ""
}

// chunkSizes are sizes at which the splitter meets every place of a small input.
var chunkSizes = []int{1, 2, 3, 7, 16, 64}

// decodeAnyhow decodes an input at many chunk sizes, fails the test where what
// comes out differs, and returns it.
func decodeAnyhow(t testing.TB, h how, in string) decoded {
	t.Helper()
	want := decode(t, h, in)
	for _, h.chunk = range chunkSizes {
		got := decode(t, h, in)
		got.chunks = want.chunks
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("%q in chunks of %d bytes:\n%s", in, h.chunk, cmp.Diff(want.parts(), got.parts()))
		}
	}
	return want
}

func (d decoded) parts() []any {
	return []any{d.rows, d.hops, d.rejects, d.summary, fmt.Sprint(d.damage), fmt.Sprint(d.err)}
}

// one decodes an input of one valid record.
func one(t testing.TB, h how, in string) attempt {
	t.Helper()
	d := decodeAnyhow(t, h, in)
	if d.err != nil || len(d.rows) != 1 || len(d.rejects) > 0 {
		t.Fatalf("%s\n gives %d rows, rejects %v, error %v", in, len(d.rows), d.rejects, d.err)
	}
	return d.rows[0]
}

// same fails the test where got is not want.
func same[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func pick[T, U any](list []T, f func(T) U) []U {
	var out []U
	for _, v := range list {
		out = append(out, f(v))
	}
	return out
}

func hopOf(a attempt) string { return a.Hop }

func newChecked(t testing.TB) *memory.CheckedAllocator {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return mem
}

// settingsMade are those that settingsOf built, as most tests ask for the same.
var settingsMade sync.Map

// settingsOf builds settings that are right.
func settingsOf(t testing.TB, c field.Config, r outcome.Config) *format.Settings {
	t.Helper()
	key := fmt.Sprintf("%#v %#v", c, r)
	if made, ok := settingsMade.Load(key); ok {
		return made.(*format.Settings)
	}
	s, err := NewSettings(c, r)
	if err != nil {
		t.Fatal(err)
	}
	settingsMade.Store(key, s)
	return s
}

// every is 1, or n where tests are to be short: they try each n-th case then.
func every(n int) int {
	if testing.Short() {
		return n
	}
	return 1
}

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // tests open many small inputs
	m.Run()
}
