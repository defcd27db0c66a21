// Worlds counts how often the owner of the tail is named rightly, not at all, or
// wrongly in hop logs whose truth is known, and prints a table in Markdown.
//
//	go run ./bench/worlds -seeds 200
//	go run ./bench/worlds -world "no root, nested" -form exact -log 3 > hops.ndjson
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/nesting"
	"github.com/tailscope/tailscope/nesting/worlds"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// settings are what a run depends on.
type settings struct {
	seeds, requests int
	world, form     string
	log             int // seed of the log to write, 0 for a table
	wrong           bool
	callers         bool // lines name the hop that made the call
}

func main() {
	var s settings
	flag.IntVar(&s.seeds, "seeds", 20, "logs of each world and form")
	flag.IntVar(&s.requests, "requests", 400, "requests of a log")
	flag.StringVar(&s.world, "world", "", "this world alone")
	flag.StringVar(&s.form, "form", "", "this form alone")
	flag.IntVar(&s.log, "log", 0, "write the log of this `SEED`, of one world and form")
	flag.BoolVar(&s.wrong, "wrong", false, "name every log whose owner is wrong")
	flag.BoolVar(&s.callers, "callers", false, "lines name the hop that made the call")
	flag.Parse()
	if err := s.run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "worlds:", err)
		os.Exit(2)
	}
}

func (s *settings) run(out io.Writer) error {
	kinds := slices.DeleteFunc(worlds.Kinds(), func(w worlds.World) bool { return s.world != "" && w.Name != s.world })
	forms := slices.DeleteFunc(slices.Clone(worlds.Forms), func(f worlds.Form) bool { return s.form != "" && f.Name != s.form })
	if len(kinds) == 0 || len(forms) == 0 {
		return fmt.Errorf("no world %q of the form %q", s.world, s.form)
	}
	if s.log > 0 {
		return s.writeLog(out, kinds[0].Log(s.requests, forms[0], uint64(s.log)))
	}
	return s.table(out, kinds, forms)
}

func (s *settings) writeLog(out io.Writer, lines []worlds.Line) error {
	b := bufio.NewWriter(out)
	for _, l := range lines {
		caller := ""
		if s.callers {
			caller = fmt.Sprintf(`"caller":%q,`, l.Caller)
		}
		fmt.Fprintf(b, "{\"chain_id\":\"c%06d\",%s\"hop\":%q,\"start_us\":%d,\"duration_us\":%d,\"truncated\":%v,\"error\":%v}\n", l.Chain, caller, l.Hop, l.Start/1000, l.Duration/1000, l.Cut, l.Failed)
	}
	return b.Flush()
}

// tally is how often the owner was named rightly, not at all and wrongly.
type tally struct{ right, none, wrong int }

func (s *settings) table(out io.Writer, kinds []worlds.World, forms []worlds.Form) error {
	counts := make([]tally, len(kinds)*len(forms))
	var next atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(counts); i = int(next.Add(1)) - 1 {
				counts[i] = s.count(&kinds[i/len(forms)], forms[i%len(forms)])
			}
		})
	}
	group.Wait()
	fmt.Fprintf(out, "| world |")
	for _, f := range forms {
		fmt.Fprintf(out, " %s |", f.Name)
	}
	fmt.Fprintf(out, "\n|---%s|\n", "|---:"+string(slices.Repeat([]byte("|---:"), len(forms)-1)))
	sums := make([]tally, len(forms))
	for i, w := range kinds {
		fmt.Fprintf(out, "| %s |", w.Name)
		for k := range forms {
			c := counts[i*len(forms)+k]
			sums[k].right, sums[k].none, sums[k].wrong = sums[k].right+c.right, sums[k].none+c.none, sums[k].wrong+c.wrong
			fmt.Fprintf(out, " %s |", c)
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "| all |")
	for _, c := range sums {
		fmt.Fprintf(out, " %s |", c)
	}
	_, err := fmt.Fprintln(out)
	return err
}

func (t tally) String() string { return fmt.Sprintf("%d / %d / %d", t.right, t.none, t.wrong) }

func (s *settings) count(w *worlds.World, f worlds.Form) (t tally) {
	for seed := 1; seed <= s.seeds; seed++ {
		switch owner, why := s.ownerOf(w.Log(s.requests, f, uint64(seed)), f); owner {
		case w.Owner:
			t.right++
		case "":
			t.none++
			if s.wrong && s.seeds < 4 {
				fmt.Fprintf(os.Stderr, "%s, %s, seed %d: %s\n", w.Name, f.Name, seed, why)
			}
		default:
			t.wrong++
			if s.wrong {
				fmt.Fprintf(os.Stderr, "WRONG %s, %s, seed %d: %s\n", w.Name, f.Name, seed, owner)
			}
		}
	}
	return t
}

// ownerOf names the owner of a log's tail, or says why there is none.
func (s *settings) ownerOf(lines []worlds.Line, f worlds.Form) (owner, why string) {
	chains := worlds.Chains(lines)
	step := 2 * f.Step
	if f.AtEnd {
		step = max(step, 1e6)
	}
	votes := nesting.NewVotes(step)
	if s.callers {
		votes.State(statedBy(lines))
	}
	for _, c := range chains {
		votes.AddChain(c)
	}
	a := attribution.NewAccumulator()
	a.SetNesting(votes.Find())
	for _, c := range chains {
		a.AddChain(c)
	}
	r := a.Result(attribution.Query{TailFrom: quantile.MustP("0.95"), Confidence: quantile.MustP("0.95"), Jobs: 1})
	if r.Owner == nil {
		return "", r.Verdict
	}
	return r.Owner.Name, ""
}

// statedBy is what the lines say of what calls what.
func statedBy(lines []worlds.Line) *nesting.Stated {
	s, all, named := &nesting.Stated{Column: "caller"}, map[string]int{}, map[string]int{}
	for _, l := range lines {
		all[l.Hop]++
	}
	for _, l := range lines {
		if all[l.Caller] > 0 {
			named[l.Hop]++
		}
	}
	seen := map[[2]spans.Hop]bool{}
	for _, l := range lines {
		pair := [2]spans.Hop{{Name: l.Caller}, {Name: l.Hop}}
		if all[l.Caller] > 0 && !seen[pair] {
			seen[pair] = true
			s.Calls = append(s.Calls, pair)
		}
	}
	for hop, n := range named {
		if n == all[hop] {
			s.Whole = append(s.Whole, spans.Hop{Name: hop})
		}
	}
	return s
}
