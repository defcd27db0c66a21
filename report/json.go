package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/orphans"
)

// schemaVersion changes only when a field changes its meaning or goes; fields
// may be added within a version.
const schemaVersion = 1

// JSON writes the report for machines: durations are integer nanoseconds in
// fields that end in _ns, lists are never null.
func JSON(w io.Writer, r *Report, _ Options) error {
	doc, err := append(jsontype.Object{"schema_version", schemaVersion, "input", r.Input}, r.jsonSections()...).MarshalJSON()
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, doc, "", "  "); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	b.WriteByte('\n')
	_, err = w.Write(escapeHidden(b.Bytes()))
	return err
}

// jsonSections lists the sections that were asked for, keys and values in turn.
func (r *Report) jsonSections() jsontype.Object {
	var list jsontype.Object
	add := func(asked bool, key string, section any) {
		if asked {
			list = append(list, key, section)
		}
	}
	add(r.Hops != nil, "hops", jsontype.List[buckets.Result](r.Hops))
	add(r.Owner != nil, "owner", r.Owner)
	add(r.Retries != nil, "retries", r.Retries)
	add(r.Orphans != nil, "orphans", r.orphansFound())
	add(r.Timeouts != nil, "timeouts", r.Timeouts)
	return list
}

// orphansFound is what was found of orphans, with the files and addresses of the
// cases, which only the report knows.
func (r *Report) orphansFound() *orphans.Result {
	if r.Orphans == nil {
		return nil
	}
	found := *r.Orphans
	found.Items = slices.Clone(found.Items)
	for i := range found.Items {
		c := &found.Items[i]
		c.URL, c.Path = jsontype.Text(r.traceURL(c.Trace)), r.path(c.File)
	}
	return &found
}

// traceURL is the address of a trace, empty where no template was given.
func (r *Report) traceURL(trace string) string {
	if r.TraceURL == "" {
		return ""
	}
	return strings.ReplaceAll(r.TraceURL, "{trace}", inAddress(trace))
}

// inAddress makes an id that may hold anything safe in the path and in the query
// of an address.
func inAddress(id string) string {
	return strings.ReplaceAll(url.QueryEscape(id), "+", "%20")
}

// path is the name of an input file by its index in the rows.
func (r *Report) path(file int32) string {
	if int(file) < len(r.Paths) {
		return r.Paths[file]
	}
	return ""
}

// escapeHidden writes characters that a terminal would obey as \u escapes,
// which a JSON reader turns back. They occur in strings only; line breaks and
// other ASCII are the encoder's own.
func escapeHidden(doc []byte) []byte {
	if !bytes.ContainsFunc(doc, mustEscape) {
		return doc
	}
	out := make([]byte, 0, len(doc)+64)
	for len(doc) > 0 {
		r, size := utf8.DecodeRune(doc)
		if mustEscape(r) {
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		} else {
			out = append(out, doc[:size]...)
		}
		doc = doc[size:]
	}
	return out
}

func mustEscape(r rune) bool { return r > '~' && hidden(r) }
