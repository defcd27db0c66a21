package findings

import (
	"slices"

	"github.com/tailscope/tailscope/neighbors"
	"github.com/tailscope/tailscope/spans"
)

// serves reports whether the lower hop serves the calls of the upper one.
func serves(l *neighbors.Pair) bool {
	return l.Above.Kind == spans.Client && l.Below.Kind == spans.Server
}

// Names are what calls are called on a page: "search → catalog" is the hop "search call
// catalog" together with what serves it.
type Names struct {
	of     map[spans.Hop]string
	callee map[spans.Hop]string
	call   map[spans.Hop]spans.Hop // of servers
	server map[spans.Hop]spans.Hop // of calls: the one that serves most
}

// Arrow stands between caller and callee.
const Arrow = " → "

// NewNames names hops. neighbors.Pairs say who serves whom.
func NewNames(hops []spans.Hop, links []neighbors.Pair) *Names {
	n := &Names{of: map[spans.Hop]string{}, callee: map[spans.Hop]string{}, call: map[spans.Hop]spans.Hop{}, server: map[spans.Hop]spans.Hop{}}
	n.pair(links)
	n.nameAll(hops)
	n.nameCalls(hops)
	return n
}

// pair finds which hop serves which: that under most of a call, and of a server the call
// that is above most of it. Only where both mean each other they are one.
func (n *Names) pair(links []neighbors.Pair) {
	best, above := map[spans.Hop]neighbors.Pair{}, map[spans.Hop]neighbors.Pair{}
	for _, l := range links {
		if !serves(&l) {
			continue
		}
		if b, ok := best[l.Above]; !ok || l.N > b.N || l.N == b.N && l.Below.Compare(b.Below) < 0 {
			best[l.Above] = l
		}
		if a, ok := above[l.Below]; !ok || l.N > a.N || l.N == a.N && l.Above.Compare(a.Above) < 0 {
			above[l.Below] = l
		}
	}
	callers := map[spans.Hop]int{}
	for _, l := range links {
		if serves(&l) {
			callers[l.Below]++
		}
	}
	for call, l := range best {
		n.server[call] = l.Below
		if callers[l.Below] == 1 && above[l.Below].Above == call {
			n.call[l.Below] = call
		}
	}
}

// nameAll names hops as the input does, with their kind where that alone tells them apart.
func (n *Names) nameAll(hops []spans.Hop) {
	seen := map[string]int{}
	for _, h := range hops {
		seen[h.Name]++
	}
	for _, h := range hops {
		n.of[h] = h.Name
		if seen[h.Name] > 1 {
			n.of[h] = h.String()
		}
		n.callee[h] = n.of[h]
	}
}

// nameCalls names calls by the services on both ends, and by the operation too where that
// is not enough.
func (n *Names) nameCalls(hops []spans.Hop) {
	for _, name := range []func(call, server spans.Hop) (string, string){
		func(c, s spans.Hop) (string, string) { return c.Service + Arrow + s.Service, s.Service },
		func(c, s spans.Hop) (string, string) { return c.Service + Arrow + s.Name, s.Name },
	} {
		called := map[string][]spans.Hop{}
		for _, h := range hops {
			s, ok := n.server[h]
			if ok && n.of[h] == h.Name && h.Service != "" && s.Service != "" {
				text, _ := name(h, s)
				called[text] = append(called[text], h)
			}
		}
		for text, list := range called {
			if len(list) == 1 && !slices.ContainsFunc(hops, func(h spans.Hop) bool { return h.Name == text }) {
				_, callee := name(list[0], n.server[list[0]])
				n.of[list[0]], n.callee[list[0]] = text, callee
			}
		}
	}
}

// Of is what a hop is called on a page.
func (n *Names) Of(h spans.Hop) string {
	if text, ok := n.of[h]; ok {
		return text
	}
	return h.Name
}

// Callee is what stands for a call where its caller is known anyway.
func (n *Names) Callee(h spans.Hop) string {
	if text, ok := n.callee[h]; ok {
		return text
	}
	return h.Name
}

// Call is the call that a hop serves, if it serves one only; else the hop itself.
func (n *Names) Call(h spans.Hop) spans.Hop {
	if call, ok := n.call[h]; ok {
		return call
	}
	return h
}

// Server is the hop that serves most of a call.
func (n *Names) Server(call spans.Hop) (h spans.Hop, known bool) {
	h, known = n.server[call]
	return h, known
}
