//go:build !race

package main

// raceEnabled: memory is not what it is without the detector.
func raceEnabled() bool { return false }
