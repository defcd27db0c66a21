package main

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rawTrace is a trace of a Jaeger document, as far as a test picks by it.
type rawTrace struct {
	TraceID   string          `json:"traceID"`
	Spans     []rawSpan       `json:"spans"`
	Processes json.RawMessage `json:"processes"`
}

type rawSpan map[string]any

// slow reports whether anything in the trace was cut or took more than 300 ms.
func (r rawTrace) slow() bool {
	return slices.ContainsFunc(r.Spans, func(s rawSpan) bool {
		ms, _ := s["duration"].(json.Number).Int64()
		return ms > 300_000 || slices.ContainsFunc(s["tags"].([]any), func(tag any) bool { return tag.(map[string]any)["key"] == "error" })
	})
}

// tag adds a tag to the spans without a reference: the roots.
func (r rawTrace) tag(key string, value any) {
	for _, s := range r.Spans {
		if len(s["references"].([]any)) == 0 {
			s["tags"] = append(s["tags"].([]any), map[string]any{"key": key, "type": "string", "value": value})
		}
	}
}

// chosen writes the chain's traces that keep picks, which may tag them.
func chosen(t *testing.T, keep func(rawTrace) bool) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(plainText(t, jaegerRaw)))
	d.UseNumber()
	var document struct {
		Data []rawTrace `json:"data"`
	}
	if err := d.Decode(&document); err != nil {
		t.Fatal(err)
	}
	document.Data = slices.DeleteFunc(document.Data, func(r rawTrace) bool { return !keep(r) })
	out, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// biasedChain has all traces that were cut or slow and 1 % of the others.
func biasedChain(t *testing.T) string {
	r := rand.New(rand.NewPCG(8, 3))
	return chosen(t, func(one rawTrace) bool { return r.IntN(100) == 0 || one.slow() })
}

// sampledHop is what the tests read of how a hop was sampled.
type sampledHop struct {
	Hop       string
	Completed struct {
		Quantiles []any
		Mean      *int64 `json:"mean_ns"`
	}
	TruncatedShare struct{ Value *float64 } `json:"truncated_share"`
	FailedShare    *float64                 `json:"failed_share"`
	Tail           []struct {
		P, Status, Reason string
		N                 int
		Value             *int64 `json:"value_ns"`
		Lower             *int64 `json:"lower_ns"`
		Upper             *int64 `json:"upper_ns"`
		KM                *int64 `json:"km_ns"`
	}
	Warnings []struct{ Code string }
}

type sampledPage struct {
	Input struct {
		Sampling struct{ Kind, Evidence string }
		Warnings []struct{ Code, Text string }
	}
	Hops []sampledHop
}

