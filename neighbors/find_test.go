package neighbors

import (
	"errors"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

func hop(service, operation string, kind spans.Kind) spans.Hop {
	return spans.Hop{Name: service + " " + operation, Service: service, Operation: operation, Kind: kind}
}

var (
	entry   = hop("web", "GET /", spans.Server)
	stock   = hop("web", "call stock", spans.Client)
	stocked = hop("stock", "load", spans.Server)
	price   = hop("web", "call price", spans.Client)
	priced  = hop("price", "GET", spans.Server)
	query   = hop("stock", "query prices", spans.Client)
)

var mesh = []Pair{{Above: entry, Below: stock, N: 3}, {Above: stock, Below: stocked, N: 3}, {Above: entry, Below: price, N: 3}, {Above: price, Below: priced, N: 2}, {Above: stocked, Below: query, N: 1}}

func TestAHopIsFoundByAnyNameThatOnlyItHas(t *testing.T) {
	hops := []spans.Hop{entry, stock, stocked, price, priced, query}
	for written, want := range map[string]spans.Hop{
		"web call stock": stock, "web call stock (client)": stock, "web → stock": stock, "web -> stock": stock, "web→stock": stock, "web->stock": stock,
		"stock": stock, "price": price, "web": entry, "call stock": stock, "load": stocked, "stock load": stocked, "stock load (server)": stocked,
		"query": query, "QUERY": query, "GET /": entry, "web → price": price, "web → call stock": stock, "price GET": priced,
	} {
		if got, err := Find(written, hops, mesh); err != nil || got != want {
			t.Errorf("%q: got %v (%v), want %v", written, got, err, want)
		}
	}
	for written, n := range map[string]int{"call": 2, "s": 4, "(client)": 3} {
		var several *AmbiguousError
		if _, err := Find(written, hops, mesh); !errors.As(err, &several) || len(several.Hops) != n {
			t.Errorf("%q: %v, want %d hops", written, err, n)
		}
	}
	for written, near := range map[string]string{"web cal stock": `"web call stock"`, "": "", "zzzzzzzz": ""} {
		var unknown *UnknownError
		if _, err := Find(written, hops, mesh); !errors.As(err, &unknown) || near != "" && (len(unknown.Nearest) == 0 || unknown.Nearest[0] != near) || near == "" && len(unknown.Nearest) > 0 {
			t.Errorf("%q: %v", written, err)
		}
	}
}

func TestHopsOfALogAreFoundByTheirCaller(t *testing.T) {
	a, b, c := spans.Hop{Name: "orders"}, spans.Hop{Name: "stock"}, spans.Hop{Name: "stock-cache"}
	hops, pairs := []spans.Hop{a, b, c}, []Pair{{Above: a, Below: b, N: 1}}
	for written, want := range map[string]spans.Hop{"stock": b, "orders → stock": b, "cache": c, "ord": a} {
		if got, err := Find(written, hops, pairs); err != nil || got != want {
			t.Errorf("%q: got %v (%v), want %v", written, got, err, want)
		}
	}
}

// TestWhatIsFoundIsLike holds LikenessOf against Find: what Find returns was never unlike.
func TestWhatIsFoundIsLike(t *testing.T) {
	hops := []spans.Hop{entry, stock, stocked, price, priced, query}
	for _, written := range []string{"web call stock", "web → stock", "web → price", "stock", "price", "web", "load", "query", "GET /"} {
		got, err := Find(written, hops, mesh)
		if err != nil {
			t.Fatal(err)
		}
		like := LikenessOf(written, got)
		if like == Unlike || like == Served && !Serves(written, stocked) && !Serves(written, priced) {
			t.Errorf("%q: %v is %d", written, got, like)
		}
	}
}
