package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// schemaVersion changes only when a field changes its meaning or goes; fields
// may be added within a version.
const schemaVersion = 1

// JSON writes the report for machines, one member a section: durations are
// integer nanoseconds in fields that end in _ns, lists are never null.
func JSON(w io.Writer, r *Report, _ Options) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  \"schema_version\": %d", schemaVersion)
	for _, s := range r.Sections {
		if err := member(&b, s); err != nil {
			return fmt.Errorf("writing JSON: %w", err)
		}
	}
	b.WriteString("\n}\n")
	_, err := w.Write(escapeHidden(b.Bytes()))
	return err
}

func member(b *bytes.Buffer, s Section) error {
	if s.JSON == nil {
		return nil
	}
	fmt.Fprintf(b, ",\n  %q: ", s.Key)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	e.SetIndent("  ", "  ")
	err := e.Encode(s.JSON())
	b.Truncate(len(bytes.TrimRight(b.Bytes(), "\n")))
	return err
}

// escapeHidden writes characters that a terminal would obey as \u escapes,
// which a JSON reader turns back. They occur in strings only; line breaks and
// other ASCII are the encoder's own.
func escapeHidden(doc []byte) []byte {
	if !bytes.ContainsFunc(doc, mustEscape) {
		return doc
	}
	out := make([]byte, 0, len(doc)+64)
	for before := ' '; len(doc) > 0; {
		r, size := utf8.DecodeRune(doc)
		if mustEscape(r) && !(joins(r) && before >= utf8.RuneSelf) {
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		} else {
			out = append(out, doc[:size]...)
		}
		doc, before = doc[size:], r
	}
	return out
}

func mustEscape(r rune) bool { return r > '~' && hidden(r) }
