package ingest

import (
	"bytes"
	"errors"
	"io"
)

// piece says what the values in a chunk of a JSON document are.
type piece uint8

const (
	// anyValue: each value stands for itself, and its keys tell what it is.
	anyValue piece = iota
	// resourceSpans: elements of OTLP's array of that name.
	resourceSpans
	// loneSpans: spans out of one large value whose other parts are in
	// Chunk.context.
	loneSpans
	// documentLines: each line is a document.
	documentLines
)

// documents cuts a stream of JSON values into chunks of whole elements: a
// document can be one value of any size, so what is cut off are the traces of
// its array, or the spans of one large trace, never the document.
type documents struct {
	window
	file *File
	seq  int
	size int // of a chunk, about
	// large is from where on an element is not held whole.
	large int
	// nesting is the way from the document to the elements, outermost first.
	nesting []nest
	spool   *spool // spans of a large element that wait
	ended   bool
}

// nest is one open object or array on the way to the elements.
type nest struct {
	array bool
	kind  piece // of the elements of an array
}

// largeElement is how much of one trace is held as text. Larger ones are
// taken apart.
const largeElement = 8 << 20

func newDocuments(f *File) *documents {
	return &documents{window: window{r: f.head, line: 1}, file: f, size: chunkSize, large: largeElement}
}

func (d *documents) count() int { return d.seq }

// next returns the next chunk, io.EOF after the last.
func (d *documents) next() (*Chunk, error) {
	for {
		if d.spool != nil {
			if c, err := d.spool.next(); c != nil || err != nil {
				return c, err
			}
		}
		if d.ended {
			return nil, io.EOF
		}
		c, err := d.step()
		if c != nil || err != nil {
			return c, err
		}
	}
}

// step moves on by one key, bracket or run of elements; most steps give no
// chunk.
func (d *documents) step() (*Chunk, error) {
	d.space()
	c, ok := d.peek()
	switch {
	case !ok:
		return d.end()
	case len(d.nesting) == 0:
		return d.top(c)
	case d.nesting[len(d.nesting)-1].array:
		return d.inArray(c)
	}
	return d.inObject(c)
}

// end is the end of the stream: inside a document it came too early.
func (d *documents) end() (*Chunk, error) {
	d.ended = true
	if !errors.Is(d.err, io.EOF) {
		d.file.fail(d.err)
	}
	if len(d.nesting) == 0 {
		return nil, nil
	}
	return d.fault(Incomplete, "the input ends inside the document"), nil
}

// fault is a chunk that only says what is wrong at this place.
func (d *documents) fault(reason Reason, detail string) *Chunk {
	c := d.chunk(0, anyValue)
	c.bad = &fault{reason, detail}
	return c
}

// top is between documents.
func (d *documents) top(c byte) (*Chunk, error) {
	switch c {
	case '[':
		d.skip(1)
		d.nesting = append(d.nesting, nest{array: true})
		return nil, nil
	case '{':
		if !d.container() {
			return d.elements(anyValue)
		}
		d.skip(1)
		d.nesting = append(d.nesting, nest{})
		return nil, nil
	}
	bad := d.fault(Malformed, "bytes that are no JSON document")
	d.resync()
	return bad, nil
}

// container reports whether the object that starts here holds its traces in an
// array, rather than being one trace or span itself. The first key that tells
// decides; none among the first bytes: it is taken as a value of its own.
func (d *documents) container() bool {
	d.atLeast(headSize)
	s := jsonScanner{b: d.ahead()}
	found := false
	_ = s.members(func(key []byte) error {
		switch string(key) {
		case "data", "result", "resourceSpans", "resource_spans":
			found = true
			return errStop
		case "spans", "traceID", "spanID", "traceId", "spanId":
			return errStop
		}
		return s.skip()
	})
	return found
}

var errStop = errors.New("stop")

// resync goes on with the next line, which in JSON lines is the next document.
func (d *documents) resync() {
	d.nesting = d.nesting[:0]
	for {
		if i := bytes.IndexByte(d.ahead(), '\n'); i >= 0 {
			d.skip(i + 1)
			return
		}
		d.skip(len(d.ahead()))
		if !d.more() {
			return
		}
	}
}

// inObject is between the members of a container.
func (d *documents) inObject(c byte) (*Chunk, error) {
	switch c {
	case ',':
		d.skip(1)
		return nil, nil
	case '}':
		d.skip(1)
		d.nesting = d.nesting[:len(d.nesting)-1]
		return nil, nil
	case '"':
		return d.member()
	}
	return d.broken("expected a key")
}

func (d *documents) broken(what string) (*Chunk, error) {
	bad := d.fault(Malformed, what+" in the document")
	d.resync()
	return bad, nil
}

// member reads one key of a container and goes into its value or passes it.
func (d *documents) member() (*Chunk, error) {
	key, ok := d.key()
	if !ok {
		return d.unfinished()
	}
	c, _ := d.peek()
	switch {
	case key == "data" && c == '{':
		return d.elements(anyValue)
	case key == "data" && c == '[':
		return d.enter(nest{array: true})
	case (key == "resourceSpans" || key == "resource_spans") && c == '[':
		return d.enter(nest{array: true, kind: resourceSpans})
	case key == "result" && c == '{':
		return d.enter(nest{})
	}
	if key == "errors" {
		value, ok := d.value()
		d.file.noteErrors(value)
		return d.passed(ok)
	}
	return d.passed(d.passValue())
}

