//go:build race

package main

// raceEnabled: memory is not what it is without the detector, and one input of a kind
// tells it as much as many.
func raceEnabled() bool { return true }
