package main

import (
	"errors"
	"strconv"
	"strings"
)

// limit is the most rejects that a run may have.
type limit struct {
	set     bool
	count   int64
	percent float64
	share   bool
}

func parseLimit(s string) (limit, error) {
	if s == "" {
		return limit{}, nil
	}
	if digits, ok := strings.CutSuffix(s, "%"); ok {
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil || !(v >= 0 && v <= 100) {
			return limit{}, errors.New("a percentage such as 0.1%")
		}
		return limit{set: true, percent: v, share: true}, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return limit{}, errors.New("a number such as 100, or a percentage such as 0.1%")
	}
	return limit{set: true, count: n}, nil
}

// exceeded reports whether n rejects in that many records are too many.
func (l limit) exceeded(n, records int64) bool {
	switch {
	case !l.set:
		return false
	case l.share:
		return float64(n)*100 > l.percent*float64(records)
	}
	return n > l.count
}
