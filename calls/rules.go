package calls

import "fmt"

// Rule is a rule by which something is said, and what it needs.
type Rule struct{ Name, Needs, Says string }

// Rules lists the verdicts in the order in which they are asked for.
var Rules = [...]Rule{
	{string(SlowInstance), fmt.Sprintf("2 instances of %d calls", leastServed), fmt.Sprintf("one instance has a median work of %g times that of the others, and %g %% of the slow calls", slowRatio, 100*slowShare)},
	{string(PoolFull), fmt.Sprintf("%d calls that waited", leastWaited), "half of the calls that waited, beyond those that would by chance, begin as others end; gaps are half of the excess or a quarter of the mean time, and the slow calls wait as their neighbours do"},
	{string(NetworkOrClock), fmt.Sprintf("%d answered calls", leastCalls), "gaps are half of the excess, or of the median time, there are no hand-overs, and calls that follow each other do not wait alike"},
	{string(SlowWork), fmt.Sprintf("%d answered calls", leastCalls), "work is half of the excess"},
	{string(Unknown), "nothing", fmt.Sprintf("fewer than %d answered calls, %d slow or %d usual ones, under %g %% of the calls with a server's span, or none of the others", leastCalls, leastSlow, leastUsual, 100*leastSeen)},
}
