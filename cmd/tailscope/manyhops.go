package main

import (
	"os"
	"runtime/debug"
)

// garbageOfMany is what mostGarbage is where there are many hops.
const garbageOfMany = 25

// saveMemory lets less garbage pile up where there are many hops, unless the
// environment says how much.
func (l *pipeline) saveMemory() {
	if l.saving || !l.plan.naming.Many() || os.Getenv("GOGC") != "" {
		return
	}
	l.saving = true
	debug.SetGCPercent(garbageOfMany)
}

// gather hands what was collected of lines to the first worker where there are many hops:
// they are in memory once then when chains and traces are looked at. The others collect
// anew, as whoever sees what makes no difference.
func (l *pipeline) gather() {
	if !l.plan.naming.Many() {
		return
	}
	first := l.workers[0]
	first.endBatches()
	for _, w := range l.workers[1:] {
		first.mergeCollected(w)
		w.collect()
	}
}
