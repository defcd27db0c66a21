// Package assembly makes traces and chains whole whose records come in pieces, in any
// order, from several files and workers.
//
//  1. Spans of traces go into Traces, which gives every trace whole: parents and
//     children linked.
//
//  2. Lines of hop logs that name their chain go into Chains, which gives every chain
//     whole: attempts sorted, what ran inside what, cuts from below marked.
//
// Each worker adds batches to a collector of its own. Then Each visits all traces or
// chains, partition after partition, on any number of workers. What memory does not
// hold waits in temporary files.
package assembly
