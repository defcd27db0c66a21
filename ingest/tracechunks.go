package ingest

import (
	"bytes"
	"io"
)

// firstLine is how far the first line break is looked for, to tell JSON lines
// from one large document.
const firstLine = 8 << 20

// newTraceChunker cuts JSON traces. Where the first line is a whole document and
// another follows, every line is one: a broken line is then only its own fault.
// Otherwise the values are found by their brackets.
func newTraceChunker(f *File) (chunker, error) {
	d := newDocuments(f)
	if !d.linewise() {
		return d, nil
	}
	s := newSplitter(f, lastNewline)
	s.r = io.MultiReader(bytes.NewReader(d.ahead()), d.r)
	return &documentLine{s}, nil
}

// linewise reports whether the first line is a document and another starts on
// the next.
func (d *documents) linewise() bool {
	size := 0
	for {
		if i := bytes.IndexByte(d.ahead()[size:], '\n'); i >= 0 {
			return d.startsLine(size + i + 1)
		}
		size = len(d.ahead())
		if size > firstLine || !d.more() {
			return false
		}
	}
}

// startsLine looks at the first line, n bytes long, and at what follows it.
func (d *documents) startsLine(n int) bool {
	d.atLeast(n + 1)
	first := bytes.TrimSpace(bytes.TrimPrefix(d.ahead()[:n], byteOrderMark))
	if len(first) == 0 || first[0] != '{' || len(d.ahead()) == n {
		return false
	}
	return balanced(first) == len(first) && d.ahead()[n] == '{'
}

// documentLine marks the chunks of a splitter as documents.
type documentLine struct{ *splitter }

func (l *documentLine) next() (*Chunk, error) {
	c, err := l.splitter.next()
	if c != nil {
		c.piece = documentLines
	}
	return c, err
}
