// Package ingest turns files of any known format into batches of attempts and
// positioned rejects.
//
//  1. Resolve names the inputs: paths, globs, folders, "-".
//  2. Open decompresses one and recognises its format from its content.
//  3. File.Next cuts it into chunks of whole records.
//  4. Decoder.Decode turns a chunk into batches and a Tally; decoders share
//     nothing, so any number of them may work on chunks side by side.
//  5. Ledger adds up the tallies and checks that nothing was lost.
//
// A bad record is a Reject with a place and a reason; it is counted and never
// stops the run. Only input that cannot be read at all is an error.
//
// The rooms below: format is what all formats share, hoplog and trace read the two
// kinds of input, field and outcome are what records mean.
//
// Adding a format of traces: one file with a dialect, one line in the list of
// dialects, one folder of fixtures. What is recognised and not read is one row of
// trace/signature.go. Any other format is a format.Format in the list of its room.
package ingest

import "github.com/tailscope/tailscope/ingest/format"

// What a run handles of the formats' side.
type (
	File   = format.File
	Chunk  = format.Chunk
	Tally  = format.Tally
	Reject = format.Reject
	Reason = format.Reason

	RefusedError = format.RefusedError
	UnitError    = format.UnitError
)
