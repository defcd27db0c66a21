package spans

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tailscope/tailscope/internal/idfold"
)

// FoldIDs says when the ids in the names of hops are folded.
type FoldIDs uint8

// FoldAuto folds them where there are more than MostHops, FoldAlways from the start.
const (
	FoldAuto FoldIDs = iota
	FoldAlways
	FoldNever
)

// MostHops is how many hops a run may have. Each costs some kilobytes, and a field
// with a name for every request would fill the memory.
const MostHops = 20_000

// manyHops are so many that what each costs matters.
const manyHops = 5000

// Naming says what the hops of a run are called. It counts them over all workers, and
// from the moment on at which they are too many the ids in all names are folded. What a
// name becomes depends on the name alone, so it does not matter who met which hop when:
// what was collected under the names as they came is merged under those that they
// become.
//
// All methods are safe for concurrent use. A nil *Naming leaves all names as they are.
type Naming struct {
	mode  FoldIDs
	most  int
	kept  map[string]bool
	folds atomic.Bool
	ended atomic.Bool
	many  atomic.Bool

	mu      sync.Mutex
	met     map[Hop]struct{} // by the names that count
	example Folded
	err     *TooManyHopsError
	failed  atomic.Bool
}

// Folded is a name and what it became.
type Folded struct{ From, To string }

// NewNaming returns the Naming of a run that may have so many hops. A hop whose name or
// operation is one of kept stays as it is.
func NewNaming(mode FoldIDs, most int, kept ...string) *Naming {
	n := &Naming{mode: mode, most: most, kept: map[string]bool{}, met: map[Hop]struct{}{}}
	for _, name := range kept {
		n.kept[name] = true
	}
	n.folds.Store(mode == FoldAlways)
	return n
}

// Mode returns when ids are folded.
func (n *Naming) Mode() FoldIDs { return n.mode }

// Folds reports whether the ids in names are folded. Once they are, they are to the end
// of the run.
func (n *Naming) Folds() bool { return n != nil && n.folds.Load() }

// MayFold reports whether the ids in names are not folded now, but may be before the
// input ends.
func (n *Naming) MayFold() bool {
	return n != nil && n.mode == FoldAuto && !n.folds.Load() && !n.ended.Load()
}

// End says that the input ended: no more hops are met.
func (n *Naming) End() { n.ended.Store(true) }

// Hop returns the hop as it counts at this moment.
func (n *Naming) Hop(h Hop) Hop {
	if n.Folds() {
		return n.Fold(h)
	}
	return h
}

// Fold returns the hop with the ids in its names folded, whether they are or not.
func (n *Naming) Fold(h Hop) Hop {
	if n == nil || n.mode == FoldNever || n.kept[h.Name] || h.Operation != "" && n.kept[h.Operation] {
		return h
	}
	h.Name, h.Service, h.Operation = idfold.Name(h.Name), idfold.Name(h.Service), idfold.Name(h.Operation)
	return h
}

// Timeout returns what is said of a hop: by its name, or by what that becomes, so that
// it is the same whenever ids are folded.
func (n *Naming) Timeout(timeouts map[string]int64, name string) int64 {
	ns, said := timeouts[name]
	if said || len(timeouts) == 0 || n == nil || n.mode == FoldNever || n.kept[name] {
		return ns
	}
	return timeouts[idfold.Name(name)]
}

// TimeoutOf is Timeout for a hop that may be the calls of one name to one service: what is
// said of the name counts where nothing is said of those calls.
func (n *Naming) TimeoutOf(timeouts map[string]int64, h Hop) int64 {
	ns := n.Timeout(timeouts, h.Name)
	if at := strings.LastIndex(h.Name, Callee); ns == 0 && h.Kind == Client && at > 0 {
		return n.Timeout(timeouts, h.Name[:at])
	}
	return ns
}

// Callee stands in the name of a hop before the service that its calls go to, where those
// of one name go to several.
const Callee = " -> "

