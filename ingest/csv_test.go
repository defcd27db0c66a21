package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/ingest/format"
)

func TestQuotedFieldsMayHoldAnything(t *testing.T) {
	d := decodeAnyhow(t, how{}, "\"hop\",\"duration\n_ms\",duration_ms\r\n\"a,b\",\"\",1\r\n\"a\r\nb\",x,2\r\n\"say \"\"hi\"\"\",,3\r\n\"\"\"\",\"\n\n\",4\n")
	same(t, "hops", pick(d.rows, hopOf), []string{"a,b", "a\nb", `say "hi"`, `"`})
	same(t, "lines", pick(d.rows, func(a attempt) string { return fmt.Sprint(a.Line, a.Offset) }), []string{"3 34", "4 46", "6 58", "7 75"})
	same(t, "rejects", len(d.rejects), 0)
}

// The columns beyond would be lost, and the rest of the header be a row.
func TestAHeaderThatDoesNotFitIntoTheHeadIsRefused(t *testing.T) {
	for _, named := range []string{"", "csv"} {
		for _, c := range []struct {
			size int
			want string
		}{{format.HeadSize, "1 row, <nil>"}, {format.HeadSize + 1, "0 row, in: this is a table whose header is longer than 256 KiB"}} {
			start := "chain,hop,duration_ms,"
			d := decode(t, how{format: named}, start+strings.Repeat("x", c.size-len(start)-1)+"\n1,a,5,2\n")
			got := fmt.Sprintf("%d row, %v", len(d.rows), d.err)
			same(t, fmt.Sprintf("%q, %d bytes", named, c.size), got[:min(len(got), len(c.want))], c.want)
		}
	}
}

// A quote that is never closed costs its line, be there quotes after it or not.
func TestUnclosedQuoteCostsOnlyItsLine(t *testing.T) {
	var in strings.Builder
	in.WriteString("hop,note,duration_ms\n")
	for i := range 100 {
		note := []string{"plain", `"quoted"`, `""`, "\"two\nlines\""}[i%4]
		if i == 50 {
			note = `"unclosed`
		}
		fmt.Fprintf(&in, "h%d,%s,%d\n", i, note, i)
	}
	d := decodeAnyhow(t, how{}, in.String())
	same(t, "rejects", pick(d.rejects, func(r format.Reject) string { return fmt.Sprint(r.Line, r.Reason, r.Detail) }), []string{"64malformeda quote that is not closed, or not within the 1 MiB that a cell with line breaks may have"})
	same(t, "accepted", len(d.rows), 99)
}

func TestQuotesEndByTheLimit(t *testing.T) {
	for _, c := range []struct {
		size int // of the record
		rows int
	}{{1 << 20, 2}, {1<<20 + 1, 1}} {
		long := fmt.Sprintf("\"%s\n\",1\n", strings.Repeat("x", c.size-6))
		if len(long) != c.size {
			t.Fatal(len(long))
		}
		d := decode(t, how{}, "hop,duration_ms\n"+long+"last,1\n")
		same(t, fmt.Sprint(c.size), len(d.rows), c.rows)
	}
}

// A line of any length is one record, with quotes or without.
func TestLongCSVLinesAreRead(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	d := decode(t, how{}, "hop,note,duration_ms\na,"+long+",1\nb,\""+long+"\",2\nc,\"\",3\n")
	same(t, "hops", pick(d.rows, hopOf), []string{"a", "b", "c"})
	same(t, "rejects", len(d.rejects), 0)
}

func TestHeaderMayComeAfterBlankLinesAndABOM(t *testing.T) {
	d := decodeAnyhow(t, how{}, "\uFEFF\n\r\n\" hop \", x , duration_ms \n\"a\nb\",1,1\n")
	same(t, "hops", pick(d.rows, hopOf), []string{"a\nb"})
	same(t, "line", d.rows[0].Line, 4)
	same(t, "offset", d.rows[0].Offset, 32)
}

func TestQuoteAfterABOMOpensAField(t *testing.T) {
	d := decodeAnyhow(t, how{}, "\uFEFF\"h\nop\",duration_ms,service\nx,1,a\n\uFEFF\"y\nz\",2,b\n")
	same(t, "hops", pick(d.rows, hopOf), []string{"a", "b"})
	d = decodeAnyhow(t, how{}, "\uFEFF\"hop\",duration_ms\nx,1\n\uFEFF\"y\nz\",2\n\uFEFF\"hop\",duration_ms\n")
	same(t, "hops", pick(d.rows, hopOf), []string{"x", "y\nz"})
	same(t, "header again", d.rejects[0].Reason, format.RepeatedHeader)
}

func TestHeaderWithoutRowsIsNoFault(t *testing.T) {
	for _, in := range []string{"hop,duration_ms\n", "hop,duration", "hop\tstart\tend\r\n"} {
		d := decodeAnyhow(t, how{}, in)
		if d.err != nil || d.summary.Records != 0 || !d.summary.Files[0].Complete {
			t.Errorf("%q: %v, %+v", in, d.err, d.summary)
		}
	}
}

func TestBlankLinesOfCSVAreCounted(t *testing.T) {
	d := decodeAnyhow(t, how{}, "hop,duration_ms\n\nx,1\n \n\r\ny,2\n\n")
	same(t, "counts", []int64{d.summary.Records, d.summary.Accepted, d.summary.Blank}, []int64{6, 2, 4})
}
