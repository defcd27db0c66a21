package findings

import (
	"slices"
	"strings"

	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
)

func warned(list []note.Warning, code string) bool { return textOf(list, code) != "" }

// textOf is the text of a warning, "" where it is not there.
func textOf(list []note.Warning, code string) string {
	for _, w := range list {
		if w.Code == code {
			return w.Text
		}
	}
	return ""
}

// sentence begins with a capital and ends with a stop.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}

var half = quantile.MustP("0.5")

// median is the p50 of a summary, if it was asked for.
func median(s quantile.Summary) (ns int64, known bool) {
	for _, p := range s.Points() {
		if p.P.Compare(half) == 0 {
			return p.Value, true
		}
	}
	return 0, false
}

// list writes "a, b and c".
func list(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}

const mostNamed = 3

// few names some and counts the others.
func few(names []string) string {
	if more := len(names) - mostNamed; more > 0 {
		return list(append(slices.Clone(names[:mostNamed]), note.Count(more, "other")))
	}
	return list(names)
}

// shellWord quotes a name for a shell where it must be.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+,", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
