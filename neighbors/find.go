package neighbors

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/internal/nearest"
	"github.com/tailscope/tailscope/spans"
)

// AmbiguousError says that a name means several hops.
type AmbiguousError struct {
	Written string
	Hops    []spans.Hop
}

const mostNamed = 5

func (e *AmbiguousError) Error() string {
	var names []string
	for _, h := range e.Hops[:min(len(e.Hops), mostNamed)] {
		names = append(names, fmt.Sprintf("%q", h.String()))
	}
	text := fmt.Sprintf("%q is the name or part of %d hops: %s", e.Written, len(e.Hops), strings.Join(names, ", "))
	if more := len(e.Hops) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ": write more of it"
}

// UnknownError says that no hop is called so.
type UnknownError struct {
	Written string
	Nearest []string
}

func (e *UnknownError) Error() string {
	text := fmt.Sprintf("no hop is called %q", e.Written)
	if len(e.Nearest) > 0 {
		text += ": did you mean " + strings.Join(e.Nearest, " or ") + "?"
	}
	return text
}

// Find returns the hop that a name means: by its whole name, with its kind or without,
// or as "caller → callee", or by the service that a call goes to, else by a part that no
// other has. A call and the span that
// serves it are one: the call is meant. The error is an *AmbiguousError or an
// *UnknownError.
func Find(written string, hops []spans.Hop, pairs []Pair) (spans.Hop, error) {
	for _, likeness := range []func(string, spans.Hop, []Pair) bool{isCalled, joins, answers, holds} {
		var found []spans.Hop
		for _, h := range hops {
			if likeness(written, h, pairs) {
				found = append(found, h)
			}
		}
		if found = callsOf(found, pairs); len(found) == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			slices.SortFunc(found, spans.Hop.Compare)
			return spans.Hop{}, &AmbiguousError{written, found}
		}
	}
	return spans.Hop{}, &UnknownError{written, nearestTo(written, hops)}
}

// A Likeness says how a hop may be meant by a name: the surest comes first.
type Likeness uint8

// Called: it is called so. Served: it may be, if what serves it is called so. Part: the
// name is a part of its own.
const (
	Unlike Likeness = iota
	Part
	Served
	Called
)

// LikenessOf says how Find may return this hop for a name, whatever else there is. What
// is Called has other likenesses too.
func LikenessOf(written string, h spans.Hop) Likeness {
	switch _, callee, is := strings.Cut(arrows.Replace(written), "→"); {
	case isCalled(written, h, nil), h.Kind == spans.Server && h.Service == written:
		return Called
	case is && h.Kind == spans.NoKind && h.Name == strings.TrimSpace(callee):
		return Called
	case holds(written, h, nil):
		return Part
	case MayBeServed(written, h):
		return Served
	}
	return Unlike
}

// MayBeServed reports whether a hop may be the call whose server is named.
func MayBeServed(written string, h spans.Hop) bool {
	caller, _, is := strings.Cut(arrows.Replace(written), "→")
	return h.Kind == spans.Client && (!is || h.Service == strings.TrimSpace(caller))
}

// Serves reports whether a hop that serves a call makes it one that is meant.
func Serves(written string, server spans.Hop) bool {
	text := arrows.Replace(written)
	_, callee, is := strings.Cut(text, "→")
	if !is {
		callee = text
	}
	callee = strings.TrimSpace(callee)
	return server.Kind == spans.Server && (server.Service == callee || is && server.Name == callee)
}

// isCalled reports whether this is the hop's whole name.
func isCalled(written string, h spans.Hop, _ []Pair) bool {
	return written == h.String() || IsName(written, h.Name)
}

// IsName reports whether two texts are one name, but for the kind of arrow in it.
func IsName(a, b string) bool { return arrows.Replace(a) == arrows.Replace(b) }

// arrows makes one arrow of all.
var arrows = strings.NewReplacer(" → ", "→", " -> ", "→", "->", "→")

// joins reports whether the name is that of caller and callee with an arrow between:
// the service or name of a hop right above, and that of this one; or of a call, and of
// the span that serves it.
func joins(written string, h spans.Hop, pairs []Pair) bool {
	caller, callee, is := strings.Cut(arrows.Replace(written), "→")
	if !is {
		return false
	}
	caller, callee = strings.TrimSpace(caller), strings.TrimSpace(callee)
	return slices.ContainsFunc(pairs, func(p Pair) bool {
		switch {
		case p.Below == h && h.Kind == spans.NoKind:
			return p.Above.Name == caller && h.Name == callee
		case p.Above == h && IsServed(p):
			return h.Service == caller && (p.Below.Service == callee || p.Below.Name == callee)
		}
		return false
	})
}

// answers reports whether the name is a service's, and the hop is the call that it
// serves, or where requests begin in it.
func answers(written string, h spans.Hop, pairs []Pair) bool {
	called := func(p Pair) bool { return IsServed(p) && p.Below.Service == written && p.Above == h }
	above := func(p Pair) bool { return p.Below == h }
	return slices.ContainsFunc(pairs, called) || h.Kind == spans.Server && h.Service == written && !slices.ContainsFunc(pairs, above)
}

// holds reports whether the name is a part of the hop's; both parts of a name with an
// arrow must be there, in this order.
func holds(written string, h spans.Hop, _ []Pair) bool {
	rest := strings.ToLower(h.String())
	for part := range strings.SplitSeq(strings.ToLower(arrows.Replace(written)), "→") {
		at := strings.Index(rest, strings.TrimSpace(part))
		if at < 0 {
			return false
		}
		rest = rest[at+len(strings.TrimSpace(part)):]
	}
	return written != ""
}

// callsOf leaves out the hops that serve another one of the list.
func callsOf(list []spans.Hop, pairs []Pair) []spans.Hop {
	return slices.DeleteFunc(slices.Clone(list), func(h spans.Hop) bool {
		return slices.ContainsFunc(pairs, func(p Pair) bool { return p.Below == h && IsServed(p) && slices.Contains(list, p.Above) })
	})
}

const mostNearest = 3

// nearestTo names hops and services that are written nearly so, the nearest first.
func nearestTo(written string, hops []spans.Hop) []string {
	var near []string
	names := Names(hops)
	for range mostNearest {
		name := nearest.Name(written, names)
		if name == "" {
			return near
		}
		near = append(near, fmt.Sprintf("%q", name))
		names = slices.DeleteFunc(names, func(n string) bool { return n == name })
	}
	return near
}

// Names are the names of hops and those of their services, sorted, each once.
func Names(hops []spans.Hop) (list []string) {
	for _, h := range hops {
		if list = append(list, h.Name); h.Service != "" {
			list = append(list, h.Service)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// IsServed reports whether the lower hop of a pair serves the calls of the upper one.
func IsServed(p Pair) bool { return p.Above.Kind == spans.Client && p.Below.Kind == spans.Server }
