//go:build race

package assembly

// raceEnabled: memory is not what it is without the detector.
func raceEnabled() bool { return true }
