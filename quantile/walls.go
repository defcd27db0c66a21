package quantile

import "slices"

const (
	wallGap        = 1_000_000 // nanoseconds between neighbours that always belong together
	fewestWallCuts = 5
)

// Wall is an inferred timeout: it lies in [From, To]. Durations are in
// nanoseconds.
type Wall struct {
	From       int64 // slowest completed value at or below To, 0 if there is none
	To         int64 // smallest cut
	Count      uint64
	SlowestCut int64
	Outlasted  uint64 // completed values above SlowestCut
}

// InferWalls finds the timeouts behind cuts by an attempt's own timeout: at
// least 5 cuts, neighbours no farther apart than 1 ms or 2 % of the smaller,
// whichever is more, and the largest at most 1.15 times the smallest. Cuts
// that are more scattered come from deadlines passed down by callers and make
// no wall, and nor do cuts at 0. The walls ascend.
func InferWalls(completed, ownCuts Union) []Wall {
	var groups []Wall // of cuts that lie together
	for v, n := range ownCuts.All() {
		if last := len(groups) - 1; last < 0 || Apart(groups[last].SlowestCut, v) {
			groups = append(groups, Wall{To: v})
		}
		group := &groups[len(groups)-1]
		group.SlowestCut = v
		group.Count += n
	}
	walls := slices.DeleteFunc(groups, func(w Wall) bool { return !w.isWall() })
	done := completed.Cursor()
	above := completed.N()
	for i := range walls {
		above -= done.UpTo(walls[i].To)
		walls[i].From = done.Largest()
		above -= done.UpTo(walls[i].SlowestCut)
		walls[i].Outlasted = above
	}
	return walls
}

// Apart reports whether v is farther above a neighbour than cuts of one wall lie.
func Apart(neighbour, v int64) bool { return v-neighbour > max(wallGap, neighbour/50) }

// TooWide reports whether two cuts are farther apart than the smallest and the
// largest of one wall.
func TooWide(from, to int64) bool {
	// 3/20 of the smallest, taken apart so that it cannot overflow.
	return to-from > from/20*3+from%20*3/20
}

func (w Wall) isWall() bool {
	return w.To > 0 && w.Count >= fewestWallCuts && !TooWide(w.To, w.SlowestCut)
}
