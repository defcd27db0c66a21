package trial

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// beginnings tell the forms of bench/generate apart.
var beginnings = []struct{ prefix, form string }{
	{`{"data":[`, "jaeger"}, {`{"resourceSpans":[`, "otlp"}, {`{"time":`, "hops"}, {"time,", "hops-csv"},
}

// Form says which of the forms of bench/generate a file has, compressed or not.
func Form(file string) (string, error) {
	in, err := Open(file)
	if err != nil {
		return "", err
	}
	defer in.Close()
	begin, _ := bufio.NewReader(in).Peek(32)
	for _, b := range beginnings {
		if bytes.HasPrefix(begin, []byte(b.prefix)) {
			return b.form, nil
		}
	}
	return "", fmt.Errorf("%s: no file of bench/generate", file)
}

// Size is how many bytes a file has when decompressed.
func Size(file string) (int64, error) {
	in, err := Open(file)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	return io.Copy(io.Discard, in)
}

// Open reads a file, decompressed if its name ends in .gz or .zst.
func Open(file string) (io.ReadCloser, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.HasSuffix(file, ".gz"):
		r, err := gzip.NewReader(f)
		return opened{r, f}, err
	case strings.HasSuffix(file, ".zst"):
		r, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
		return opened{r, f}, err
	}
	return f, nil
}

// opened closes the file below a decoder.
type opened struct {
	io.Reader
	io.Closer
}
