package spans

import "testing"

func TestWhoIsWaitedFor(t *testing.T) {
	for _, c := range []struct {
		name          string
		parent, child Kind
		ties          Ties
		waits, holds  bool
	}{
		{"a call", Server, Client, 0, true, true},
		{"FOLLOWS_FROM", Server, Client, Async, false, false},
		{"a message that is sent", Server, Producer, 0, false, true},
		{"a message that is taken", Producer, Consumer, Async, false, false},
		{"a consumer of any parent", Internal, Consumer, 0, false, false},
		{"a call of a consumer", Consumer, Client, 0, false, true},
		{"work of a producer", Producer, Internal, 0, false, true},
	} {
		tr := NewTrace(TraceID{Lo: 1}, []Span{{ID: 1}, {ID: 2, Parent: 1, Hop: 1, Ties: c.ties}}, []Hop{{Name: "p", Kind: c.parent}, {Name: "c", Kind: c.child}}, nil)
		if w, h := tr.Waits(1), tr.HoldsUp(1); w != c.waits || h != c.holds {
			t.Errorf("%s: waits %v, holds up %v", c.name, w, h)
		}
	}
}