func sampled(t *testing.T, stdin string, args ...string) sampledPage {
	t.Helper()
	var p sampledPage
	if err := json.Unmarshal([]byte(must(t, stdin, append([]string{"analyze", "--format", "json"}, args...)...)), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p sampledPage) warning(code string) string {
	for _, w := range p.Input.Warnings {
		if w.Code == code {
			return w.Text
		}
	}
	return ""
}

func TestBiasedTracesHaveNoQuantile(t *testing.T) {
	t.Parallel()
	p := sampled(t, biasedChain(t), "--sampling", "biased", "-")
	if p.Input.Sampling.Kind != "biased" || p.warning("suspected_biased_sample") != "" || len(p.Hops) != 5 {
		t.Errorf("%+v, %d hops", p.Input, len(p.Hops))
	}
	for _, h := range p.Hops {
		if h.TruncatedShare.Value != nil || h.FailedShare != nil || len(h.Completed.Quantiles) > 0 || h.Completed.Mean != nil {
			t.Errorf("%s: shares %v %v, completed %+v", h.Hop, h.TruncatedShare.Value, h.FailedShare, h.Completed)
		}
		for _, q := range h.Tail {
			if q.Status != "no_value" || q.Value != nil || q.Lower != nil || q.Upper != nil || q.KM != nil || !strings.HasPrefix(q.Reason, "biased sample: ") {
				t.Errorf("%s p=%s: %+v", h.Hop, q.P, q)
			}
		}
	}
}

func TestBiasedTracesAreSuspected(t *testing.T) {
	t.Parallel()
	p := sampled(t, biasedChain(t), "-")
	if p.Input.Sampling.Kind != "unknown" || !strings.Contains(p.warning("suspected_biased_sample"), "failed or hold attempts that timed out") {
		t.Errorf("%+v", p.Input)
	}
	if got := p.Hops[0].Tail[0]; got.Status == "no_value" || got.Value == nil {
		t.Errorf("a suspicion took the value away: %+v", got)
	}
	if none := sampled(t, biasedChain(t), "--sampling", "none", "-"); none.Input.Sampling.Kind != "none" || len(none.Input.Warnings) > 0 {
		t.Errorf("%+v", none.Input)
	}
}

// A suspicion changes no byte of the hops, and neither does a flag that says
// that the sample is fair, nor a rate that all traces share.
func TestEqualWeightsChangeNoByteOfTheHops(t *testing.T) {
	t.Parallel()
	want := hopsOf(t, "", jaegerRaw)
	rated := chosen(t, func(r rawTrace) bool {
		r.tag("sampler.type", "probabilistic")
		r.tag("sampler.param", "0.3")
		return true
	})
	if p := sampled(t, rated, "-"); p.Input.Sampling.Kind != "probability" || !strings.HasSuffix(p.Input.Sampling.Evidence, ": probability 0.3") || len(p.Input.Warnings) > 0 {
		t.Errorf("%+v", p.Input)
	}
	for name, got := range map[string]string{
		"said none":        hopsOf(t, "", "--sampling", "none", jaegerRaw),
		"said probability": hopsOf(t, "", "--sampling", "probability=0.01", jaegerRaw),
		"carried":          hopsOf(t, rated, "-"),
		"seven jobs":       hopsOf(t, rated, "--jobs", "7", "-"),
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%.2000s", name, diff)
		}
	}
}

// Half of the fast traces kept at weight 2 beside all slow ones: the quantiles
// are again about those of all traces, the unweighted ones are not.
func TestUnequalWeightsMendAChosenSample(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	input := chosen(t, func(one rawTrace) bool {
		weight := "1"
		if !one.slow() {
			weight = "2"
		}
		one.tag("stands.for", weight)
		return one.slow() || r.IntN(2) == 0
	})
	args := []string{"--weight-field", "stands.for", "--quantiles", "0.5,0.95", "-"}
	p := sampled(t, input, args...)
	if p.Input.Sampling.Kind != "probability" || !strings.HasSuffix(p.Input.Sampling.Evidence, ": probabilities 0.5 to 1") {
		t.Errorf("%+v", p.Input.Sampling)
	}
	h := p.Hops[1] // gateway call orders
	if h.Warnings[0].Code != "weighted" || h.Tail[1].Status != "exact" || h.TruncatedShare.Value == nil {
		t.Fatalf("%+v", h)
	}
	// Of all traces p95 is 262.011 ms and 4.8 % of the calls were cut.
	if got := *h.Tail[1].Value / 1e6; got < 150 || got > 284 || *h.TruncatedShare.Value < .043 || *h.TruncatedShare.Value > .053 {
		t.Errorf("p95 %d ms, share %v", got, *h.TruncatedShare.Value)
	}
	if plain := sampled(t, input, "--sampling", "none", "--quantiles", "0.95", "-").Hops[1]; plain.Tail[0].Status != "at_least" {
		t.Errorf("unweighted: %+v", plain.Tail)
	}
	for _, format := range []string{"text", "json", "csv", "markdown"} {
		all := append([]string{"analyze", "--format", format, "-j"}, "1")
		want := must(t, input, append(all, args...)...)
		all[len(all)-1] = "8"
		if diff := cmp.Diff(want, must(t, input, append(all, args...)...)); diff != "" {
			t.Errorf("%s depends on the workers:\n%.2000s", format, diff)
		}
	}
}
