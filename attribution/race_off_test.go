//go:build !race

package attribution

const raceDetector = false
