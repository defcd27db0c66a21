package fit

import "math"

const goldenSection = .6180339887498949 // of an interval

// Near its maximum a function is as flat as a parabola: of an interval no wider
// than this part of the one that counts, it does not matter which point is taken.
const flat = 1e-5

// maximise returns where a function with one maximum in [lo, hi] has it, to so
// much of the interval's width.
func maximise(lo, hi, precision float64, f func(float64) float64) float64 {
	enough := precision * (hi - lo)
	a, b := hi-goldenSection*(hi-lo), lo+goldenSection*(hi-lo)
	fa, fb := f(a), f(b)
	for hi-lo > enough {
		if fa >= fb {
			if b >= hi {
				break
			}
			hi, b, fb = b, a, fa
			a = hi - goldenSection*(hi-lo)
			fa = f(a)
		} else {
			if a <= lo {
				break // no floats are left between
			}
			lo, a, fa = a, b, fb
			b = lo + goldenSection*(hi-lo)
			fb = f(b)
		}
	}
	return lo + (hi-lo)/2
}

// maximiseFrom looks at some points of [lo, hi] first, its ends among them, so
// that a second, lower maximum does no harm.
func maximiseFrom(lo, hi float64, f func(float64) float64) float64 {
	const steps = 16
	width := (hi - lo) / steps
	best, most := lo, f(lo)
	for i := 1; i <= steps; i++ {
		if s := lo + width*float64(i); f(s) > most {
			best, most = s, f(s)
		}
	}
	inside := maximise(max(lo, best-width), min(hi, best+width), flat, f)
	if f(inside) > most {
		return inside
	}
	return best
}

// edge returns where, on the way from inside to end, a condition begins to hold,
// at the side where it does not; end if it never does. Steps grow, so that a
// narrow interval is found as fast as a wide one.
func edge(inside, end float64, beyond func(float64) bool) float64 {
	step := math.Copysign(1e-3, end-inside)
	last, next := inside, inside+step
	for ; math.Abs(next-inside) < math.Abs(end-inside); step, last, next = 2*step, next, next+2*step {
		if beyond(next) {
			return bisect(last, next, beyond)
		}
	}
	if !beyond(end) {
		return end
	}
	return bisect(last, end, beyond)
}

func bisect(inside, outside float64, beyond func(float64) bool) float64 {
	const precision = 1e-11
	for math.Abs(outside-inside) > precision*max(math.Abs(inside), math.Abs(outside)) {
		middle := inside + (outside-inside)/2
		if middle == inside || middle == outside {
			break
		}
		if beyond(middle) {
			outside = middle
		} else {
			inside = middle
		}
	}
	return inside
}

// newton finds the root of a concave or convex function of a positive number, from x
// on; where it is a limit, it need not be exact.
func newton(x float64, of func(float64) (value, slope float64)) float64 {
	for range 100 {
		value, slope := of(x)
		next := min(max(x-value/slope, x/2), 2*x)
		if math.Abs(next-x) <= 1e-10*x {
			return next
		}
		x = next
	}
	return x
}
