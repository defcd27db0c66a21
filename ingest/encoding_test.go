package ingest

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"
)

func inUTF16(order binary.AppendByteOrder, text string) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

func TestForeignTextIsRefusedByName(t *testing.T) {
	for in, want := range map[string]string{
		"\xff\xfe" + inUTF16(binary.LittleEndian, rowA):           "in: this is UTF-16: convert it with iconv -f UTF-16 -t UTF-8",
		"\xfe\xff" + inUTF16(binary.BigEndian, rowA):              "in: this is UTF-16: convert it with iconv -f UTF-16 -t UTF-8",
		inUTF16(binary.LittleEndian, rowA):                        "in: this is UTF-16 without a byte order mark: convert it with iconv -f UTF-16LE -t UTF-8",
		inUTF16(binary.BigEndian, rowA):                           "in: this is UTF-16 without a byte order mark: convert it with iconv -f UTF-16BE -t UTF-8",
		"\xff\xfe\x00\x00h\x00\x00\x00":                           "in: this is UTF-32: convert it with iconv -f UTF-32 -t UTF-8",
		strings.ReplaceAll(rowA+rowB, "\n", "\r"):                 `in: this is text whose lines end in CR alone: convert it with tr '\r' '\n'`,
		"hop,duration_ms\ra,1\rb,2\r":                             `in: this is text whose lines end in CR alone: convert it with tr '\r' '\n'`,
		gzipped(t, "\xff\xfe"+inUTF16(binary.LittleEndian, rowA)): "in: this is UTF-16: convert it with iconv -f UTF-16 -t UTF-8",
	} {
		if d := decode(t, how{}, in); d.err == nil || d.err.Error() != want {
			t.Errorf("%.20q: %v, want %s", in, d.err, want)
		}
	}
	for _, in := range []string{strings.TrimSpace(rowA) + "\r", rowA, strings.ReplaceAll(rowA, "\n", "\r\n"), strings.Repeat("\x00", 40) + "\n" + rowA} {
		if d := decode(t, how{}, in); d.err != nil {
			t.Errorf("%.20q: %v", in, d.err)
		}
	}
}
