package trace

import (
	"bytes"
	"errors"
	"sort"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/internal/spill"
)

// A trace of a million spans is a gigabyte of text, and the names of its
// services may stand at its very end. Such an element is taken apart in one
// pass: its spans go to a temporary file, the rest is kept, and then the spans
// come back in chunks together with the rest.

// split holds the spans of one large element.
type split struct {
	documents *documents
	file      *spill.File
	pending   bytes.Buffer // text of the array of spans, not yet in the file
	first     format.Place // of pending
	blocks    []block
	context   context

	rest    bytes.Buffer // the element without its spans
	open    []byte       // brackets of rest that are open
	key     string       // of the value that comes next
	wantKey bool
	// inScopes: the member of the element that is open has the scopes of OTLP.
	inScopes bool
	// whole is how much of rest ends with a whole object, and depth how many
	// brackets were open there.
	whole, depth int
	hasSpans     bool
	overlong     bool // a value of rest is too long to hold
}

// context is the rest of an element whose spans come by themselves.
type context struct {
	format.Place
	text []byte
	of   *dialect // of the element, nil for a trace
	gaps []gap
	// partial says why text may lack a part, nil if it does not.
	partial *format.Fault
}

// gap is where spans were taken out of text: of how many bytes and lines, those of all
// gaps before it included.
type gap struct {
	at, length int
	lines      int64
}

// takenOut notes that what lies between two places was taken out of text, at its end.
func (c *context) takenOut(at int, from, to format.Place) {
	g := gap{at, int(to.Offset - from.Offset), to.Line - from.Line}
	if n := len(c.gaps); n > 0 {
		g.length, g.lines = g.length+c.gaps[n-1].length, g.lines+c.gaps[n-1].lines
	}
	c.gaps = append(c.gaps, g)
}

// before is the length and the lines of all gaps before a place in text.
func (c *context) before(at int) (length int, lines int64) {
	n := sort.Search(len(c.gaps), func(i int) bool { return c.gaps[i].at > at })
	if n == 0 {
		return 0, 0
	}
	return c.gaps[n-1].length, c.gaps[n-1].lines
}

// block is a run of spans in the temporary file, or a fault.
type block struct {
	format.Place
	spans spill.Piece
	bad   *format.Fault
}

// takeApart reads the large element at hand into a split.
func (d *documents) takeApart(of *dialect) error {
	s := &split{documents: d, file: spill.New(d.File.TempDir, "spans"), context: context{Place: d.Place, of: of}}
	d.split = s
	if err := s.read(); err != nil {
		return errors.Join(err, s.close())
	}
	return nil
}

// close gives the file back; it may be called again.
func (s *split) close() error {
	if s.documents.split == s {
		s.documents.split = nil
	}
	return s.file.Close()
}

// read walks through the element token by token.
func (s *split) read() error {
	for first := true; first || len(s.open) > 0; first = false {
		whole, err := s.step()
		switch {
		case err != nil:
			return err
		case !whole:
			return s.cut()
		case s.overlong || s.rest.Len() > s.documents.File.MaxLine:
			s.pass()
			return nil
		}
	}
	s.context.text = s.rest.Bytes()
	err := s.flush()
	if s.hasSpans {
		s.blocks = append(s.blocks, block{Place: s.context.Place}) // for what is wrong with the rest
	}
	return err
}

// step takes one token, or the white space before it; whole is false where the input
// ends first.
func (s *split) step() (whole bool, err error) {
	c, ok := s.documents.Peek()
	switch {
	case !ok:
		return false, nil
	case jsonscan.White(c):
		s.keep(s.run(jsonscan.Blanks))
		return true, nil
	}
	return s.token(c)
}

// run is how many of the next bytes are among those of set.
func (s *split) run(set string) int {
	ahead := s.documents.Ahead()
	return len(ahead) - len(bytes.TrimLeft(ahead, set))
}

// token takes the bracket, the separator or the value that starts with c.
func (s *split) token(c byte) (whole bool, err error) {
	switch c {
	case '{', '[':
		return s.opening(c)
	case '}', ']':
		s.open = s.open[:len(s.open)-1]
		s.wantKey, s.key = false, ""
		s.keep(1)
		if c == '}' {
			s.mark()
		}
	case ',':
		s.wantKey = s.open[len(s.open)-1] == '{'
		s.keep(1)
	case ':':
		s.keep(1)
	default:
		return s.scalar(), nil
	}
	return true, nil
}

// opening takes a bracket, and all that is in it if it is that of the spans.
func (s *split) opening(c byte) (whole bool, err error) {
	isSpans := c == '[' && s.key == "spans" && s.spansBelong()
	s.inScopes = s.inScopes && len(s.open) > 1 || s.context.of.isScopes(s.key) && len(s.open) == 1
	s.open = append(s.open, c)
	s.wantKey, s.key = c == '{', ""
	s.keep(1)
	if !isSpans {
		return true, nil
	}
	s.mark()
	from := s.documents.Place
	whole, err = s.spans()
	s.context.takenOut(s.rest.Len(), from, s.documents.Place)
	return whole, err
}

// spansBelong reports whether an array of spans that starts here is that of the
// element: of a trace, or of a scope of OTLP.
func (s *split) spansBelong() bool {
	if of := s.context.of; of != nil && of.scopes != nil {
		return s.inScopes && len(s.open) == 3
	}
	return len(s.open) == 1
}

// mark notes that the rest can end here, once its brackets are closed.
func (s *split) mark() { s.whole, s.depth = s.rest.Len(), len(s.open) }

// keep takes the next n bytes over into the rest.
func (s *split) keep(n int) {
	s.rest.Write(s.documents.Ahead()[:n])
	s.documents.Skip(n)
}

