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
// Adding a format: one file with a sniff function and a decoder, one line in
// the list of formats, one folder of fixtures.
package ingest
