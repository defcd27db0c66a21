package quantile

const (
	fewestFloored = 50 // values; of fewer chance alone shows a floor too often
	// The median of values that a floor cuts off at the left is neither near it nor far
	// from it.
	mostMedian  = 4 // times the shortest
	leastMedian = 1.1
	// Without a floor few values are as small as the smallest: between it and the
	// median they become more. Above a floor they become fewer, and the upper
	// half is the longer one.
	edgeShare = 8    // at least 1 in 8 in the first quarter of the way to the median
	upperHalf = 1.75 // p90 at least so much farther above the median than the smallest below
)

var floorPs = []P{MustP("0.5"), MustP("0.9")}

// Floored reports whether values look cut off at the left: many are hardly larger than the
// smallest. Scale, in ns, is how far they spread just above it: the smallest of n lies about
// scale/n above the floor.
func Floored(u Union) (least int64, scale float64, yes bool) {
	s := Summarize(u, floorPs)
	if s.N < fewestFloored || s.Min <= 0 {
		return s.Min, 0, false
	}
	low, median, p90 := float64(s.Min), float64(s.Quantiles[0]), float64(s.Quantiles[1])
	if median < leastMedian*low || median > mostMedian*low || p90-median < upperHalf*(median-low) {
		return s.Min, 0, false
	}
	edge := s.Min + (s.Quantiles[0]-s.Min)/4
	// Half of an exponential lies below scale/1.44.
	return s.Min, (median - low) * 1.44, edgeShare*u.UpTo(edge) >= s.N
}
