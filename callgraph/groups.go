package callgraph

// sharing shares the calls of a node out over groups in which each two are mostly
// made side by side, or never by the same caller: they take as long as the longest.
// What is not surely so comes in a group of its own, so that no time is counted too
// short.
type sharing struct {
	edges []edge
	// Of each call, by place: those made beside it by more than half of the callers
	// that may make both, and those made by one of its callers.
	beside, with []map[int]bool
	all          [][]int
	in           []int // group of each call
}

func newSharing(edges []edge, n *node) *sharing {
	places := make(map[int32]int, len(edges))
	for i := range edges {
		places[edges[i].hop] = i
	}
	s := &sharing{edges: edges, beside: make([]map[int]bool, len(edges)), with: make([]map[int]bool, len(edges)), in: make([]int, len(edges))}
	for p, callers := range n.pairs {
		if a, b := places[p[0]], places[p[1]]; callers > min(edges[a].callers, edges[b].callers)/2 {
			link(s.beside, a, b)
		}
	}
	n.eachBoth(func(p pair) { link(s.with, places[p[0]], places[p[1]]) })
	return s
}

func link(list []map[int]bool, a, b int) {
	for _, l := range [...][2]int{{a, b}, {b, a}} {
		if list[l[0]] == nil {
			list[l[0]] = map[int]bool{}
		}
		list[l[0]][l[1]] = true
	}
}

// groups puts each call into the first group that takes it. Calls of callers of very
// many hops are not known to be made one instead of the other.
func (s *sharing) groups() [][]int {
	for i := range s.edges {
		at := s.firstFree(i)
		if s.edges[i].crowded {
			at = s.firstBeside(i)
		}
		if at == len(s.all) {
			s.all = append(s.all, nil)
		}
		s.all[at], s.in[i] = append(s.all[at], i), at
	}
	return s.all
}

// firstFree is the first group without a call that comes before or after this one.
func (s *sharing) firstFree(i int) int {
	taken := map[int]bool{}
	for k := range s.with[i] {
		if k < i && !s.beside[i][k] {
			taken[s.in[k]] = true
		}
	}
	for at, group := range s.all {
		if !taken[at] && !s.edges[group[0]].crowded {
			return at
		}
	}
	return len(s.all)
}

// firstBeside is the first group of which each call is made beside this one.
func (s *sharing) firstBeside(i int) int {
	beside, at := map[int]int{}, len(s.all)
	for k := range s.beside[i] {
		if k < i && s.edges[k].crowded {
			beside[s.in[k]]++
		}
	}
	for group, n := range beside {
		if n == len(s.all[group]) {
			at = min(at, group)
		}
	}
	return at
}
