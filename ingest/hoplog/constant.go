package hoplog

import (
	"path/filepath"
	"strings"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/internal/moment"
)

// constantHop names the hop of records that do not: --field hop==NAME, or hop=file, which
// is the name of the file where there is no such key.
type constantHop struct {
	use    *field.Use // nil where there is none
	key    *field.Key
	ofFile bool
	value  []byte
}

func newConstantHop(c *field.Config) (h constantHop) {
	for i, f := range c.Named() {
		name, ofFile, ok := f.Constant()
		if !ok {
			continue
		}
		h = constantHop{use: &field.Use{Role: field.Hop, Rank: uint16(i), Unit: moment.NoUnitGiven}, key: &field.Key{Path: f.Key}, ofFile: ofFile, value: []byte(name)}
		if i < len(c.Fields) {
			h.key.Flags = 1 << (field.FlagOf(i) - 1)
		}
		if ofFile {
			h.value = []byte(f.Key) // until a file is open
		}
		break
	}
	return h
}

// begin turns to the records of a file.
func (h *constantHop) begin(path string) {
	if h.ofFile {
		h.value = []byte(fileHop(path))
	}
}

// fileHop is what a file is called, without its folder and what says its format.
func fileHop(path string) string {
	name := filepath.Base(path)
	if path == "-" {
		return "stdin"
	}
	for _, ending := range [...]string{".gz", ".zst", ".zstd", ".log", ".ndjson", ".jsonl", ".json", ".csv", ".tsv", ".txt"} {
		if short := strings.TrimSuffix(name, ending); short != "" {
			name = short
		}
	}
	return name
}

// name gives the record a hop that has none.
func (h *constantHop) name(rec *field.Record) {
	if h.use == nil {
		return
	}
	rec.Flags |= h.key.Flags
	if rec.Get(field.Hop).Empty() {
		rec.Put(h.use, h.key, jsonscan.Text, h.value)
	}
}
