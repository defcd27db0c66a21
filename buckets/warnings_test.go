package buckets

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

// Every warning where it fires, and the nearest case in which it does not.
func TestWarnings(t *testing.T) {
	smooth := done(1, 2, 3, 5, 8, 13, 21, 34, 55, 89)
	wall5s := all(smooth, cut(5000, 5000, 5001, 5002, 5003))
	late := func(extraMS int64) rows {
		return all(smooth, cut(5000+extraMS).each(func(one *row) { one.Duration += us }))
	}
	for _, c := range []struct {
		code    string
		name    string
		timeout int64
		q       Query
		log     rows
		text    string // "" if it must be quiet
	}{
		{"cut_marks_missing", "no mark", 0, without(asked()), smooth.unmarked(), "the input has no mark that says which attempts timed out: those that did would stand here as completed; name the mark with --field truncated=KEY or give --timeout HOP=T"},
		{"cut_marks_missing", "no mark, but a timeout", 60, without(asked()), smooth.unmarked(), "the input has no mark that says which attempts timed out: those of 60 ms or more count as timed out, but one with a shorter timeout or a failure would stand here as completed"},
		{"cut_marks_missing", "marks of other hops", 0, asked(), smooth.unmarked(), "other hops are marked, but no attempt of this one says whether it timed out: those that did would stand here as completed; name the mark with --field truncated=KEY or give --timeout HOP=T"},
		{"cut_marks_missing", "a mark of this hop", 0, asked(), all(smooth.unmarked(), done(4)), ""},

		{"failures_exceed_p", "as many as beyond p50", 0, asked("0.5", "0.4"), all(done(1, 2), failed(1, 1)), "50 % of the first attempts failed, as many as lie beyond p50 or more: the tail is that of the others"},
		{"failures_exceed_p", "as many as beyond both", 0, asked("0.5", "0.9"), all(done(1), failed(1)), "50 % of the first attempts failed, as many as lie beyond p50, p90 or more: the tail is that of the others"},
		{"failures_exceed_p", "as many as beyond the target", 0, targeted("0.75", "0.5"), all(done(1, 2, 3), failed(1)), "25 % of the first attempts failed, as many as lie beyond p75 or more: the tail is that of the others"},
		{"failures_exceed_p", "beyond a target that is asked for", 0, targeted("0.75", "0.75"), all(done(1, 2, 3), failed(1)), "25 % of the first attempts failed, as many as lie beyond p75 or more: the tail is that of the others"},
		{"failures_exceed_p", "fewer than beyond the target", 0, targeted("0.75", "0.5"), all(done(1, 2, 3, 4), failed(1)), ""},
		{"failures_exceed_p", "fewer", 0, asked("0.5"), all(done(1, 2), failed(1)), ""},
		{"failures_exceed_p", "none, at p100", 0, asked("1"), done(1, 2), ""},
		{"failures_exceed_p", "retries only", 0, asked("0.5"), all(done(1, 2), failed(1, 1).retried()), ""},

		{"is_maximum", "60 attempts, p99.9", 0, asked("0.5", "0.999"), done(to(60)...), "p99.9: max of 60 first attempts, too few for this quantile; the true value may well lie above it"},
		{"is_maximum", "two quantiles", 0, asked("0.99", "0.999"), done(to(60)...), "p99, p99.9: max of 60 first attempts, too few for this quantile; the true value may well lie above it"},
		{"is_maximum", "1000 attempts, p99.9", 0, asked("0.999"), done(to(1000)...), ""},
		{"is_maximum", "60 attempts, cut", 0, asked("0.999"), all(done(to(59)...), cut(60)), ""},

		{"wall_does_not_bound", "completed above", 88, asked(), smooth, "attempts completed in up to 89 ms, above the configured 88 ms: that timeout does not bound them"},
		{"wall_does_not_bound", "completed at it", 89, asked(), smooth, ""},
		{"wall_does_not_bound", "not configured", 0, asked(), smooth, ""},
		{"wall_does_not_bound", "nothing completed", 5, asked(), cut(7), ""},
		{"wall_does_not_bound", "a retry above", 88, asked(), all(smooth[:9], done(90).retried()), "attempts completed in up to 90 ms, above the configured 88 ms: that timeout does not bound them"},

		{"duration_covers_more_than_the_call", "2 % late", 5000, asked(), late(100), "timed-out attempts are logged with up to 5.100001 s under a timeout of 5 s: the duration covers more than the call, such as clean-up or a wait for a connection"},
		{"duration_covers_more_than_the_call", "just not 2 % late", 5000, asked(), all(smooth, cut(5100)), ""},
		{"duration_covers_more_than_the_call", "50 ms late", 1000, asked(), all(smooth, cut(1051)), "timed-out attempts are logged with up to 1.051 s under a timeout of 1 s: the duration covers more than the call, such as clean-up or a wait for a connection"},
		{"duration_covers_more_than_the_call", "just not 50 ms late", 1000, asked(), all(smooth, cut(1050)), ""},
		{"duration_covers_more_than_the_call", "timeout not known", 0, asked(), wall5s, ""},
		{"duration_covers_more_than_the_call", "nothing cut", 5, asked(), smooth, ""},

		{"late_cuts_may_mislead", "one wall", 0, asked(), wall5s, ""},
		{"late_cuts_may_mislead", "one wall, completed within slack", 0, asked(), all(wall5s, done(5100)), ""},
		{"late_cuts_may_mislead", "completed above", 0, asked(), all(wall5s, done(5101)), "timeouts of unknown length begin at 5 s, yet other attempts could take 5.101 s: if those are logged late, values here are too high, even exact ones; give the timeouts with --timeout HOP=T or a timeout column"},
		{"late_cuts_may_mislead", "short ones, within 1 ms", 0, asked(), all(cut(3), done(4)), ""},
		{"late_cuts_may_mislead", "short ones, beyond 1 ms", 0, asked(), all(cut(3), done(5)), "timeouts of unknown length begin at 3 ms, yet other attempts could take 5 ms: if those are logged late, values here are too high, even exact ones; give the timeouts with --timeout HOP=T or a timeout column"},
		{"late_cuts_may_mislead", "two walls", 0, asked(), all(wall5s, cut(9000).times(5)), "timeouts of unknown length begin at 5 s, yet other attempts could take 9 s: if those are logged late, values here are too high, even exact ones; give the timeouts with --timeout HOP=T or a timeout column"},
		{"late_cuts_may_mislead", "two walls near each other", 0, asked(), all(wall5s, cut(5200).times(5)), "timeouts of unknown length begin at 5 s, yet other attempts could take 5.2 s: if those are logged late, values here are too high, even exact ones; give the timeouts with --timeout HOP=T or a timeout column"},
		{"late_cuts_may_mislead", "a cut too far for the wall", 0, asked(), all(wall5s, cut(5800)), "timeouts of unknown length begin at 5 s, yet other attempts could take 5.8 s: if those are logged late, values here are too high, even exact ones; give the timeouts with --timeout HOP=T or a timeout column"},
		{"late_cuts_may_mislead", "a cut near enough", 0, asked(), all(wall5s, cut(5750)), ""},
		{"late_cuts_may_mislead", "a longer known one", 0, asked(), all(wall5s, cut(9700).under(9000)), "timeouts of unknown length begin at 5 s, yet other attempts could take 9 s: if those are logged late, values here are too high, even exact ones; give the timeouts with --timeout HOP=T or a timeout column"},
		{"late_cuts_may_mislead", "a shorter known one", 0, asked(), all(wall5s, cut(1700).under(1000)), ""},
		{"late_cuts_may_mislead", "all known", 5000, asked(), all(wall5s, done(6000), cut(9000).times(5)), ""},
		{"late_cuts_may_mislead", "cut by the caller", 0, asked(), all(wall5s, cut(2).by(spans.Caller)), ""},

		{"walls_omitted", "one wall", 0, asked(), wall5s, ""},

		{"suspected_unmarked_wall", "five within 1 %", 0, asked(), all(smooth, done(1000, 1001, 1002, 1005, 1010)), "5 attempts that count as completed lie at 1 to 1.01 s: that looks like a timeout of 1 s without a mark; for values and limits they may have taken any time longer. --timeout h=1s counts them as timed out"},
		{"suspected_unmarked_wall", "three of them", 0, asked(), all(smooth, done(989, 1001, 1001, 1002)), "3 attempts that count as completed lie at 1.001 to 1.002 s: that looks like a timeout of 1 s without a mark; for values and limits they may have taken any time longer. --timeout h=1s counts them as timed out"},
		{"suspected_unmarked_wall", "two", 0, asked(), all(smooth, done(989, 1001, 1002)), ""},
		{"suspected_unmarked_wall", "failures too", 0, asked(), all(smooth, done(2000), failed(2000, 2003)), "2 failures and 1 attempt that counts as completed lie at 2 to 2.003 s: that looks like a timeout of 2 s without a mark; for values and limits they may have taken any time longer. --timeout h=2s counts them as timed out"},
		{"suspected_unmarked_wall", "a body as narrow", 0, asked(), done(100, 200, 200, 200, 200), ""},
		{"suspected_unmarked_wall", "digits too coarse to tell", 0, asked(), done(to(60)...).times(5).digits(6), ""},
		{"suspected_unmarked_wall", "digits just fine enough", 0, asked(), all(smooth, done(100).times(5)).digits(6), "5 attempts that count as completed lie at 100 ms: that looks like a timeout of 100 ms without a mark; for values and limits they may have taken any time longer. --timeout h=100ms counts them as timed out"},
		{"suspected_unmarked_wall", "nothing completed", 0, asked(), cut(5), ""},
		{"suspected_unmarked_wall", "absurd digits", 0, asked(), done(100).times(5).digits(200), ""},

		{"cuts_follow_slowness", "one in ten from below", 0, asked("0.9"), all(cut(50).by(spans.Below), cut(60).times(9), done(to(89)...)), ""},
		{"cuts_follow_slowness", "more", 0, asked("0.9"), all(cut(50).times(2).by(spans.Caller), cut(60).times(8), done(to(89)...)), "2 of 10 timeouts came from below or from the caller, so they follow slowness: do not read the Kaplan-Meier value alone"},
		{"cuts_follow_slowness", "among retries", 0, asked("0.9"), all(cut(50).times(2).by(spans.Caller).retried(), cut(60).times(8), done(to(89)...)), ""},
		{"cuts_follow_slowness", "no Kaplan-Meier value", 0, asked("0.5"), all(cut(500).times(2).by(spans.Caller), done(to(89)...)), ""},

		{"hops_folded", "one hop", 0, asked(), smooth, ""},
	} {
		r := hopOf(t, timeouts(map[string]int64{"h": c.timeout}), c.q, c.log)
		if got := warned(r, c.code); got != c.text {
			t.Errorf("%s, %s:\n got %q\nwant %q", c.code, c.name, got, c.text)
		}
	}
}