// passed is what a key without elements gives.
func (d *documents) passed(ok bool) (*Chunk, error) {
	if !ok {
		return d.unfinished()
	}
	return nil, nil
}

// unfinished is a key or value that does not end.
func (d *documents) unfinished() (*Chunk, error) {
	if d.err == nil {
		return d.broken("a key or a value that makes no sense")
	}
	d.skip(len(d.ahead()))
	return nil, nil
}

func (d *documents) enter(n nest) (*Chunk, error) {
	d.skip(1)
	d.nesting = append(d.nesting, n)
	return nil, nil
}

// inArray is between elements.
func (d *documents) inArray(c byte) (*Chunk, error) {
	switch c {
	case ',':
		d.skip(1)
		return nil, nil
	case ']':
		d.skip(1)
		d.nesting = d.nesting[:len(d.nesting)-1]
		return nil, nil
	case '{', '[':
		return d.elements(d.nesting[len(d.nesting)-1].kind)
	}
	return d.broken("expected an element")
}

// elements collects whole elements from here on until they make a chunk. In an
// array it takes as many as fit; outside of one, a single value.
func (d *documents) elements(kind piece) (*Chunk, error) {
	inArray := len(d.nesting) > 0 && d.nesting[len(d.nesting)-1].array
	whole, next := 0, 0
	for {
		end, state := d.element(next)
		switch {
		case state == elementWhole:
			whole = end
		case whole > 0:
			return d.chunk(whole, kind), nil
		case state == elementLarge:
			return nil, d.takeApart(kind)
		default:
			return d.cutElement(kind), nil
		}
		var more bool
		if next, more = d.following(whole); !inArray || whole >= d.size || !more {
			return d.chunk(whole, kind), nil
		}
	}
}

// cutElement is an element that the input cuts off. Spans before the cut are
// whole, so the decoder gets what is there.
func (d *documents) cutElement(kind piece) *Chunk {
	c := d.chunk(len(d.ahead()), kind)
	c.Open, c.Cut = true, true
	d.nesting = d.nesting[:0]
	return c
}

type elementState uint8

const (
	elementWhole elementState = iota
	elementCut
	elementLarge
)

// element finds the end of the object or array that starts at from. Both count
// from the place reached.
func (d *documents) element(from int) (end int, state elementState) {
	var s balance
	at := from
	for {
		n, done := s.scan(d.ahead()[at:])
		at += n
		switch {
		case done:
			return at, elementWhole
		case at-from > d.large:
			return 0, elementLarge
		case !d.more():
			return 0, elementCut
		}
	}
}

// following returns where the next element of the array starts, after at.
func (d *documents) following(at int) (next int, ok bool) {
	comma := false
	for {
		for ; at < len(d.ahead()); at++ {
			switch c := d.ahead()[at]; c {
			case ' ', '\t', '\n', '\r':
			case ',':
				comma = true
			default:
				return at, comma && (c == '{' || c == '[')
			}
		}
		if !d.more() {
			return 0, false
		}
	}
}

// key reads a member's name and its colon.
func (d *documents) key() (name string, ok bool) {
	text, ok := d.token(stringEnd)
	if !ok {
		return "", false
	}
	name = string(unescape(text))
	d.space()
	if c, _ := d.peek(); c != ':' {
		return name, false
	}
	d.skip(1)
	d.space()
	return name, true
}

// value reads a whole value that is no element.
func (d *documents) value() (text []byte, ok bool) {
	c, _ := d.peek()
	switch c {
	case '"':
		return d.token(stringEnd)
	case '{', '[':
		return d.token(balanced)
	case ',', ':', '}', ']':
		return nil, false
	}
	return d.token(scalarEnd)
}

// passValue moves past a value of any size without holding it.
func (d *documents) passValue() (ok bool) {
	c, _ := d.peek()
	if c != '{' && c != '[' {
		_, ok = d.value()
		return ok
	}
	var s balance
	for {
		n, done := s.scan(d.ahead())
		d.skip(n)
		if done {
			return true
		}
		if !d.more() {
			return false
		}
	}
}

// stringEnd returns the length of the string at the start of b, 0 if it does not
// end there.
func stringEnd(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	s := balance{quoted: true}
	if n := s.string(b, 1); !s.quoted {
		return n
	}
	return 0
}

// scalarEnd returns the length of the number or literal at the start of b, 0 if
// it may go on.
func scalarEnd(b []byte) int {
	return max(0, bytes.IndexFunc(b, func(c rune) bool { return c == ',' || c == '}' || c == ']' || c <= ' ' }))
}

// chunk cuts off the next n bytes.
func (d *documents) chunk(n int, kind piece) *Chunk {
	c := &Chunk{File: d.file, Seq: d.seq, piece: kind}
	c.Line, c.Offset = d.line, d.offset
	c.Data = d.take(n)
	d.seq++
	return c
}
