package wrap

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// Documents around records: an array of them, in lines or pretty-printed, on its own or
// in a member of an object; objects of several lines each, or several on one line.

// documents cuts a stream of documents into chunks of whole records. It looks at brackets
// only, so that a broken record is the decoder's matter.
type documents struct {
	format.Window
	path    []string // keys on the way to the array of records; empty for the documents themselves
	nesting []nest
}

// nest is an open array or object on the way to the records; level is how many keys of
// the path were passed.
type nest struct {
	array bool
	level int
}

// maxNesting is how deep records lie.
const maxNesting = 64

func newDocuments(f *format.File, path []string) *documents {
	return &documents{Window: format.NewWindow(f, f.Rest()), path: path}
}

// Next returns the next chunk, io.EOF after the last.
func (d *documents) Next() (*format.Chunk, error) {
	for !d.Ended {
		if c := d.step(); c != nil {
			return c, nil
		}
	}
	return nil, io.EOF
}

// step moves on by one key, bracket or run of records.
func (d *documents) step() *format.Chunk {
	d.separators()
	c, ok := d.Peek()
	switch {
	case !ok:
		return d.atEnd()
	case len(d.nesting) == 0:
		return d.top(c)
	case d.here().array:
		return d.inArray(c)
	}
	return d.inObject(c)
}

func (d *documents) here() nest { return d.nesting[len(d.nesting)-1] }

// separators passes what stands between values.
func (d *documents) separators() {
	for {
		d.Space()
		if c, ok := d.Peek(); !ok || c != ',' && c != 0 {
			return
		}
		d.Skip(1)
	}
}

func (d *documents) atEnd() *format.Chunk {
	d.End()
	if len(d.nesting) == 0 {
		return nil
	}
	return d.fault(format.NewFault(format.Incomplete, "the input ends inside the document"))
}

// fault is a chunk that only says what is wrong at this place.
func (d *documents) fault(bad *format.Fault) *format.Chunk {
	c := d.ChunkAt(d.Place, nil)
	c.Bad = bad
	return c
}

func (d *documents) enter(array bool, level int) *format.Chunk {
	d.Skip(1)
	d.nesting = append(d.nesting, nest{array, level})
	return nil
}

// top is between documents. What is none costs its line.
func (d *documents) top(c byte) *format.Chunk {
	switch {
	case c == '[':
		return d.enter(true, 0)
	case c == '{' && len(d.path) == 0:
		return d.records()
	case c == '{':
		return d.enter(false, 0)
	}
	bad := d.fault(format.NewFault(format.Malformed, "the line is no JSON document").OtherLine())
	d.Pass(format.PastNewline)
	return bad
}

func (d *documents) inArray(c byte) *format.Chunk {
	level := d.here().level
	switch {
	case c == ']':
		return d.leave()
	case c != '{' && c != '[':
		bad := d.fault(format.NewFault(format.NotARecord, "neither an object nor an array"))
		d.passValue(c)
		return bad
	case level == len(d.path):
		return d.records()
	case len(d.nesting) == maxNesting:
		d.passValue(c)
		return d.fault(format.NewFault(format.Malformed, "nested too deep"))
	}
	return d.enter(c == '[', level)
}

func (d *documents) leave() *format.Chunk {
	d.Skip(1)
	d.nesting = d.nesting[:len(d.nesting)-1]
	return nil
}

// inObject is between the members of an object on the way.
func (d *documents) inObject(c byte) *format.Chunk {
	switch c {
	case '}':
		return d.leave()
	case '"':
	default:
		d.passValue(c)
		return nil
	}
	key := d.key()
	d.Space()
	if c, ok := d.Peek(); ok && c == ':' {
		d.Skip(1)
		d.Space()
	}
	c, ok := d.Peek()
	level := d.here().level + 1
	if ok && key == d.path[level-1] && (c == '[' || c == '{' && level < len(d.path)) {
		return d.enter(c == '[', level)
	}
	if ok && c != '}' {
		d.passValue(c)
	}
	return nil
}

// longestKey is longer than any key that is looked for.
const longestKey = 4 << 10

// key moves past a key and returns it, "" for one that is too long.
func (d *documents) key() (key string) {
	d.AtLeast(longestKey)
	b := d.Ahead()[:min(len(d.Ahead()), longestKey)]
	if n := jsonscan.StringEnd(b); n > 0 {
		key = string(jsonscan.Unquoted(b[:n]))
	}
	d.passValue('"')
	return key
}

// passValue moves past a value of any size without holding it.
func (d *documents) passValue(c byte) {
	switch c {
	case '"':
		d.Pass(new(jsonscan.Balance).ScanString)
	case '{', '[':
		d.Pass(new(jsonscan.Balance).Scan)
	case ']', '}', ':', ',':
		d.Skip(1)
	default:
		if !d.Pass(jsonscan.ScanScalar) {
			d.SkipAll()
		}
	}
}

