package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// fragment is what the cutter of traces has the decoder know of a chunk.
type fragment struct {
	// lines: each line is a document.
	lines bool
	// of is the dialect of the elements in the chunk, nil for values whose keys
	// tell what they are.
	of *dialect
	// context is set where the chunk has spans out of one large element: its other
	// parts.
	context *context
	// ends says how a chunk was cut off, nil for by the end of the input.
	ends *earlyEnd
	// partial says why the processes of spans may not be in the chunk.
	partial *format.Fault
	// processes are those of the spans of a large message, nil for those in the chunk.
	processes *processFields
	// binary: the chunk has no lines. apart: it was compressed, so that all of it
	// is at one place.
	binary, apart bool
}

func fragmentOf(c *format.Chunk) *fragment { return c.Note.(*fragment) }

// documents cuts a stream of JSON values into chunks of whole elements: a
// document can be one value of any size, so what is cut off are the traces of
// its array, or the spans of one large trace, never the document. It looks at
// brackets only and goes on after whatever makes no sense, with a reject.
type documents struct {
	format.Window
	// large is from where on an element is not held whole.
	large int
	// nesting is the way from the document to the elements, outermost first.
	nesting []nest
	split   *split      // spans of a large element that wait
	faults  int         // one behind the other, up to here
	line    *lineReader // of a document that is one line among others, nil for an input
}

// nest is one open object or array on the way to the elements.
type nest struct {
	array  bool
	of     *dialect // of the elements of an array, nil for values of any
	filled bool     // a value stands before: a comma or the end must follow
	comma  bool     // a comma stands before
}

const (
	// largeElement is how much of one trace is held as text. Larger ones are
	// taken apart.
	largeElement = 8 << 20
	// maxNesting is how deep documents lie in documents.
	maxNesting = 64
	// longestGap is how much white space between elements is held.
	longestGap = 4 << 10
)

func newDocuments(f *format.File, r io.Reader) *documents {
	return &documents{Window: format.NewWindow(f, r), large: cmp.Or(f.Sizes.Element, largeElement)}
}

// close gives the temporary file back, if there is one.
func (d *documents) close() error {
	if d.split == nil {
		return nil
	}
	return d.split.close()
}

// ends is what is said where the stream ends too early: of one line, the next one is
// another document.
func (d *documents) ends() *earlyEnd {
	if d.line != nil && d.line.ended {
		return &lineEnds
	}
	return &inputEnds
}

// earlyEnd is the end of an input or of a line inside a document: the faults of the
// document, of a record that is cut off, and of a span whose process may come later.
type earlyEnd struct{ document, inside, before *format.Fault }

var (
	inputEnds = earlyEnd{format.NewFault(format.Incomplete, "the input ends inside the document"), endsInside, endsBefore}
	lineEnds  = earlyEnd{
		format.NewFault(format.Malformed, "the line ends inside the document"),
		format.NewFault(format.Malformed, "the line ends inside the record"),
		format.NewFault(format.Malformed, "the line ends before the process of the span"),
	}
)

// Next returns the next chunk, io.EOF after the last. A fault of the temporary
// file ends the input, as one of the input itself does.
func (d *documents) Next() (*format.Chunk, error) {
	for {
		c, err := d.move()
		if c != nil {
			d.count(c)
			return c, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			d.File.Fail(err)
			d.Ended = true
		}
		if d.Ended && d.split == nil {
			return nil, io.EOF
		}
	}
}

const (
	// mostFaults is how many faults one behind the other a document may have in its
	// structure: more are no document.
	mostFaults = 1000
	// leastElement is less than a span takes: what is shorter may be a bracket in junk.
	leastElement = 64
)

// count gives the document up after too many faults in a row.
func (d *documents) count(c *format.Chunk) {
	switch {
	case len(c.Data) >= leastElement:
		d.faults = 0
		return
	case c.Bad == nil:
		return
	}
	if d.faults++; d.faults == mostFaults {
		d.File.Fail(fmt.Errorf("%d faults in a row, the last at line %d, byte %d: the rest is no document", mostFaults, c.Line, c.Offset))
		d.Ended = true
	}
}

// move takes one step; most give no chunk.
func (d *documents) move() (*format.Chunk, error) {
	switch {
	case d.split != nil:
		return d.split.next()
	case d.Ended:
		return nil, nil
	}
	return d.step()
}

