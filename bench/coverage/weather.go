package main

import (
	"math"
	"math/rand/v2"
)

// weather says by which factor attempts are slower, for blocks of so many minutes. Factors
// and weights are those of the law that a block's factor is drawn from.
type weather struct {
	minutes          int
	draw             func(r *rand.Rand) float64
	factors, weights []float64
}

// spread draws factors whose logarithms are normal with this sigma.
func spread(minutes int, sigma float64) *weather {
	w := &weather{minutes: minutes, draw: func(r *rand.Rand) float64 { return math.Exp(sigma * r.NormFloat64()) }}
	sum := 0.0
	for z := -6.0; z <= 6; z += .05 {
		w.factors, w.weights = append(w.factors, math.Exp(sigma*z)), append(w.weights, math.Exp(-z*z/2))
		sum += math.Exp(-z * z / 2)
	}
	for i := range w.weights {
		w.weights[i] /= sum
	}
	return w
}

// spells make this share of the blocks so many times slower.
func spells(minutes int, share, factor float64) *weather {
	return &weather{
		minutes: minutes, factors: []float64{1, factor}, weights: []float64{1 - share, share},
		draw: func(r *rand.Rand) float64 {
			if r.Float64() < share {
				return factor
			}
			return 1
		},
	}
}

// ofDay draws the factor of each minute of a day; nil is steady.
func (w *weather) ofDay(r *rand.Rand, minutes int) []float64 {
	if w == nil {
		return nil
	}
	day := make([]float64, minutes)
	for i := range day {
		if i%w.minutes == 0 {
			day[i] = w.draw(r)
			continue
		}
		day[i] = day[i-1]
	}
	return day
}
