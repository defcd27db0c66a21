package fit

import "math"

const (
	chebyshevNodes = 12
	pieceWidth     = 1
)

// sumTable gives two sums over all exceedances as functions of s without a pass
// over them each time: it computes them at 12 Chebyshev nodes a unit of s, where
// they are asked for, and interpolates. As functions of s they are analytic
// between the lines at distance pi, where the first log(1-y+y e^s) has its branch
// point, so the error is below 12.6^-12, 1e-13 of them. Source: Trefethen,
// Approximation Theory and Approximation Practice (2013), 8.
type sumTable struct {
	of     func(s float64) (a, sigma float64)
	pieces map[int]*piece
}

// piece holds both over one unit.
type piece struct{ a, sigma series }

func (t *sumTable) at(s float64) (a, sigma float64) {
	number := int(math.Floor(s / pieceWidth))
	p := t.pieces[number]
	if p == nil {
		if t.pieces == nil {
			t.pieces = map[int]*piece{}
		}
		p = t.piece(float64(number) * pieceWidth)
		t.pieces[number] = p
	}
	return p.a.at(s), p.sigma.at(s)
}

func (t *sumTable) piece(from float64) *piece {
	p := &piece{series{lo: from, hi: from + pieceWidth}, series{lo: from, hi: from + pieceWidth}}
	var a, sigma [chebyshevNodes]float64
	for j := range chebyshevNodes {
		a[j], sigma[j] = t.of(p.a.node(j))
	}
	p.a.fit(&a)
	p.sigma.fit(&sigma)
	return p
}

// series is a function on [lo, hi] as a Chebyshev series, of which the first
// coefficient counts half.
type series struct {
	lo, hi float64
	c      [chebyshevNodes]float64
}

// interpolate takes a smooth function by its values at the nodes.
func interpolate(lo, hi float64, of func(float64) float64) series {
	s := series{lo: lo, hi: hi}
	var values [chebyshevNodes]float64
	for j := range values {
		values[j] = of(s.node(j))
	}
	s.fit(&values)
	return s
}

func (s *series) node(j int) float64 {
	x := math.Cos(math.Pi * (float64(j) + .5) / chebyshevNodes)
	return s.lo + (s.hi-s.lo)*(x+1)/2
}

func (s *series) fit(values *[chebyshevNodes]float64) {
	for i := range s.c {
		for j, v := range values {
			s.c[i] += v * math.Cos(math.Pi*float64(i)*(float64(j)+.5)/chebyshevNodes) * 2 / chebyshevNodes
		}
	}
}

// at is Clenshaw's sum.
func (s *series) at(v float64) float64 {
	x := 2*(v-s.lo)/(s.hi-s.lo) - 1
	var b1, b2 float64
	for i := chebyshevNodes - 1; i > 0; i-- {
		b1, b2 = 2*x*b1-b2+s.c[i], b1
	}
	return x*b1 - b2 + s.c[0]/2
}
