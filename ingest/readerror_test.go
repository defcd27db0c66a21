package ingest

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// failsOnce gives some bytes, then one error, then says that it is at its end, as a
// dying mount may.
type failsOnce struct {
	r      io.Reader
	failed bool
}

var errDying = errors.New("stale file handle")

func (f *failsOnce) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if n == 0 && err == io.EOF && !f.failed {
		f.failed = true
		return 0, errDying
	}
	return n, err
}

// A read error wherever it comes, also at the end of a member or before the first
// byte, is no end of the input.
func TestReadErrorAtAnyByteIsDamage(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"plain": rowA + rowB, "gzip": gzipped(t, rowA, rowB), "zstd": zstandard(t, rowA, rowB),
		"CSV": "hop,duration_ms\na,1\nb,2345\n", "Jaeger": `{"data":[` + uiTrace + `]}`, "padded gzip": gzipped(t, rowA) + "\x00\x00",
	} {
		whole := decode(t, how{}, in)
		for at := range len(in) + 1 {
			d := decodeSource(t, how{}, Source{Path: "in", Size: int64(at % 2), Stdin: &failsOnce{r: strings.NewReader(in[:at])}})
			if d.err != nil {
				t.Fatalf("%s at %d: %v", name, at, d.err)
			}
			if !errors.Is(d.damage, errDying) && !errors.Is(d.damage, io.ErrUnexpectedEOF) || d.summary.Files[0].Complete {
				t.Fatalf("%s at %d of %d: damage %v, %+v", name, at, len(in), d.damage, d.summary.Files[0])
			}
			if n := len(d.rows); n > len(whole.rows) || n > 0 && !reflect.DeepEqual(d.rows, whole.rows[:n]) {
				t.Fatalf("%s at %d: %v, want the first of %v", name, at, d.rows, whole.rows)
			}
		}
	}
}

// One to three bytes after a whole frame are no frame that breaks off.
func TestAFewBytesAfterAZstdFrameAreAWarning(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(rowA, 3000)
	for _, frame := range zstdFramesOf(t, text) {
		for n := 1; n <= 6; n++ { // of known size and not, for both kinds of decoder
			for _, tail := range []string{"xyz"[:(n+1)/2], "\x28\xb5\x2f"[:(n+1)/2]} {
				d := decodeSource(t, how{}, Source{Path: "in", Size: int64(n % 2), Stdin: strings.NewReader(frame + tail)})
				if d.damage != nil || len(d.rows) != 3000 || len(d.summary.Warnings) != 1 || d.summary.Warnings[0].Code != "trailing_garbage" {
					t.Fatalf("%d bytes: damage %v, %d rows, %v", n, d.damage, len(d.rows), d.summary.Warnings)
				}
			}
		}
		for cut := 14; cut < len(frame); cut += 1 + cut/50 {
			if d := decodeSource(t, how{}, Source{Path: "in", Size: int64(cut % 2), Stdin: strings.NewReader(frame[:cut])}); d.damage == nil {
				t.Fatalf("cut at %d of %d: no damage", cut, len(frame))
			}
		}
	}
}

// zstdFramesOf are the forms in which frames come: with and without content size and
// checksum, of raw, repeated and compressed blocks, after skippable frames.
func zstdFramesOf(t *testing.T, text string) (frames []string) {
	t.Helper()
	for _, options := range [][]zstd.EOption{
		{zstd.WithEncoderCRC(true)}, {zstd.WithEncoderCRC(false)}, {zstd.WithSingleSegment(true)}, {zstd.WithEncoderLevel(zstd.SpeedBestCompression)},
	} {
		z, err := zstd.NewWriter(nil, options...)
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, string(z.EncodeAll([]byte(text), nil)))
		var streamed bytes.Buffer
		z.Reset(&streamed)
		for part := text; len(part) > 0; part = part[min(len(part), 70_000):] {
			if _, err := io.WriteString(z, part[:min(len(part), 70_000)]); err != nil {
				t.Fatal(err)
			}
			if err := z.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		frames = append(frames, streamed.String(), "\x51\x2a\x4d\x18\x02\x00\x00\x00ab"+streamed.String())
	}
	return frames
}

// A read error between two spans, two members or two lines is not taken for the end of
// a document either: what stands behind it may belong to what came before.
func TestReadErrorAtAnyByteOfTracesLeavesTheSpansBeforeIt(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"jaeger": fixture(t, "jaeger/good.json"), "jaeger-jsonpb": fixture(t, "jaeger-jsonpb/good.json"), "otlp": fixture(t, "otlp/good.jsonl"),
		"jaeger-proto": marshalled(t, exampleTrace()),
	} {
		for _, format := range []string{name, ""} {
			if format == "" && name == "jaeger-proto" {
				continue // it has no marks
			}
			whole := readTraces(t, traceHow{format: name}, in)
			for at := range len(in) + 1 {
				d := readTraceSource(t, traceHow{format: format}, Source{Path: "in", Stdin: &failsOnce{r: strings.NewReader(in[:at])}})
				if d.err != nil || !errors.Is(d.damage, errDying) || d.summary.Files[0].Complete {
					t.Fatalf("%s at %d: %v, damage %v, %+v", name, at, d.err, d.damage, d.summary.Files)
				}
				if n := len(d.rows); n > len(whole.rows) || n > 0 && !reflect.DeepEqual(d.rows, whole.rows[:n]) {
					t.Fatalf("%s at %d: %+v, want the first of %+v", name, at, d.rows, whole.rows)
				}
			}
		}
	}
}
