package report

// Visible returns s with everything that could steer a terminal, or pass for
// something it is not, written as an escape.
func Visible(s string) string { return visible(s) }
