package hoplog

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/spans"
)

// same fails the test where got is not want.
func same[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// plainColumns are columns with which lines can be plain.
var plainColumns = spans.Positions | spans.Resolutions

// traceColumns are those of lines that are put together to chains.
var traceColumns = plainColumns | spans.Traces | spans.Starts

// ownerColumns are those of chains whose instances count.
var ownerColumns = traceColumns | spans.Instances

// noRows takes rows and keeps none.
type noRows struct{ format.Sink }

func (noRows) Attempt(*spans.Row, []byte, []byte, []byte) {}

func TestRowsOfAPlainHeaderArePlain(t *testing.T) {
	for header, plain := range map[string]bool{
		"time,chain_id,hop,duration_us,truncated,attempt": true, "hop,duration_ms,status": true, "hop,service,duration_ms": false, "hop,duration": false,
		"hop,duration_us,host": true, "hop,duration_us,hostname,pod,node": true, "hop,duration_us,pod,POD": false,
	} {
		s := settings(t)
		d := newDelimited(s, plainColumns)
		h, err := newHeader([]byte(header), newCutter(',', maxQuoted), s)
		if err != nil {
			t.Fatal(err)
		}
		same(t, header, d.fastFor(h).row != nil, plain)
		d.columns = ownerColumns
		same(t, header+" with instances", d.fastFor(h).row != nil, plain)
	}
}

// Which lines take the short way is seen in what the decoder learned.
func TestLinesOfOneLayoutArePlain(t *testing.T) {
	for name, c := range map[string]struct {
		line    string
		fastRow bool
	}{
		"the usual": {`{"time":"2026-01-15T02:00:00Z","chain_id":"c-1","hop":"a","duration_us":38853,"truncated":false,"attempt":1}`, true},
		"a status":  {`{"hop":"a","duration_ms":1.5,"status":200,"msg":"done","tags":{"a":[1,2]}}`, true},
		"nested":    {`{"hop":"a","duration_ms":1,"http":{"response":{"status_code":200}},"rpc":{"grpc":{"status_code":0}}}`, true},
		"a timeout": {`{"hop":"a","duration_ms":1,"timeout_ms":500,"retry":false,"attempt":2}`, true},
		"a pod":     {`{"hop":"a","duration_ms":1,"kubernetes":{"pod_name":"a-1","host":"n-1"},"hostname":"n-1","node":{"id":7}}`, true},
		"two hops":  {`{"hop":"a","service":"b","duration_ms":1}`, false},
		"who cut":   {`{"hop":"a","duration_ms":1,"cut_by":null}`, false},
	} {
		for _, columns := range []spans.Columns{plainColumns, ownerColumns} {
			d := newNDJSON(settings(t), columns)
			chunk := &format.Chunk{File: &format.File{MaxLine: format.DefaultMaxLine}, Line: 1, Data: []byte(strings.Repeat(c.line+"\n", 10))}
			d.Decode(chunk, &format.Tally{Chunk: chunk}, noRows{})
			l := d.layouts
			if l.list[0] == nil || l.list[1] != nil {
				t.Fatalf("%s: not one layout", name)
			}
			same(t, name, l.list[0].fast != nil, c.fastRow)
		}
	}
}

// Learning must not cost more than reading: a line of very many values, or a very
// long one, has no layout.
func TestALineOfVeryManyValuesHasNoLayout(t *testing.T) {
	for name, more := range map[string]struct {
		fields  string
		learned bool
	}{
		"some":   {strings.Repeat(`,"k":[1]`, 1), true},
		"many":   {manyKeys(mostSlots - 2), true},
		"more":   {manyKeys(mostSlots - 1), false},
		"longer": {`,"k":"` + strings.Repeat("x", longestLine) + `"`, false},
	} {
		d := newNDJSON(settings(t), plainColumns)
		line := []byte(`{"hop":"a","duration_ms":1` + more.fields + "}\n")
		d.layouts.miss(d, line)
		same(t, name, d.layouts.list[0] != nil, more.learned)
		if more.learned {
			n, short := d.layouts.read(&d.scanner, slices.Concat(line, line))
			same(t, name+": length", n, len(line))
			same(t, name+": plain", short != nil, true)
		}
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"k` + strconv.Itoa(i) + `":[]`)
	}
	return b.String()
}

// A key with two meanings would not be read the short way.
func TestAHopThatIsAnInstanceHasOneMeaning(t *testing.T) {
	s := settings(t, "hop=Pod")
	d := newDelimited(s, ownerColumns)
	h, err := newHeader([]byte("Pod,duration_ms"), newCutter(',', maxQuoted), s)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "plain", d.fastFor(h).row != nil, true)
}
