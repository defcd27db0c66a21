package ingest

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/tailscope/tailscope/ingest/format"
)

func gzipped(t testing.TB, members ...string) string {
	t.Helper()
	var out bytes.Buffer
	for _, m := range members {
		z := gzip.NewWriter(&out)
		if _, err := io.WriteString(z, m); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func zstandard(t testing.TB, frames ...string) string {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for _, f := range frames {
		out = z.EncodeAll([]byte(f), out)
	}
	return string(out)
}

const (
	rowA = `{"hop":"a","duration_ms":1}` + "\n"
	rowB = `{"hop":"b","duration_ms":2}` + "\n"
)

func TestCompressedInputIsRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(rowB, 50000)
	for _, c := range []struct {
		name, in, compression string
		hops, warning         string
	}{
		{"plain", rowA + rowB, "none", "a b", ""},
		{"one member", gzipped(t, rowA+rowB), "gzip", "a b", ""},
		{"several members", gzipped(t, rowA, rowB, "", rowA), "gzip", "a b a", ""},
		{"a record over two members", gzipped(t, rowA+rowB[:9], rowB[9:]), "gzip", "a b", ""},
		{"a BOM in each member", gzipped(t, "\uFEFF"+rowA, "\uFEFF"+rowB), "gzip", "a b", ""},
		{"zero padding", gzipped(t, rowA) + strings.Repeat("\x00", 1000), "gzip", "a", "in ends in zero padding after its last whole member: they are left out"},
		{"garbage", gzipped(t, rowA, rowB) + "garbage", "gzip", "a b", "in ends in bytes that are no gzip member after its last whole member: they are left out"},
		{"one byte of garbage", gzipped(t, rowA) + "\x1f", "gzip", "a", "in ends in bytes that are no gzip member after its last whole member: they are left out"},
		{"zstd", zstandard(t, rowA+rowB), "zstd", "a b", ""},
		{"zstd frames", zstandard(t, rowA, rowB), "zstd", "a b", ""},
		{"zstd with a skippable frame", "\x5a\x2a\x4d\x18\x03\x00\x00\x00abc" + zstandard(t, rowA), "zstd", "a", ""},
		{"zstd and garbage", zstandard(t, rowA) + "garbage", "zstd", "a", "in ends in bytes that are no zstd frame after its last whole member: they are left out"},
		{"zstd and zero padding", zstandard(t, rowA) + strings.Repeat("\x00", 64), "zstd", "a", "in ends in bytes that are no zstd frame after its last whole member: they are left out"},
		{"CSV", gzipped(t, "\uFEFFhop,duration_ms\na,1\n", "\uFEFFhop,duration_ms\nb,2\n"), "gzip", "a b", ""},
		{"long gzip", gzipped(t, rowA, long), "gzip", "a" + strings.Repeat(" b", 50000), ""},
		{"long zstd", zstandard(t, rowA, long), "zstd", "a" + strings.Repeat(" b", 50000), ""},
	} {
		d := decode(t, how{}, c.in)
		if d.err != nil || d.damage != nil {
			t.Fatalf("%s: %v, %v", c.name, d.err, d.damage)
		}
		f := d.summary.Files[0]
		same(t, c.name+": compression", f.Compression, c.compression)
		same(t, c.name+": hops", strings.Join(pick(d.rows, hopOf), " "), c.hops)
		same(t, c.name+": bytes", f.Bytes, int64(len(c.in)))
		same(t, c.name+": complete", f.Complete, true)
		var told string
		for _, w := range d.summary.Warnings {
			told += w.Text
		}
		same(t, c.name+": warnings", told, c.warning)
	}
}

// A file cut at any byte loses none of its whole rows, never looks complete and
// is never an error of another kind.
func TestCutInputKeepsItsWholeRows(t *testing.T) {
	t.Parallel()
	var text, table strings.Builder
	table.WriteString("hop,duration_ms\n")
	for i := range 12 {
		fmt.Fprintf(&text, `{"hop":"h%d","duration_ms":%d}`+"\n", i, i)
		fmt.Fprintf(&table, "\"h%d\",%d\n", i, i)
	}
	for name, in := range map[string]string{
		"gzip":    gzipped(t, text.String()),
		"named":   namedGzip(t, text.String()),
		"members": gzipped(t, text.String(), text.String()),
		"CSV":     gzipped(t, table.String()),
		"zstd":    zstandard(t, text.String()),
	} {
		whole := decode(t, how{}, in)
		for cut := 2; cut < len(in); cut++ {
			if name == "zstd" && cut < 4 {
				continue // no magic yet
			}
			d := decode(t, how{chunk: 1 + cut%50}, in[:cut])
			if name == "members" && cut == len(gzipped(t, text.String())) {
				continue // the end of the first member
			}
			if name == "members" && cut == len(gzipped(t, text.String()))+1 {
				same(t, "one byte is garbage", len(d.summary.Warnings), 1)
				continue
			}
			if d.err != nil || d.damage == nil || d.summary.Files[0].Complete {
				t.Fatalf("%s cut at %d of %d: error %v, damage %v", name, cut, len(in), d.err, d.damage)
			}
			if !strings.HasPrefix(d.damage.Error(), "in: the "+whole.summary.Files[0].Compression+" stream breaks off: ") {
				t.Errorf("%v", d.damage)
			}
			readable := plainPart(t, name, in[:cut])
			if rows := strings.Count(readable, "\n"); name != "CSV" && len(d.rows) < rows || name == "CSV" && len(d.rows) < rows-1 {
				t.Fatalf("%s cut at %d: %d rows of %q", name, cut, len(d.rows), readable)
			}
			for i, row := range d.rows {
				same(t, "row", row, whole.rows[i])
			}
			for _, r := range d.rejects {
				same(t, "reason", r.Reason, format.Incomplete)
			}
		}
	}
}

// namedGzip has all the optional parts of a header.
func namedGzip(t *testing.T, text string) string {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Name, z.Comment, z.Extra = "app.log", "of today", []byte("extra")
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// plainPart is what a reader of the compression alone gives of a cut input.
func plainPart(t *testing.T, name, in string) string {
	var r io.Reader
	var err error
	if name == "zstd" {
		r, err = zstd.NewReader(strings.NewReader(in))
	} else {
		r, err = gzip.NewReader(strings.NewReader(in))
	}
	if err != nil {
		return ""
	}
	out, _ := io.ReadAll(r)
	return string(out)
}

func TestDamagedInputKeepsWhatCameBefore(t *testing.T) {
	checksum := []byte(gzipped(t, rowA+rowB))
	checksum[len(checksum)-6] ^= 1
	second := []byte(gzipped(t, rowA, rowB))
	second[len(gzipped(t, rowA))+14] ^= 0x55
	header := []byte(gzipped(t, rowA, rowB))
	header[len(gzipped(t, rowA))+2] = 99
	for _, c := range []struct{ name, in, hops, damage string }{
		{"wrong checksum", string(checksum), "a b", "in: the gzip stream breaks off: gzip: invalid checksum"},
		{"broken second member", string(second), "a", "in: the gzip stream breaks off: "},
		{"broken second header", string(header), "a", "in: the gzip stream breaks off: gzip: invalid header"},
		{"gzip magic alone", "\x1f\x8b", "", "in: the gzip stream breaks off: unexpected EOF"},
		{"not gzip after its magic", "\x1f\x8bxxxxxxxxxx", "", "in: the gzip stream breaks off: gzip: invalid header"},
		{"zstd magic alone", "\x28\xb5\x2f\xfd", "", "in: the zstd stream breaks off: "},
		{"hostile window", "\x28\xb5\x2f\xfd\x00\xff", "", "in: the zstd stream breaks off: window size exceeded"},
		{"hostile window after a frame", zstandard(t, rowA) + "\x28\xb5\x2f\xfd\x00\xff", "a", "in: the zstd stream breaks off: window size exceeded"},
	} {
		d := decode(t, how{}, c.in)
		if d.err != nil || d.damage == nil || !strings.HasPrefix(d.damage.Error(), c.damage) {
			t.Errorf("%s: error %v, damage %v; want %s", c.name, d.err, d.damage, c.damage)
			continue
		}
		same(t, c.name, strings.Join(pick(d.rows, hopOf), " "), c.hops)
		same(t, c.name+": complete", d.summary.Files[0].Complete, false)
	}
}

func TestReadErrorKeepsWhatCameBefore(t *testing.T) {
	broken := io.MultiReader(strings.NewReader(rowA+rowB+`{"hop":"c`), iotest.ErrReader(io.ErrClosedPipe))
	d := decodeSource(t, how{}, Source{Path: "in", Stdin: broken})
	same(t, "hops", pick(d.rows, hopOf), []string{"a", "b"})
	same(t, "damage", d.damage.Error(), "in: reading breaks off: io: read/write on closed pipe")
	same(t, "reject", pick(d.rejects, func(r format.Reject) string { return fmt.Sprint(r.Line, " ", r.Reason) }), []string{"3 incomplete"})
	same(t, "complete", d.summary.Files[0].Complete, false)
}

func TestInputsWithoutContentAreEmpty(t *testing.T) {
	for name, in := range map[string]string{
		"nothing": "", "newline": "\n", "blanks": " \n\t\r\n ", "BOM": "\uFEFF", "gzip": gzipped(t, ""), "gzip members": gzipped(t, "", ""), "zstd": zstandard(t, ""),
		"gzip of blanks": gzipped(t, "\n\n"),
	} {
		d := decode(t, how{}, in)
		if d.err != nil || d.damage != nil || len(d.rows) > 0 || len(d.rejects) > 0 {
			t.Fatalf("%s: %+v", name, d)
		}
		same(t, name+": warnings", fmt.Sprint(d.summary.Warnings), "[{empty_file in is empty}]")
		same(t, name+": file", []any{d.summary.Files[0].Format, d.summary.Files[0].Complete}, []any{"", true})
	}
	d := decode(t, how{}, " \n\n\t")
	same(t, "blank lines", d.summary.Blank, 3)
}

func TestDocumentThatBreaksOffInItsOnlyLineKeepsItsWholeTraces(t *testing.T) {
	for name, doc := range map[string]string{"jaeger": `{"data":[` + uiTrace + "," + uiTrace[:len(uiTrace)/2], "otlp": otlpDoc[:len(otlpDoc)-1]} {
		broken := io.MultiReader(strings.NewReader(doc), iotest.ErrReader(io.ErrClosedPipe))
		d := readTraceSource(t, traceHow{}, Source{Path: "in", Stdin: broken})
		if d.err != nil || d.damage == nil || d.summary.Files[0].Complete || d.summary.Files[0].Format != name {
			t.Errorf("%s: error %v, damage %v, %+v", name, d.err, d.damage, d.summary.Files[0])
		}
		same(t, name, pick(d.rows, func(r spanRow) string { return r.Hop + " " + r.Duration.String() }), []string{"svc op 5µs"})
	}
}

func TestInputThatBreaksOffBeforeItShowsAFormatIsDamaged(t *testing.T) {
	d := decodeSource(t, how{}, Source{Path: "in", Stdin: io.MultiReader(strings.NewReader("no for"), iotest.ErrReader(io.ErrClosedPipe))})
	if d.err != nil || d.damage == nil || d.summary.Files[0].Format != "" || len(d.rows) != 0 {
		t.Errorf("error %v, damage %v, %+v", d.err, d.damage, d.summary.Files[0])
	}
}
