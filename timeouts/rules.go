package timeouts

import "fmt"

// Rule is a rule of the section, as 'tailscope rules' prints it.
type Rule struct{ Name, Needs, Says string }

// Rules lists the rules in the order of the section.
var Rules = [...]Rule{
	{"certified", "2995 first attempts for p99.9", "the target quantile has an upper limit: the timeout is made of it"},
	{"identified", "1 that timed out or failed", "the target quantile is exact, but timeouts or slow failures leave it without a limit: the timeout is made of its value; or as many failed as lie beyond it: the timeout is made of the limit of the others"},
	{"too_few", "1 first attempt that completed", "nothing timed out, but too few attempts bound the target quantile: no timeout, but what so few allow"},
	{"not_identified", "1 that timed out, or a pile-up", "timeouts hide the target quantile, or a timeout without a mark is suspected: no timeout, but a canary"},
	{"none", "nothing", "a biased sample, no mark of timeouts nor a timeout given, a limit within two steps of the clock, or no attempt that completed: no timeout"},
	{"inner_call", "1 call made inside it", "the smaller of its own certified limit and the sum along its serial path: its own work, timed-out attempts counting as endless, and what its calls take at most; headroom once for all. Where a call is hidden, the canaries of its parts"},
	{"side_by_side", "2 calls of one caller", "calls that overlap for more than half of the callers that may make both, and those that no caller makes both of, take as long as the longest; all others come in a row"},
	{"seen_beyond", "the target of the caller exact", "the target quantile of what callers took is more than own work and calls at most: the rest is added"},
	{"retries_once", "1 retry seen", "the retries of the outermost layer that retries, of the call with the longest; none seen: none, but where no caller was measured one of the longest call"},
	{"deadline_far_above", "1 request", "what a request may take is more than 4 times the slowest seen"},
	{"server_side", fmt.Sprintf("%d %% of the timed-out first attempts with a server span", leastCoverage), "the timeout that the servers' times suggest, beside the advice"},
	{"safe_to_lower", "a certificate, today's timeout", "the advice is shorter than today's timeout, and certified"},
	{"pool_full", "a call whose pool is full, see calls", "fix the queue first: its timeout, its canary and its retries come second, as they make the queue longer"},
	{"close_to_median", "p50 and the target exact", "the target quantile is less than twice the median: a small slowdown would time out nearly every call"},
	{"timeouts_inverted", "2 timeouts, one call inside the other", "the outer call is not given more than the inner one; of timeouts that are only inferred, up to 2 % more"},
	{"calls_both_ways", "1 call each way", fmt.Sprintf("two hops seem to call each other: both ways are left out, or the rarer where the other is %d times as frequent", mostlyOneWay)},
	{"calls_in_a_circle", "3 hops", "calls come back to where they began: what the hops in the circle need is not known"},
	{"short_window", "starts of all attempts", "the input covers less than a day, or nobody knows how much"},
}
