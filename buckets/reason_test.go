package buckets

import (
	"strings"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

func TestReasons(t *testing.T) {
	const canary = "; a canary with a raised timeout needs first attempts: 59 for p95"
	five := cut(500, 500, 500, 500, 500)
	p95, hundred := asked("0.95"), done(to(100)...)
	certain := p95
	certain.Confidence = asked("0.9999").Quantiles[0]
	for name, c := range map[string]struct {
		timeout int64
		q       Query
		log     rows
		want    string
	}{
		"nothing to explain":   {0, p95, done(to(59)...), ""},
		"too few":              {0, p95, done(to(58)...), "no upper limit from 58 first attempts: p95 needs 59"},
		"no number is enough":  {0, asked("1"), done(to(58)...), ""},
		"first cut too near":   {0, p95, all(hundred, cut(97)), "between 95 and 96 ms; 1 of 101 first attempts timed out (0.99 %; one-sided 95 % limits 0.05 % and 4.61 %), the first before p95; those that timed out, at 97 ms, show no common timeout: if h has one, set --timeout h=T"},
		"no first attempt":     {0, p95, all(failed(5), done(7).retried()), "no first attempt completed or timed out"},
		"nothing completed":    {0, p95, cut(4001, 4009), "no completion observed; timeouts recorded at 4.001..4.009 s: set --timeout h=T"},
		"one cut alone":        {0, p95, cut(4001), "no completion observed; timeouts recorded at 4.001 s: set --timeout h=T"},
		"beyond the wall":      {500, p95, all(hundred, five.times(3)), "15 of 115 first attempts timed out (13 %; one-sided 95 % limits 8.22 % and 19.4 %), more than the 5 % beyond p95: it lies beyond the timeout at 95 % confidence; timeout 500 ms; highest certifiable quantile p80" + canary},
		"undecided":            {500, p95, all(hundred, five, five[:1]), "6 of 106 first attempts timed out (5.66 %; one-sided 95 % limits 2.49 % and 10.9 %): whether p95 lies beyond the timeout is undecided at 95 % confidence; timeout 500 ms; highest certifiable quantile p89" + canary},
		"completed above":      {0, p95, all(hundred, cut(50)), "between 95 and 96 ms; 1 of 101 first attempts timed out (0.99 %; one-sided 95 % limits 0.05 % and 4.61 %), the first before p95; those that timed out, at 50 ms, show no common timeout: if h has one, set --timeout h=T"},
		"no wall":              {0, p95, all(hundred, cut(200, 300, 400, 500, 600, 700, 800)), "7 of 107 first attempts timed out (6.54 %; one-sided 95 % limits 3.11 % and 11.9 %), the first before p95; those that timed out, at 200..800 ms, show no common timeout: if h has one, set --timeout h=T; highest certifiable quantile p88" + canary},
		"a cut below the wall": {500, p95, all(hundred, five, cut(200).by(spans.Caller)), "6 of 106 first attempts timed out or were cancelled (5.66 %; one-sided 95 % limits 2.49 % and 10.9 %), the first before p95; timeout 500 ms; highest certifiable quantile p89" + canary},
		"just below the wall":  {500, p95, all(hundred, five, cut(500).each(func(one *row) { one.Duration -= 7 * us })), "6 of 106 first attempts timed out (5.66 %; one-sided 95 % limits 2.49 % and 10.9 %): whether p95 lies beyond the timeout is undecided at 95 % confidence; timeout 500 ms; highest certifiable quantile p89" + canary},
		"an early wall":        {0, p95, all(done(to(1000)...), cut(50).times(5)), "between 950 and 955 ms; 5 of 1005 first attempts timed out (0.5 %; one-sided 95 % limits 0.2 % and 1.04 %), the first before p95; those that timed out, at 50 ms, show no common timeout: if h has one, set --timeout h=T"},
		"an upper limit alone": {0, p95, all(done(600), five.times(3)), "15 of 16 first attempts timed out (93.8 %; one-sided 95 % limits 73.6 % and 99.7 %), more than the 5 % beyond p95: it lies beyond the timeout at 95 % confidence; timeout at most 500 ms (set --timeout h=T); no quantile is certifiable" + canary},
		"several walls":        {0, p95, all(hundred, five, cut(900).under(800)), "6 of 106 first attempts timed out (5.66 %; one-sided 95 % limits 2.49 % and 10.9 %) at 2 timeouts, the first before p95; timeouts 800 ms, between 100 and 500 ms (set --timeout h=T); highest certifiable quantile p89" + canary},
		"nothing certifiable":  {0, p95, all(cut(1), done(5, 6)), "1 of 3 first attempts timed out (33.3 %; one-sided 95 % limits 1.7 % and 86.5 %), the first before p95; those that timed out, at 1 ms, show no common timeout: if h has one, set --timeout h=T; highest certifiable quantile p13" + canary},
		"no canary is enough":  {500, asked("1"), all(hundred, five), "5 of 105 first attempts timed out (4.76 %; one-sided 95 % limits 1.89 % and 9.75 %), more than the 0 % beyond p100: it lies beyond the timeout at 95 % confidence; timeout 500 ms; highest certifiable quantile p90"},
		"more confidence":      {500, certain, all(hundred, five.times(9)), "45 of 145 first attempts timed out (31 %; one-sided 99.99 % limits 18 % and 46.6 %), more than the 5 % beyond p95: it lies beyond the timeout at 99.99 % confidence; timeout 500 ms; highest certifiable quantile p53; a canary with a raised timeout needs first attempts: 180 for p95"},
		"without any mark":     {500, without(p95), all(hundred, done(500).times(6).unmarked()), "6 of 106 first attempts timed out (5.66 %; one-sided 95 % limits 2.49 % and 10.9 %): whether p95 lies beyond the timeout is undecided at 95 % confidence; timeout 500 ms; highest certifiable quantile p89" + canary + "; no estimate: the input does not say which attempts timed out"},
	} {
		r := hopOf(t, timeouts(map[string]int64{"h": c.timeout}), c.q, c.log)
		if got := r.Tail[0].Reason; got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// A canary is sized for each quantile that is not exact.
func TestTheCanaryIsForAllUnknownQuantiles(t *testing.T) {
	r := hopOf(t, NewConfig(nil), asked("0.5", "0.99", "0.9"), all(done(to(80)...), cut(500).times(20)))
	want := "a canary with a raised timeout needs first attempts: 299 for p99, 29 for p90"
	for _, i := range []int{1, 2} {
		if got := r.Tail[i].Reason; !strings.HasSuffix(got, want) {
			t.Errorf("%s: %q", r.Tail[i].P.Label(), got)
		}
	}
}

func TestHopNamesAreFitForAShell(t *testing.T) {
	for name, want := range map[string]string{
		"orders": "orders", "svc/a.b-c_D9": "svc/a.b-c_D9", "GET /": `"GET /"`, "": `""`, "it's": `"it's"`, "größe": `"größe"`, "a;b": `"a;b"`,
		"$HOME": `'$HOME'`, `call "x"`: `'call "x"'`, "`id`": "'`id`'", `a\b`: `'a\b'`, "ha!": "'ha!'", "it's $5": `'it'\''s $5'`,
	} {
		if got := (tailer{hop: &hop{Hop: spans.Hop{Name: name}}}).hopText(); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

func TestRangeText(t *testing.T) {
	for _, c := range []struct {
		from, to int64
		want     string
	}{
		{2026 * ms, 5703 * ms, "2.026 and 5.703 s"},
		{284_851 * us, 300_068 * us, "284.851 and 300.068 ms"},
		{900 * ms, 5 * s, "900 and 5000 ms"},
		{0, 5703 * ms, "0 and 5.703 s"},
		{0, 1, "0 and 1 ns"},
		{999, 1000, "999 and 1000 ns"},
		{4 * s, 4 * s, "4 s"},
		{0, 0, "0 ns"},
	} {
		if got := rangeText(c.from, " and ", c.to); got != c.want {
			t.Errorf("%d, %d: %q, want %q", c.from, c.to, got, c.want)
		}
	}
}

func TestCertifiableRoundsDown(t *testing.T) {
	for p, want := range map[float64]string{
		0: "p0", 0.001: "p0", 0.5: "p50", 0.7864: "p78", 0.98999: "p98", 0.99: "p99", 0.9945: "p99.4", 0.99899: "p99.8",
		0.999: "p99.9", 0.99949: "p99.94", 0.99995: "p99.995", 0.999999999: "p99.999999", 1: "p100",
	} {
		if got := FloorLabel(p); got != want {
			t.Errorf("%v: %s, want %s", p, got, want)
		}
	}
}

func TestWhatIsCertifiableIsCertified(t *testing.T) {
	// One in twenty was cut: up to p91 the upper limit exists, beyond it does not.
	log := all(done(to(190)...), cut(500).times(10))
	r := hopOf(t, NewConfig(nil), asked("0.91", "0.92", "0.99"), log)
	if !strings.Contains(r.Tail[2].Reason, "certifiable quantile p91;") || r.Tail[0].Upper == nil || r.Tail[1].Upper != nil {
		t.Errorf("%v; %q", tailTexts(r), r.Tail[2].Reason)
	}
	// One early cut costs one rank.
	r = hopOf(t, NewConfig(nil), asked("0.95", "0.96", "1"), all(done(to(100)...), cut(50)))
	if !strings.Contains(r.Tail[2].Reason, "certifiable quantile p95;") || r.Tail[0].Upper == nil || r.Tail[1].Upper != nil {
		t.Errorf("%v; %q", tailTexts(r), r.Tail[2].Reason)
	}
}
