//go:build race

package orphans

const raceDetector = true
