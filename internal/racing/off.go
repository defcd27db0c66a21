//go:build !race

// Package racing tells tests whether the race detector looks at them: what it sees in one
// run it sees in ten, and each takes ten times as long.
package racing

// Enabled reports whether the race detector is on.
const Enabled = false