// step moves on by one key, bracket or run of elements.
func (d *documents) step() (*format.Chunk, error) {
	d.Space()
	c, ok := d.Peek()
	switch {
	case !ok:
		return d.atEnd(), nil
	case len(d.nesting) == 0:
		return d.top(c)
	case d.here().array:
		return d.inArray(c)
	}
	return d.inObject(c)
}

// here is the innermost open object or array.
func (d *documents) here() *nest { return &d.nesting[len(d.nesting)-1] }

// atEnd is the end of the stream: inside a document it came too early.
func (d *documents) atEnd() *format.Chunk {
	d.End()
	if len(d.nesting) == 0 {
		return nil
	}
	c := d.Chunk(0, &fragment{})
	c.Bad = d.ends().document
	return c
}

// cut passes a token that the input cuts off: the end comes next.
func (d *documents) cut() (*format.Chunk, error) {
	d.SkipAll()
	return nil, nil
}

// fault is a chunk that only says what is wrong at this place.
func (d *documents) fault(reason format.Reason, detail string) *format.Chunk {
	c := d.Chunk(0, &fragment{})
	c.Bad = format.NewFault(reason, detail)
	return c
}

// top is between documents. What is no document there costs its line, as in
// JSON lines the next one is the next document.
func (d *documents) top(c byte) (*format.Chunk, error) {
	if c == '{' || c == '[' {
		return d.open(c)
	}
	bad := d.fault(format.Malformed, "bytes that are no JSON document")
	bad.Bad = bad.Bad.OtherLine()
	d.Pass(format.PastNewline)
	return bad, nil
}

// open goes into the value at hand where more values are in it, and else takes
// it as an element.
func (d *documents) open(c byte) (*format.Chunk, error) {
	switch {
	case len(d.nesting) == maxNesting:
		bad := d.fault(format.Malformed, "nested too deep")
		d.passValue()
		return bad, nil
	case c == '[':
		return d.enter(nest{array: true})
	case d.container(0):
		return d.enter(nest{})
	}
	return d.elements(nil)
}

func (d *documents) enter(n nest) (*format.Chunk, error) {
	d.Skip(1)
	d.nesting = append(d.nesting, n)
	return nil, nil
}

// separator deals with what stands between values: commas and the end of the
// object or array. A wrong one is a reject, but nothing is passed over for it.
func (d *documents) separator(c, closing byte) (bad *format.Chunk, done bool) {
	n := d.here()
	switch {
	case c == ',' || c == closing:
		if !n.filled && (c == ',' || n.comma) {
			bad = d.fault(format.Malformed, "a comma too many")
		}
		n.filled, n.comma = false, true
		d.Skip(1)
		if c == closing {
			d.nesting = d.nesting[:len(d.nesting)-1]
		}
		return bad, true
	case n.filled:
		n.filled = false
		return d.fault(format.Malformed, "a comma is missing"), true
	}
	n.filled = true
	return nil, false
}

// inObject is between the members of a container.
func (d *documents) inObject(c byte) (*format.Chunk, error) {
	if bad, done := d.separator(c, '}'); done {
		return bad, nil
	}
	if c != '"' {
		return d.unexpected("bytes where a key is expected"), nil
	}
	at := d.Place
	key, size, ok := d.Token(d.File.MaxLine, new(jsonscan.Balance).ScanString)
	switch {
	case !ok:
		return d.cut()
	case size > int64(d.File.MaxLine):
		return d.passMember(at, size), nil
	}
	return d.member(at, string(jsonscan.Unquoted(key)))
}

// passMember passes the value of a key that is too long to be read.
func (d *documents) passMember(at format.Place, size int64) *format.Chunk {
	bad := d.ChunkAt(at, &fragment{})
	bad.Bad = format.Overlong("key", size)
	d.Space()
	if c, ok := d.Peek(); ok && c == ':' {
		d.Skip(1)
		d.Space()
	}
	if c, ok := d.Peek(); ok && !separates(c) && !d.passValue() {
		d.SkipAll()
	}
	return bad
}

// separates reports whether no value starts with c.
func separates(c byte) bool { return c == ',' || c == ':' || c == '}' || c == ']' }

