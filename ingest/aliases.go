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
