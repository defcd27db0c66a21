//go:build !race

package spans

// raceEnabled: memory is not what it is without the detector.
func raceEnabled() bool { return false }
