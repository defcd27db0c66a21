package trace

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/internal/moment"
	"github.com/tailscope/tailscope/spans"
)

// TestShortcutsAreTaken: a shortcut that is never taken changes nothing either.
func TestShortcutsAreTaken(t *testing.T) {
	rules, err := outcome.NewSet(outcome.Config{})
	if err != nil {
		t.Fatal(err)
	}
	one := newDecoder(&format.Settings{Rules: rules, Tags: NewTable(field.Config{}, rules)}, 0)
	var tally format.Tally
	in := []byte(`{"traceID":"7","spans":[` + strings.Repeat(`{"traceID":"7","spanID":"8","operationName":"a","references":[],"startTime":1,"duration":2,"tags":[{"key":"error","type":"bool","value":true}],"logs":[],"processID":"p1","warnings":null},`, 2) +
		`{"traceID":"7","spanID":"9","operationName":"a","processID":"p1"}],"processes":{"p1":{"serviceName":"b","tags":[]}},"warnings":null}`)
	one.begin(&format.Chunk{Data: in, Note: &fragment{}}, &tally, noSpans{})
	if n, ok := newJaegerReader(&one.spanReader).fastTrace(located{in, 0}); !ok || n != len(in) || tally.Accepted != 3 {
		t.Errorf("a trace: %d bytes, %v, %d spans", n, ok, tally.Accepted)
	}
}

// noSpans takes spans and keeps none.
type noSpans struct{ format.Sink }

func (noSpans) Host([]byte) int32                                   { return 0 }
func (noSpans) Peer([]byte) int32                                   { return 0 }
func (noSpans) Stratum([]byte) int32                                { return 0 }
func (noSpans) Span(*spans.Row, []byte, []byte, []byte, spans.Kind) {}

// TestPlainTimesAreThoseOfTheGeneralReader at the ends of what fits.
func TestPlainTimesAreThoseOfTheGeneralReader(t *testing.T) {
	for _, n := range []uint64{0, 1, 9, 999_999_999, 1e10, 1768442400000000, math.MaxInt64 / 1000, math.MaxInt64/1000 + 1, math.MaxInt64, math.MaxInt64 + 1, 9_999_999_999_999_999_999} {
		for _, unit := range []moment.Unit{moment.Nanoseconds, moment.Microseconds} {
			v := field.Value{Raw: strconv.AppendUint(nil, n, 10), Kind: jsonscan.Number, Use: &field.Use{Unit: unit}}
			want, err := moment.ParseDuration(v.Raw, unit)
			got, ok := fastTime(&v)
			if ok != (err == nil) || ok && got != want {
				t.Errorf("%d %v: %+v %v, want %+v %v", n, unit, got, ok, want, err)
			}
		}
	}
}
