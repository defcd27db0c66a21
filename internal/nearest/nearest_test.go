package nearest

import "testing"

func TestNearestName(t *testing.T) {
	list := []string{"upstream", "duration_ms", "http.status_code", "rpc.request.timeout", "a"}
	for written, want := range map[string]string{
		"upstrem": "upstream", "Upstreams": "upstream", "duration": "duration_ms", "status_code": "http.status_code", "rpc.request.timout": "rpc.request.timeout",
		"nothing_like_it": "", "": "a", "b": "a",
	} {
		if got := Name(written, list); got != want {
			t.Errorf("%q: %q, want %q", written, got, want)
		}
	}
}

func TestANameIsWithinSoManyLetters(t *testing.T) {
	list := []string{"orders", "stock"}
	for written, want := range map[string]string{"oders": "orders", "Orders": "orders", "stcok": "stock", "or": "", "orderings": ""} {
		if got := Within(written, list, 2); got != want {
			t.Errorf("%q: %q, want %q", written, got, want)
		}
	}
	if got := Within("oders", list, 0); got != "" {
		t.Errorf("no letters: %q", got)
	}
}

func TestANameThatBeginsAlikeIsMeant(t *testing.T) {
	list := []string{"retries", "timeouts", "timers-of-all"}
	for written, want := range map[string]string{"retry": "retries", "timeouting": "timeouts", "ret": "", "time": ""} {
		if got := Name(written, list); got != want {
			t.Errorf("%q: %q, want %q", written, got, want)
		}
	}
}

func TestAWholeNameIsNearerThanAWordOfAnother(t *testing.T) {
	if got := Name("timeout", []string{"false-timeout", "timeouts"}); got != "timeouts" {
		t.Errorf("got %q", got)
	}
}