// records collects whole records from here on until they make a chunk.
func (d *documents) records() *format.Chunk {
	whole, next, top := 0, 0, len(d.nesting) == 0
	for {
		end, state := d.Element(next, d.File.MaxLine)
		switch {
		case state == format.ElementWhole:
			whole = end
		case whole > 0:
			return d.Chunk(whole, nil)
		case state == format.ElementLong:
			return d.passLong()
		default:
			return d.cut()
		}
		var more bool
		if next, more = d.following(whole, top); whole >= d.Size || !more {
			return d.Chunk(whole, nil)
		}
	}
}

// passLong passes a record that is too long to hold.
func (d *documents) passLong() *format.Chunk {
	c := d.ChunkAt(d.Place, nil)
	d.Pass(new(jsonscan.Balance).Scan)
	c.Bad = format.NewFault(format.LineTooLong, fmt.Sprintf("a record of %d bytes: see --max-line", d.Offset-c.Offset))
	return c
}

// cut is a record that the input cuts off.
func (d *documents) cut() *format.Chunk {
	c := d.Chunk(len(d.Ahead()), nil)
	c.Open, c.Cut = true, true
	d.nesting = d.nesting[:0]
	return c
}

// following returns where the next record starts after at.
func (d *documents) following(at int, top bool) (next int, ok bool) {
	for from := at; ; at++ {
		if at-from > format.HeadSize || at == len(d.Ahead()) && !d.More() {
			return 0, false
		}
		if c := d.Ahead()[at]; !jsonscan.White(c) && c != ',' {
			return at, c == '{' || c == '[' && !top
		}
	}
}

// elementsOf are the whole records in the head of a file.
func elementsOf(head []byte, path []string) (all [][]byte) {
	f := &format.File{MaxLine: len(head)}
	d := &documents{Window: format.NewWindow(f, bytes.NewReader(head)), path: path}
	for {
		c, err := d.Next()
		if err != nil {
			return all
		}
		if c.Bad == nil && !c.Cut {
			eachRecord(c.Data, func(at int, record []byte) { all = append(all, bytes.Clone(oneLine(record))) })
		}
	}
}

// eachRecord calls visit with every record of a run of them, and with what is none.
func eachRecord(b []byte, visit func(at int, record []byte)) {
	for at := 0; at < len(b); {
		if jsonscan.White(b[at]) || b[at] == ',' {
			at++
			continue
		}
		n := jsonscan.Balanced(b[at:])
		if n == 0 {
			n = len(b) - at
		}
		visit(at, b[at:at+n])
		at += n
	}
}

// mostPaths is how many arrays of a document are looked into.
const mostPaths = 16

// IsDocument reports whether a file starts with an array of objects, or with an object
// of several lines or with another one right behind it: then its lines are no records,
// whatever some of them look like.
func IsDocument(head []byte) bool {
	b := trim(head)
	if len(b) == 0 || b[0] != '{' && !startsArray(b) {
		return false
	}
	if b[0] == '[' {
		return true
	}
	first, rest, _ := bytes.Cut(b, format.Newline)
	first = bytes.TrimRight(first, jsonscan.Blanks)
	if n := jsonscan.Balanced(first); n > 0 {
		after := bytes.TrimLeft(first[n:], jsonscan.Blanks+",")
		return len(after) > 0 && after[0] == '{'
	}
	second, _, _ := bytes.Cut(rest, format.Newline)
	second = bytes.Trim(second, jsonscan.Blanks)
	return len(rest) > 0 && bytes.IndexByte([]byte("{[,:"), first[len(first)-1]) >= 0 && (len(second) == 0 || jsonscan.Balanced(second) != len(second) || second[0] != '{')
}

// startsArray reports whether b is an array of objects or arrays; a line such as
// "[pod/x] …" is none.
func startsArray(b []byte) bool {
	rest := bytes.TrimLeft(b[1:], jsonscan.Blanks)
	return b[0] == '[' && len(rest) > 0 && (rest[0] == '{' || rest[0] == '[')
}

// proposePaths are the ways to arrays of objects or arrays in the first document.
func proposePaths(head []byte) (paths [][]string) {
	b := trim(head)
	if len(b) == 0 || b[0] != '{' && !startsArray(b) {
		return nil
	}
	if IsDocument(head) {
		paths = append(paths, []string{})
	}
	var s jsonscan.Scanner
	s.At(b)
	for s.Peek() == '[' {
		s.I++
		s.Space()
	}
	pathsInto(&s, nil, &paths)
	return paths
}

// pathsInto notes the arrays in an object, which the head may cut off.
func pathsInto(s *jsonscan.Scanner, prefix []string, paths *[][]string) {
	if s.Peek() != '{' || len(prefix) > 5 {
		return
	}
	_ = s.Members(func(name []byte) error {
		path := append(slices.Clone(prefix), string(name))
		inner := jsonscan.Scanner{B: s.B, I: s.I}
		arrays := 0
		for ; inner.Peek() == '['; arrays++ {
			inner.I++
			inner.Space()
		}
		if arrays > 0 && (inner.Peek() == '{' || arrays > 1) && len(*paths) < mostPaths {
			*paths = append(*paths, path)
		}
		pathsInto(&inner, path, paths)
		return s.Skip()
	})
}
