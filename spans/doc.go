// Package spans holds the one columnar layout that every input becomes.
//
//  1. A decoder fills a Row and appends it to a Builder.
//
//  2. The Builder hands out a Batch of about 16 Ki rows, an Arrow record. It
//     fills only the columns that the run reads.
//
//  3. Whoever received a Batch last owns it and calls Release exactly once,
//     on error paths too.
//
//  4. A Trace is the linked spans of one trace: parents and children, retries and cuts
//     from below. A Chain is what it is in a hop log: its attempts, what ran inside
//     what. Package assembly makes both of the rows of many batches.
//
// Hop names are dictionary-coded: the dictionary lives as long as its Builder
// and only ever grows, so an index once seen keeps its meaning. Trace ids are
// never dictionary-coded: nearly every one is new.
package spans
