package trace

import (
	"errors"
	"io"

	"github.com/tailscope/tailscope/ingest/format"
)

// lineDocuments cuts files that have a document a line. A line that is too long to be
// held is taken apart, as a document of many lines is.
type lineDocuments struct {
	lines *format.Splitter
	long  *documents // the line at hand, nil where it is none of the long ones
	given int        // chunks
}

func newLineDocuments(f *format.File, r io.Reader) *lineDocuments {
	s := format.NewSplitter(f, format.LastNewline)
	s.R, s.Note, s.KeepsLong = r, &fragment{lines: true}, true
	l := &lineDocuments{lines: s}
	f.OnClose(l.endLong)
	return l
}

// Close gives the buffers back.
func (l *lineDocuments) Close() { l.lines.Close() }

// endLong ends a long line, whatever is left of it.
func (l *lineDocuments) endLong() error {
	if l.long == nil {
		return nil
	}
	err := l.long.close()
	l.long.Close()
	l.long = nil
	return err
}

// Count returns how many chunks there were so far.
func (l *lineDocuments) Count() int { return l.given }

// Next returns the next chunk, io.EOF after the last.
func (l *lineDocuments) Next() (*format.Chunk, error) {
	c, err := l.next()
	if c != nil {
		c.Seq = l.given
		l.given++
	}
	return c, err
}

func (l *lineDocuments) next() (*format.Chunk, error) {
	for {
		if l.long != nil {
			if c, err := l.long.Next(); err == nil {
				return c, nil
			}
			_ = l.endLong() // which has no temporary file any more
			l.lines.Pass(format.PastNewline)
		}
		c, err := l.lines.Next()
		if !errors.Is(err, format.ErrLongLine) {
			return c, err
		}
		l.long = newLongLine(l.lines)
	}
}

// newLongLine cuts the line that a splitter has come to.
func newLongLine(s *format.Splitter) *documents {
	line := &lineReader{Window: &s.Window}
	d := newDocuments(s.File, line)
	d.Place, d.line = s.Place, line
	return d
}

// lineReader reads on to the end of a line, and leaves its newline.
type lineReader struct {
	*format.Window
	ended bool // at a newline
}

func (r *lineReader) Read(p []byte) (int, error) {
	if _, ok := r.Peek(); !ok {
		return 0, r.Err
	}
	n, newline := format.PastNewline(r.Ahead()[:min(len(p), len(r.Ahead()))])
	if newline {
		n--
	}
	n = copy(p, r.Ahead()[:n])
	r.Skip(n)
	if r.ended = newline; newline {
		return n, io.EOF
	}
	return n, nil
}
