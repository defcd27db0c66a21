package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

func calledHop(name string) spans.Hop { return spans.Hop{Name: name} }

// callsText writes what a column states: "front>a 2".
func callsText(c CallerColumn) string {
	var list []string
	for _, call := range c.Calls {
		list = append(list, fmt.Sprintf("%s>%s %d", call.Caller, call.Callee, call.Lines))
	}
	return fmt.Sprintf("%d of %d: %s", c.OfHops, c.Names, strings.Join(list, ", "))
}

// callerWays are the ways in which lines are read: the fast path and the general one, in
// large chunks and small ones.
func callerWays() (list []how) {
	for _, columns := range []*spans.Columns{nil, &ownerColumns} {
		for _, chunk := range []int{0, 200} {
			list = append(list, how{callers: true, columns: columns, chunk: chunk})
		}
	}
	return list
}

func TestCallersAreCountedByHop(t *testing.T) {
	line := func(more string) string {
		return `{"chain_id":"c1","start_us":1790000000000000,"duration_us":5,` + more + "}\n"
	}
	for _, c := range []struct {
		name, in string
		want     string // of each key
	}{
		{"one key", strings.Repeat(line(`"hop":"front","caller":""`)+line(`"hop":"a","caller":"front"`)+line(`"hop":"b","caller":"a"`), 5),
			"2 of 2: a>b 5, front>a 5 | 0 of 0:  | 0 of 0: "},
		{"two callers of one hop", strings.Repeat(line(`"hop":"a","caller":"b"`)+line(`"hop":"b","caller":"a"`)+line(`"hop":"b","caller":"c"`)+line(`"hop":"c","caller":"-"`), 5),
			"3 of 3: a>b 5, b>a 5, c>b 5 | 0 of 0:  | 0 of 0: "},
		{"none, and itself", strings.Repeat(line(`"hop":"a","caller":"-"`)+line(`"hop":"b","caller":"unknown"`)+line(`"hop":"c","caller":"c"`)+line(`"hop":"c","caller":null`)+line(`"hop":"c","caller":7`)+line(`"hop":"c","caller":{"a":1}`), 5),
			"1 of 1:  | 0 of 0:  | 0 of 0: "},
		{"each key by itself", strings.Repeat(line(`"hop":"a","caller":"x.go:1","source":"b"`)+line(`"hop":"b","upstream_service":"external","caller":"x.go:2","source":"eu"`), 5),
			"0 of 2:  | 0 of 1:  | 1 of 2: b>a 5"},
		{"in any case, with blanks", strings.Repeat(line(`"hop":"a","Caller":" b "`)+line(`"hop":"b","CALLER":"b"`), 5),
			"1 of 1: b>a 5 | 0 of 0:  | 0 of 0: "},
		{"a table", "chain_id,hop,duration_us,upstream_service\n" + strings.Repeat("c1,a,5,front\nc1,front,5,\nc1,b,5,a\n", 5),
			"0 of 0:  | 2 of 2: a>b 5, front>a 5 | 0 of 0: "},
	} {
		for _, h := range callerWays() {
			d := decode(t, h, c.in)
			var got []string
			for key := range spans.CallerKeys {
				got = append(got, callsText(d.callers.Column(key, nil)))
			}
			same(t, fmt.Sprintf("%s, chunks of %d", c.name, h.chunk), strings.Join(got, " | "), c.want)
		}
	}
}

func TestLinesThatNameAnotherAreCounted(t *testing.T) {
	d := decode(t, how{callers: true}, strings.Repeat(`{"hop":"a","duration_us":5,"caller":"b"}`+"\n"+`{"hop":"a","duration_us":5,"caller":"external"}`+"\n"+`{"hop":"a","duration_us":5,"caller":"-"}`+"\n"+`{"hop":"b","duration_us":5}`+"\n", 3))
	c := d.callers.Column(0, nil)
	same(t, "stated", c.Stated, map[spans.Hop]uint64{calledHop("a"): 3})
	same(t, "lines", []uint64{d.callers.Lines(calledHop("a")), d.callers.Lines(calledHop("b"))}, []uint64{9, 3})
}

func TestAnotherKeyMayNameTheCaller(t *testing.T) {
	in := strings.Repeat(`{"hop":"a","duration_us":5,"caller":"b","by":"c"}`+"\n"+`{"hop":"c","duration_us":5,"caller":"b"}`+"\n", 3)
	d := decode(t, how{callers: true, fields: []string{"caller=by"}}, in)
	same(t, "calls", callsText(d.callers.Column(0, nil)), "1 of 1: c>a 3")
	off := decode(t, how{}, in)
	same(t, "where nobody asks", callsText(off.callers.Column(0, nil)), "0 of 0: ")
}

// Too many values are no hops, however many decoders share them.
func TestAKeyWithVeryManyValuesNamesNoCaller(t *testing.T) {
	log := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, `{"hop":"a","duration_us":5,"caller":"b%d"}`+"\n", i)
		}
		return b.String()
	}
	for values, crowded := range map[int]bool{mostCallers: false, mostCallers + 1: true} {
		one := decode(t, how{callers: true}, log(0, values))
		same(t, "one decoder", one.callers.Column(0, nil).Crowded, crowded)
		left, right := decode(t, how{callers: true}, log(0, values/2)), decode(t, how{callers: true}, log(values/3, values))
		var all Callers
		all.Merge(&left.callers)
		all.Merge(&right.callers)
		same(t, "two decoders", all.Column(0, nil).Crowded, crowded)
		if !crowded {
			same(t, "values", all.Column(0, nil).Names, values)
		}
	}
}

func TestFoldedHopsAreFoundByTheirCallers(t *testing.T) {
	n := spans.NewNaming(spans.FoldAlways, spans.MostHops)
	var c Callers
	o := callers{}
	hops := []spans.Hop{n.Hop(calledHop("user-1234567")), calledHop("front")}
	o.add(&spans.Row{Hop: 0, Callers: [spans.CallerKeys][]byte{[]byte("front")}})
	o.add(&spans.Row{Hop: 1, Callers: [spans.CallerKeys][]byte{[]byte("user-7654321")}})
	c.add(hops, &o)
	if got := c.Column(0, n); got.OfHops != 2 || len(got.Calls) != 2 {
		t.Errorf("%+v of %v", got, hops)
	}
}
