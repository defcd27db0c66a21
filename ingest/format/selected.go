package format

import "github.com/tailscope/tailscope/spans"

// SelectionTies are what a span says of the selection of its trace: it is one that is
// wanted, and one that is not.
func SelectionTies(wanted, unwanted bool) (t spans.Ties) {
	if wanted {
		t |= spans.Wanted
	}
	if unwanted {
		t |= spans.Unwanted
	}
	return t
}