func TestAnOrdinaryHopHasNoWarning(t *testing.T) {
	log := done(to(1000)...).each(func(one *row) { // cubes, up to 1 s
		n := one.Duration / ms
		one.Duration = n * n * n
	})
	if r := hopOf(t, NewConfig(nil), asked(), log); len(r.Warnings) > 0 {
		t.Errorf("complete: %v", r.Warnings)
	}
	log = append(log, cut(2000, 2000, 2001, 2001, 2002)...)
	for _, timeout := range []int64{0, 2000} {
		if r := hopOf(t, timeouts(map[string]int64{"h": timeout}), asked(), log); len(r.Warnings) > 0 {
			t.Errorf("one wall, timeout %d: %v", timeout, r.Warnings)
		}
	}
}

func TestWithoutMarksAndTimeoutNothingIsCertain(t *testing.T) {
	log := done(to(1000)...).unmarked()
	r := hopOf(t, NewConfig(nil), without(asked("0.5", "0.95")), log)
	for _, one := range r.Tail {
		if one.Upper != nil || one.Reason != "the input does not say which attempts timed out, so nothing is certain about "+one.P.Label() {
			t.Errorf("%s %q", tailText(one), one.Reason)
		}
	}
	// Of a known timeout those that ended well before it completed.
	r = hopOf(t, timeouts(map[string]int64{"h": 900}), without(asked("0.5", "0.65", "0.7", "0.9", "0.95")), log)
	if d := same([]string{"exact 500 upper 528", "exact 650 upper 677", "at_least 692", "at_least 900", "at_least 900"}, tailTexts(r)); d != "" {
		t.Error(d)
	}
	if got := r.Tail[2].Reason; !strings.Contains(got, "; 207 attempts without a mark are long enough to have timed out: ") {
		t.Error(got)
	}
	// A day without cuts under a known timeout certifies, with marks or without.
	r = hopOf(t, timeouts(map[string]int64{"h": 1400}), without(asked("0.99")), log)
	if d := same([]string{"exact 990 upper 997"}, tailTexts(r)); d != "" {
		t.Error(d)
	}
	marked := hopOf(t, NewConfig(nil), asked("0.5"), all(log[1:], done(1)))
	if marked.Tail[0].Upper == nil || marked.Tail[0].Reason != "" {
		t.Errorf("a mark of this hop: %s, %q", tailText(marked.Tail[0]), marked.Tail[0].Reason)
	}
}