// meet counts a hop of which a worker sees the first attempt.
func (n *Naming) meet(h Hop) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err != nil {
		return
	}
	if n.Folds() {
		h = n.noted(h)
	}
	n.met[h] = struct{}{}
	n.many.Store(len(n.met) > manyHops)
	if len(n.met) > n.most && n.MayFold() {
		n.foldAll()
	}
	if len(n.met) > n.most {
		n.err = n.tooMany()
		n.failed.Store(true)
	}
}

// foldAll folds what was met so far.
func (n *Naming) foldAll() {
	met := n.met
	n.met = make(map[Hop]struct{}, len(met)/2)
	for h := range met {
		n.met[n.noted(h)] = struct{}{}
	}
	n.folds.Store(true)
}

// noted returns a hop as it is folded, and keeps it for an example if it changes and
// comes before the one that is kept.
func (n *Naming) noted(h Hop) Hop {
	to := n.Fold(h)
	if example := folded(h, to); example.before(n.example) {
		n.example = example
	}
	return to
}

// note is noted for a hop that was met under the name that it became.
func (n *Naming) note(example Folded) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if example.before(n.example) {
		n.example = example
	}
}

// folded returns the first text of a hop that folding changed, nothing for none.
func folded(from, to Hop) Folded {
	for _, f := range [...]Folded{{from.Name, to.Name}, {from.Operation, to.Operation}, {from.Service, to.Service}} {
		if f.From != f.To {
			return f
		}
	}
	return Folded{}
}

// before reports whether an example is shown rather than another: the first by name, so
// that it is the same whoever met it.
func (f Folded) before(o Folded) bool {
	return f.From != "" && (o.From == "" || f.From < o.From)
}

// Met returns how many hops there are, and a name that folding changed: nothing where
// none was.
func (n *Naming) Met() (hops int, example Folded) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.met), n.example
}

// Many reports whether there are so many hops that what each costs matters.
func (n *Naming) Many() bool { return n.many.Load() }

// Err returns a *TooManyHopsError once there are more hops than there may be, whatever
// they are called.
func (n *Naming) Err() error {
	if n == nil || !n.failed.Load() {
		return nil
	}
	return n.err
}

// TooManyHopsError says that an input has another hop in nearly every record.
type TooManyHopsError struct {
	Most   int
	Folded bool // the ids in names are
	Spans  bool // the hops are those of spans
	Names  [3]string
}

func (n *Naming) tooMany() *TooManyHopsError {
	list := make([]Hop, 0, len(n.met))
	for h := range n.met {
		list = append(list, h)
	}
	slices.SortFunc(list, Hop.Compare)
	e := &TooManyHopsError{Most: n.most, Folded: n.Folds()}
	for i := range e.Names { // few have a name of their own that is no request's
		h := list[(2*i+1)*len(list)/(2*len(e.Names))]
		e.Names[i], e.Spans = h.Name, h.Kind != NoKind
	}
	return e
}

func (e *TooManyHopsError) Error() string {
	still := ""
	if e.Folded {
		still = " although the ids in their names are folded"
	}
	var names []string
	for _, name := range e.Names {
		names = append(names, fmt.Sprintf("%q", shortened(name)))
	}
	return fmt.Sprintf("more than %d hops%s, such as %s: %s%s", e.Most, still, strings.Join(names, ", "), e.blames(), e.advice())
}

func (e *TooManyHopsError) blames() string {
	if e.Spans {
		return "the names of spans hold something else than the step, such as the request"
	}
	return "the field taken for the hop holds something else, such as the request"
}

func (e *TooManyHopsError) advice() string {
	advice := "; name the right one with --field hop=KEY"
	if e.Spans {
		advice = "; the source must name them by route"
	}
	if !e.Folded {
		advice += ", or fold the ids in names with --fold-ids auto"
	}
	return advice
}

// shortened is a name as far as a message shows it.
func shortened(name string) string {
	const most = 60
	runes := []rune(name)
	if len(runes) <= most {
		return name
	}
	return string(runes[:most]) + "…"
}
