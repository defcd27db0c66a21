package spans

import "slices"

// Stop tells whoever works on very many spans that nobody waits for the result any
// more. A nil one never does.
type Stop func() bool

// Told reports whether to leave off.
func (s Stop) Told() bool { return s != nil && s() }

// askEvery is after how many comparisons a sort asks whether to leave off: some
// hundred microseconds.
const askEvery = 1 << 13

// sortUnless sorts a list, or leaves it in any order when it is told to stop.
func sortUnless[T any](stop Stop, list []T, compare func(a, b *T) int) {
	if stop == nil {
		sortFew(list, compare)
		return
	}
	compared, stopped := 0, false
	slices.SortFunc(list, func(a, b T) int {
		if compared++; compared%askEvery == 0 {
			stopped = stopped || stop()
		}
		if stopped { // all are equal: one pass ends it
			return 0
		}
		return compare(&a, &b)
	})
}