// foldable is a log of hops with 1, 2, ... n attempts of 10 ms and one cut.
func foldable(n int64) rows {
	var log rows
	for i := range n {
		log = append(log, all(done(10).times(int(i)+1), cut(1000), done(20).retried(), failed(3)).on(fmt.Sprint("hop ", i))...)
	}
	return log
}

func TestHopsBeyondTheMostAreFolded(t *testing.T) {
	log := foldable(6)
	for most, names := range map[int][]string{
		0: {"hop 0", "hop 1", "hop 2", "hop 3", "hop 4", "hop 5"},
		6: {"hop 0", "hop 1", "hop 2", "hop 3", "hop 4", "hop 5"},
		5: {"hop 1", "hop 2", "hop 3", "hop 4", "hop 5", "(other: 1 hops)"},
		2: {"hop 4", "hop 5", "(other: 4 hops)"},
	} {
		q := asked()
		q.MaxHops = most
		var got []string
		var attempts, cuts uint64
		list := setOf(t, NewConfig(nil), log).Results(q)
		for _, r := range list {
			got = append(got, r.Name)
			attempts += r.Attempts
			cuts += r.Truncated.CutBy[0].N
			if folded := strings.HasPrefix(r.Name, "("); folded != (warned(r, "hops_folded") != "") {
				t.Errorf("most %d, %s: %v", most, r.Name, r.Warnings)
			}
		}
		if d := same(names, got); d != "" {
			t.Errorf("most %d: %s", most, d)
		}
		if attempts != uint64(len(log)) || cuts != 6 {
			t.Errorf("most %d: %d attempts of %d, %d cuts of 6", most, attempts, len(log), cuts)
		}
	}
}

