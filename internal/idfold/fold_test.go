package idfold

import (
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestIdsAreFoldedAndWordsStay(t *testing.T) {
	for _, c := range [][2]string{
		// Numbers.
		{"/user/123", "/user/{id}"}, {"/user/7", "/user/{id}"}, {"/user/0/orders/12", "/user/{id}/orders/{id}"},
		{"GET /user/123 200", "GET /user/{id} {id}"}, {"order.12345.item", "order.{id}.item"}, {"10.0.0.1:8080", "{id}.{id}.{id}.{id}:{id}"},
		{"worker-17", "worker-{id}"}, {"worker-7", "worker-7"}, {"us-east-1", "us-east-1"}, {"utf-8", "utf-8"}, {"job_3", "job_3"},
		{"1-2", "{id}-{id}"}, {"GET / HTTP/1.1", "GET / HTTP/1.1"}, {"get /7 http/2", "get /{id} http/2"}, {"xhttp/2", "xhttp/{id}"},
		// UUIDs, hexadecimal numbers.
		{"find_user_2461685a_80c9_4d9e_85e9_a3b0e9e3ea84", "find_user_{id}"},
		{"/o/550E8400-e29b-41d4-a716-446655440000/x", "/o/{id}/x"},
		{"550e8400-e29b-41d4-a716-4466554400001", "{id}-e29b-{id}-a{id}-{id}"},
		{"/blob/9f86d081", "/blob/{id}"}, {"/blob/DEADBEEF01", "/blob/{id}"}, {"/blob/deadbeef", "/blob/deadbeef"}, {"facade", "facade"},
		// Tokens.
		{"/s/01ARZ3NDEKTSV4RRFFQ69G5FAV", "/s/{id}"}, {"/s/0ujtsYcgvSTl8PAuAdqWYSMnLOv", "/s/{id}"},
		{"/t/dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "/t/{id}-{id}_{id}"}, {"/t/dQwRTzXvBnMkLpQsYa", "/t/{id}"},
		{"pod-x2x9p", "pod-{id}"}, {"getUserByIdAndOrgId", "getUserByIdAndOrgId"}, {"getV2Users", "getV2Users"}, {"int64ToString", "int64ToString"},
		{"PutHTTPSJSONRPCCall", "PutHTTPSJSONRPCCall"},
		// Versions and abbreviations.
		{"/api/v2/users", "/api/v2/users"}, {"/apis/apps/v1beta1", "/apis/apps/v1beta1"}, {"v1beta123", "v1beta{id}"}, {"v20260115", "v{id}"},
		{"http2", "http2"}, {"s3.putObject", "s3.putObject"}, {"k8s", "k8s"}, {"i18n", "i18n"}, {"e2e", "e2e"}, {"oauth2/token", "oauth2/token"},
		{"p99", "p99"}, {"shard12", "shard12"}, {"user123", "user{id}"}, {"user123profile", "user{id}profile"}, {"sha256", "sha{id}"},
		// Addresses, queries, escapes.
		{"/u/bob.smith+x@example.co.uk/inbox", "/u/{id}/inbox"}, {"bob@host", "bob@host"}, {"mail bob@example.com.", "mail {id}."}, {"@1.2", "@{id}.{id}"},
		{"/search?q=a/b&n=3", "/search?{query}"}, {"GET /a?b HTTP/1.1", "GET /a?{query} HTTP/1.1"}, {"what?", "what?"},
		{"/a%20b%2F7", "/a%20b%2F{id}"}, {"100%", "{id}%"},
		// What is a template already.
		{"/user/{id}/orders/:order", "/user/{id}/orders/:order"}, {"/user/<int:pk>", "/user/<int:pk>"}, {"", ""}, {"caf\xc3\xa9 2", "caf\xc3\xa9 {id}"}, {"\xff12\xff", "\xff12\xff"},
	} {
		if got := Name(c[0]); got != c[1] {
			t.Errorf("%q: %q, want %q", c[0], got, c[1])
		}
	}
}

func TestFoldingWhatIsFoldedChangesNothing(t *testing.T) {
	piece := rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z0-9]{1,20}`), rapid.StringMatching(`[0-9a-f]{8}`), rapid.StringMatching(`[-_./ :@?%{}]`), rapid.StringMatching(`[\x00-\xff]`),
		rapid.SampledFrom([]string{"HTTP/", "1.1", "{id}", "?{query}", "550e8400-e29b-41d4-a716-446655440000", "550e8400_e29b_41d4_a716_446655440000", "a@b.c", "@", "v1beta1"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		name := strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "name"), "")
		once := Name(name)
		if twice := Name(once); twice != once {
			t.Fatalf("%q: %q, then %q", name, once, twice)
		}
		if got := string(Append([]byte("HTTP/"), []byte(name))); got != "HTTP/"+once {
			t.Fatalf("%q behind other text: %q, want %q", name, got, "HTTP/"+once)
		}
		other := strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "operation"), "")
		if got, want := Name(name+" "+other), once+" "+Name(other); got != want {
			t.Fatalf("%q and %q, joined: %q, want %q", name, other, got, want)
		}
	})
}

func TestNamesThatDifferInOneIdBecomeOne(t *testing.T) {
	ids := map[string]*rapid.Generator[string]{
		"number": rapid.StringMatching(`[0-9]{1,20}`),
		"uuid":   rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`),
		"hex":    rapid.StringMatching(`[0-9][0-9a-f]{7,40}`),
		"ULID":   rapid.StringMatching(`0[0-9A-HJKMNP-TV-Z]{25}`),
		"KSUID":  rapid.StringMatching(`[0-9][0-9A-Za-z]{26}`),
		"mail":   rapid.StringMatching(`[a-z]{1,8}[.][a-z]{1,8}@[a-z]{1,8}[.]com`),
	}
	rapid.Check(t, func(t *rapid.T) {
		for kind, id := range ids {
			if name := "/shop/" + id.Draw(t, kind) + "/items"; Name(name) != "/shop/{id}/items" {
				t.Fatalf("%s in %q: %q", kind, name, Name(name))
			}
		}
	})
}

func TestNamesThatStayAreNotCopied(t *testing.T) {
	name, room := []byte("GET /api/v2/users/us-east-1"), make([]byte, 0, 64)
	if n := testing.AllocsPerRun(10, func() { room = Append(room[:0], name) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzFolding(f *testing.F) {
	for _, name := range []string{"/user/123", "GET /a?b HTTP/1.1", "a@b.c", "%2F7", "550e8400-e29b-41d4-a716-446655440000"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if once := Name(name); Name(once) != once {
			t.Errorf("%q: %q, then %q", name, once, Name(once))
		}
	})
}

// The page shows what becomes of names; it must not tell otherwise.
func TestTheTableInTheDocsIsTrue(t *testing.T) {
	page, err := os.ReadFile("../../docs/hop-names.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(line, "| \n"), "|")
		if len(cells) != 3 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			continue
		}
		name, folded := strings.Trim(cells[1], " `"), strings.Trim(cells[2], " `")
		rows++
		if got := Name(name); got != folded {
			t.Errorf("the page says that %q becomes %q, but it becomes %q", name, folded, got)
		}
	}
	if rows < 10 {
		t.Errorf("%d rows with examples", rows)
	}
}
