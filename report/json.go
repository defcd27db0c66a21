package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"unicode/utf16"
	"unicode/utf8"
)

// schemaVersion changes only when a field changes its meaning or goes; fields
// may be added within a version.
const schemaVersion = 1

// JSON writes the report for machines, one member a section: durations are
// integer nanoseconds in fields that end in _ns, lists are never null.
func JSON(w io.Writer, r *Report, _ Options) error {
	d := document{to: bufio.NewWriterSize(w, 1<<16)}
	fmt.Fprintf(d.to, "{\n  \"schema_version\": %d", schemaVersion)
	for _, s := range r.Sections {
		if err := d.member(s); err != nil {
			return fmt.Errorf("writing JSON: %w", err)
		}
	}
	d.to.WriteString("\n}\n")
	return d.to.Flush()
}

// document writes JSON piece by piece, as the whole of many hops is large.
type document struct {
	to    *bufio.Writer
	piece bytes.Buffer
}

func (d *document) member(s Section) error {
	if s.JSON == nil {
		return nil
	}
	fmt.Fprintf(d.to, ",\n  %q: ", s.Key)
	v := s.JSON()
	if list := reflect.ValueOf(v); list.Kind() == reflect.Slice && list.Len() > 0 {
		return d.list(list)
	}
	return d.value(v, "  ")
}

// list writes a list that is a member, an item at a time.
func (d *document) list(l reflect.Value) error {
	before := "[\n    "
	for i := range l.Len() {
		d.to.WriteString(before)
		if err := d.value(l.Index(i).Addr().Interface(), "    "); err != nil {
			return err
		}
		before = ",\n    "
	}
	_, err := d.to.WriteString("\n  ]")
	return err
}

// value writes a value whose lines but the first begin with an indent.
func (d *document) value(v any, indent string) error {
	d.piece.Reset()
	e := json.NewEncoder(&d.piece)
	e.SetEscapeHTML(false)
	e.SetIndent(indent, "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := d.to.Write(escapeHidden(bytes.TrimRight(d.piece.Bytes(), "\n")))
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