func (s *split) scalar() (whole bool) {
	text, size, ok := s.documents.value()
	if s.overlong = size > int64(s.documents.File.MaxLine); !ok || s.overlong {
		return ok
	}
	s.key = ""
	if s.wantKey && text[0] == '"' {
		s.key = string(jsonscan.Unquoted(text))
	}
	s.wantKey = false
	s.rest.Write(text)
	return true
}

// spans moves what is in an array of spans to the file, as it stands.
func (s *split) spans() (whole bool, err error) {
	s.hasSpans = true
	for {
		c, ok := s.documents.Peek()
		switch {
		case !ok:
			return false, nil
		case c == ']':
			return true, nil
		case c == '{' || c == '[':
			if whole, err = s.span(); !whole {
				return false, err
			}
		case jsonscan.White(c) || separates(c):
			err = s.between()
		default:
			err = s.unexpected()
		}
		if err != nil {
			return true, err
		}
	}
}

// between takes what separates spans over to them. A long run of what says nothing is
// left out.
func (s *split) between() error {
	if ahead := s.documents.Ahead(); len(ahead) > 1 && ahead[1] == '{' {
		s.moveOn(1) // which is nearly always so
		return nil
	}
	if n := s.run(jsonscan.Blanks + ","); n > longestGap {
		err := s.flush()
		s.documents.Skip(n)
		return err
	}
	s.moveOn(s.run(jsonscan.Blanks + ",:}"))
	return s.flushFull()
}

// unexpected takes a value that is no span over to the spans, where it is rejected;
// one too long to hold is left out.
func (s *split) unexpected() error {
	d, at := s.documents, s.documents.Place
	text, size, ok := d.value()
	switch {
	case size > int64(d.File.MaxLine):
		return s.leaveOut(at, "value")
	case !ok:
		s.moveOn(len(d.Ahead()))
		return nil
	}
	s.add(at, text)
	return s.flushFull()
}

// leaveOut stands for what was passed since a place, which is too long to hold.
func (s *split) leaveOut(at format.Place, what string) error {
	err := s.flush()
	s.blocks = append(s.blocks, block{Place: at, bad: format.Overlong(what, s.documents.Offset-at.Offset)})
	return err
}

// moveOn takes the next n bytes over to the spans.
func (s *split) moveOn(n int) {
	s.add(s.documents.Place, s.documents.Ahead()[:n])
	s.documents.Skip(n)
}

// add adds text at a place to the spans that wait.
func (s *split) add(at format.Place, text []byte) {
	if s.pending.Len() == 0 {
		s.first = at
	}
	s.pending.Write(text)
}

// span moves one span.
func (s *split) span() (whole bool, err error) {
	d := s.documents
	end, state := d.Element(0, d.File.MaxLine)
	switch state {
	case format.ElementCut:
		d.SkipAll()
		return false, nil
	case format.ElementLong:
		return true, s.passSpan()
	}
	s.moveOn(end)
	return true, s.flushFull()
}

// passSpan leaves out a span that is too long to hold.
func (s *split) passSpan() error {
	at := s.documents.Place
	s.documents.passValue()
	return s.leaveOut(at, "span")
}

// flushFull moves what waits to the file once it makes a chunk.
func (s *split) flushFull() error {
	if s.pending.Len() < s.documents.Size {
		return nil
	}
	return s.flush()
}

// flush moves what waits to the file.
func (s *split) flush() error {
	if s.pending.Len() == 0 {
		return nil
	}
	piece, err := s.file.Write(s.pending.Bytes())
	s.blocks = append(s.blocks, block{Place: s.first, spans: piece})
	s.pending.Reset()
	return err
}

var (
	endsInside = format.NewFault(format.Incomplete, "the input ends inside the record")
	endsBefore = format.NewFault(format.Incomplete, "the input ends before the process of the span")
)

// cut closes the brackets of a rest that the input cut off.
func (s *split) cut() error {
	s.documents.SkipAll()
	s.documents.nesting = s.documents.nesting[:0]
	s.context.text = closed(s.rest.Bytes()[:s.whole], s.open[:min(s.depth, len(s.open))])
	s.context.partial = s.documents.ends().before
	s.hasSpans = true
	err := s.flush()
	s.blocks = append(s.blocks, block{Place: s.context.Place, bad: s.documents.ends().inside})
	return err
}

// closed appends the brackets that close the open ones.
func closed(text, open []byte) []byte {
	for i := len(open) - 1; i >= 0; i-- {
		text = append(text, open[i]+2) // { and }, [ and ] lie two apart
	}
	return text
}

// pass leaves out an element whose rest is too long to hold.
func (s *split) pass() {
	d := s.documents
	b := jsonscan.Balance{Depth: len(s.open)}
	if len(s.open) > 0 && !d.Pass(b.Scan) {
		d.nesting = d.nesting[:0]
	}
	s.hasSpans = true
	s.blocks = []block{{Place: s.context.Place, bad: format.Overlong("record", d.Offset-s.context.Offset)}}
}

// next hands out the spans, block by block; nil after the last. An element
// without any is handed out as it is.
func (s *split) next() (*format.Chunk, error) {
	switch {
	case !s.hasSpans:
		s.hasSpans = true
		c := s.documents.ChunkAt(s.context.Place, &fragment{of: s.context.of})
		c.Data = s.context.text
		return c, nil
	case len(s.blocks) == 0:
		return nil, s.close()
	}
	b := s.blocks[0]
	s.blocks = s.blocks[1:]
	c := s.documents.ChunkAt(b.Place, &fragment{context: &s.context})
	if c.Bad = b.bad; c.Bad != nil || b.spans.Size() == 0 {
		return c, nil
	}
	c.Data = make([]byte, b.spans.Size())
	if err := s.file.Read(b.spans, c.Data); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return c, nil
}
