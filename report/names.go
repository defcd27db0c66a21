package report

import (
	"fmt"
	"hash/fnv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	ellipsis = "…"

	zeroWidthNonJoiner = '\u200c' // part of Persian and Indic words
	zeroWidthJoiner    = '\u200d' // part of those and of emoji
	asText, asEmoji    = '\ufe0e', '\ufe0f'
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
	before := rune(' ')
	for _, r := range s {
		if hidden(r) && !(joins(r) && before >= utf8.RuneSelf) {
			b.WriteString(escaped(r))
		} else {
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

// hidden reports whether r is not a mark on the page. Format characters
// include the bidirectional overrides, zero-width spaces and tag characters; fillers
// and the blank of Braille are letters and symbols that show nothing. Of blanks only
// the usual one is known when it is seen.
func hidden(r rune) bool {
	return r >= utf8.RuneSelf && unicode.In(r, unicode.Zs, unicode.Variation_Selector, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point) ||
		unicode.Is(unicode.Cc, r) || r == brailleBlank || r == nullNotehead
}

// joins reports whether r, which shows nothing, changes what stands before it: a part
// of emoji and of Persian and Indic words, and nothing after a letter of ASCII.
func joins(r rune) bool {
	return r == zeroWidthJoiner || r == zeroWidthNonJoiner || r == asText || r == asEmoji
}

const nullNotehead = '\U0001d159'

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

// Columns is how many columns of a terminal a text takes that is Visible.
func Columns(s string) int {
	fixedWidths()
	return text.StringWidthWithoutEscSequences(s)
}

// Fitted is a text that is Visible in so many columns: shortened in its middle, or with
// blanks behind.
func Fitted(s string, columns int) string {
	fixedWidths()
	s = shorten(s, columns)
	return s + strings.Repeat(" ", max(0, columns-text.StringWidthWithoutEscSequences(s)))
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

// shortenAll shortens the names of a column. Those that would look alike, as they differ
// in their middle only, end in digits that tell them apart: a hash of the whole name, so
// that it is the same in every table.
func shortenAll(names []string, columns int) []string {
	short := make([]string, len(names))
	whole := map[string]string{}
	alike := map[string]bool{}
	for i, s := range names {
		short[i] = shorten(s, columns)
		if other, taken := whole[short[i]]; taken && other != s {
			alike[short[i]] = true
		}
		whole[short[i]] = s
	}
	for i, s := range names {
		if alike[short[i]] && len(short[i]) > 0 {
			short[i] = marked(s, columns)
		}
	}
	return short
}

// marked shortens a name and adds seven hexadecimal digits of its hash.
func marked(s string, columns int) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(s)) // which cannot fail
	mark := fmt.Sprintf("~%07x", sum.Sum32()>>4)
	return shorten(s, max(1, columns-len(mark))) + mark
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
