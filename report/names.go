package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	ellipsis = "…"

	zeroWidthNonJoiner = '\u200c' // part of Persian and Indic words
	zeroWidthJoiner    = '\u200d' // part of those and of emoji
)

// Visible writes out what a terminal would obey or hide: control characters,
// line breaks and marks that reorder or hide text become \n, \x1b, \u202e.
// Invalid bytes become U+FFFD.
func Visible(s string) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			b.WriteString(escaped(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hidden reports whether r is not a mark on the page. Format characters
// include the bidirectional overrides, zero-width spaces and tag characters; fillers
// and the blank of Braille are letters and symbols that show nothing.
func hidden(r rune) bool {
	if r == zeroWidthJoiner || r == zeroWidthNonJoiner {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point) || r == brailleBlank
}

const brailleBlank = '\u2800'

func escaped(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// shorten takes the middle out of a text wider than the given columns: names
// often differ only at the end.
func shorten(s string, columns int) string {
	if text.StringWidthWithoutEscSequences(s) <= columns {
		return s
	}
	room := columns - 1 // for the ellipsis
	head := fitting(s, (room+1)/2)
	return head + ellipsis + fittingEnd(s[len(head):], room/2)
}

// fitting returns the longest beginning of s that fits into the columns.
func fitting(s string, columns int) string {
	for i, r := range s {
		if columns -= text.RuneWidth(r); columns < 0 {
			return s[:i]
		}
	}
	return s
}

// fittingEnd returns the longest end of s that fits into the columns.
func fittingEnd(s string, columns int) string {
	end := len(s)
	for end > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:end])
		if columns -= text.RuneWidth(r); columns < 0 {
			break
		}
		end -= size
	}
	return s[end:]
}

// defused keeps a spreadsheet from reading a name as a formula: what starts
// like one gets an apostrophe in front.
func defused(s string) string {
	if s == "" {
		return s
	}
	first, _ := utf8.DecodeRuneInString(s)
	if strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + Visible(s)
	}
	return Visible(s)
}

// markdownEscapes keeps names from ending a table cell or becoming markup. The
// pipe is an entity since some renderers split cells before they unescape.
var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "|", "&#124;", "`", "\\`", "<", "&lt;", ">", "&gt;", "&", "&amp;",
	"*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "#", `\#`, "!", `\!`, "$", `\$`,
)

func markdown(s string) string { return markdownEscapes.Replace(Visible(s)) }