// member reads what follows a key of a container: it goes into the value or
// passes it.
func (d *documents) member(at format.Place, key string) (*format.Chunk, error) {
	d.Space()
	if c, ok := d.Peek(); ok && c == ':' {
		d.Skip(1)
		d.Space()
	} else if ok {
		return d.keyAlone(at), nil
	}
	c, ok := d.Peek()
	switch means := meanings[key]; {
	case !ok:
		return d.cut()
	case separates(c):
		return d.keyAlone(at), nil
	case c == '[' && means.elements != nil:
		return d.enter(nest{array: true, of: means.elements})
	case (c == '{' || c == '[') && means.content == holdsValues && means.elements == nil:
		return d.open(c)
	case key == "errors" || key == "error":
		return d.answerErrors()
	case !d.passValue():
		return d.cut()
	}
	return nil, nil
}

func (d *documents) keyAlone(at format.Place) *format.Chunk {
	bad := d.fault(format.Malformed, "a key without a value")
	bad.Line, bad.Offset = at.Line, at.Offset
	return bad
}

// answerErrors passes on the errors that an answer carries beside its data.
func (d *documents) answerErrors() (*format.Chunk, error) {
	text, _, ok := d.value()
	if !ok {
		return d.cut()
	}
	d.File.NoteErrors(text)
	return nil, nil
}

// unexpected passes what makes no sense at this place.
func (d *documents) unexpected(what string) *format.Chunk {
	bad := d.fault(format.Malformed, what)
	if !d.passValue() {
		d.SkipAll()
	}
	return bad
}

// inArray is between elements.
func (d *documents) inArray(c byte) (*format.Chunk, error) {
	if bad, done := d.separator(c, ']'); done {
		return bad, nil
	}
	switch of := d.here().of; {
	case c != '{' && c != '[':
		return d.unexpected("bytes between the records that are no record"), nil
	case of == nil:
		return d.open(c)
	default:
		return d.elements(of)
	}
}

// elements collects whole elements from here on until they make a chunk. In an
// array it takes as many as fit; outside of one, a single value.
func (d *documents) elements(of *dialect) (*format.Chunk, error) {
	inArray := len(d.nesting) > 0 && d.here().array
	whole, next := 0, 0
	for {
		end, state := d.Element(next, d.large)
		switch {
		case state == format.ElementWhole:
			whole = end
		case whole > 0:
			return d.Chunk(whole, &fragment{of: of}), nil
		case state == format.ElementLong:
			return nil, d.takeApart(of)
		default:
			return d.cutElement(of), nil
		}
		var more bool
		if next, more = d.following(whole); !inArray || whole >= d.Size || !more || of == nil && d.container(next) {
			return d.Chunk(whole, &fragment{of: of}), nil
		}
	}
}

// cutElement is an element that the input cuts off. Spans before the cut are
// whole, so the decoder gets what is there.
func (d *documents) cutElement(of *dialect) *format.Chunk {
	c := d.Chunk(len(d.Ahead()), &fragment{of: of, ends: d.ends()})
	c.Open, c.Cut = true, true
	d.nesting = d.nesting[:0]
	return c
}

// following returns where the next object of the array starts, one comma and a little
// white space after at.
func (d *documents) following(at int) (next int, ok bool) {
	end := at + longestGap
	for comma := false; ; at++ {
		if at == end || at == len(d.Ahead()) && !d.More() {
			return 0, false
		}
		switch c := d.Ahead()[at]; {
		case jsonscan.White(c):
		case c == ',' && !comma:
			comma = true
		default:
			return at, comma && c == '{'
		}
	}
}

// value reads a whole value that is no element, with its length; of one that is too
// long to hold, the start.
func (d *documents) value() (text []byte, size int64, ok bool) {
	c, _ := d.Peek()
	return d.Token(d.File.MaxLine, scanOf(c))
}

// scanOf returns what finds the end of a value that starts with c.
func scanOf(c byte) func([]byte) (n int, done bool) {
	switch c {
	case '"':
		return new(jsonscan.Balance).ScanString
	case '{', '[':
		return new(jsonscan.Balance).Scan
	}
	return jsonscan.ScanScalar
}

// passValue moves past a value of any size without holding it, or past a byte
// that is none.
func (d *documents) passValue() (ok bool) {
	c, _ := d.Peek()
	if separates(c) {
		d.Skip(1)
		return true
	}
	return d.Pass(scanOf(c))
}
