package report

// What tests of whole pages look for.
var (
	Hidden  = hidden
	Defused = defused
	Shorten = shorten
)

const (
	Bold, Yellow, Plain = bold, yellow, reset
	LongestName         = longestName
)