func TestHopsOfTheSameTimeAreFoldedByName(t *testing.T) {
	q := asked()
	q.MaxHops = 1
	list := setOf(t, NewConfig(nil), all(done(5).on("b"), done(5).on("a"), done(5).on("c"))).Results(q)
	if list[0].Name != "a" || list[1].Attempts != 2 {
		t.Errorf("%s kept, %d attempts folded", list[0].Name, list[1].Attempts)
	}
}

// What makes the counts of the folded hops doubtful makes theirs doubtful too.
func TestAFoldedRowKeepsTheWarningsOfItsCounts(t *testing.T) {
	log := all(done(9000).times(99).on("large"), cut(40).on("leaf").in("c"), failed(50).in("c"), grouped(1001))
	q := asked()
	q.MaxHops = 1
	rest := setOf(t, NewConfig(nil), log).Results(q)[1]
	if d := same([]string{"cut_below_by_duration", "hops_folded"}, codes(rest)); d != "" {
		t.Error(d)
	}
	want := "1 failed attempt counts as timed out below because a timed-out attempt of its chain was no longer than it; with start times that would be certain"
	if got := warned(rest, "cut_below_by_duration"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Loggers drop trailing zeros, so the finest digits seen are the source's.
func TestTheFinestDigitsCountWhoeverSawThem(t *testing.T) {
	log := func(digits uint8) rows { return all(done(to(9)...), done(60).times(3)).digits(digits) }
	for _, order := range [][]uint8{{6, 3}, {3, 6}} {
		one := setOf(t, NewConfig(nil), log(order[0])[:6])
		one.Merge(setOf(t, NewConfig(nil), log(order[1])[6:]))
		if got := warned(one.Results(asked())[0], "suspected_unmarked_wall"); got == "" {
			t.Errorf("digits %v: values read as whole milliseconds only", order)
		}
	}
	if got := warned(setOf(t, NewConfig(nil), log(6)).Results(asked())[0], "suspected_unmarked_wall"); got != "" {
		t.Error(got)
	}
}

// Of several hops together nothing is claimed: one hop's completed attempts
// prove nothing of another hop's cut ones.
func TestAFoldedRowHasNoTail(t *testing.T) {
	q := asked("0.5", "0.999")
	q.MaxHops = 1
	log := all(done(9000).times(99).on("large"), done(1, 2, 3).from("x").on("a"), cut(50).times(5).from("y").on("b"), done(990).times(5).on("c"))
	rest := setOf(t, timeouts(map[string]int64{"a": 7}), log).Results(q)[1]
	if rest.TruncatedShare.Count != 5 || rest.TruncatedShare.Of != 13 || len(rest.Walls) > 0 {
		t.Errorf("share %+v, walls %v", rest.TruncatedShare, rest.Walls)
	}
	for _, one := range rest.Tail {
		if tailText(one) != "no_value" || one.N != 13 || one.Reason != "3 hops together have no tail: --top all lists each" {
			t.Errorf("%s: %s of %d: %s", one.P.Label(), tailText(one), one.N, one.Reason)
		}
	}
	if d := same([]string{"hops_folded"}, codes(rest)); d != "" {
		t.Error(d)
	}
}
