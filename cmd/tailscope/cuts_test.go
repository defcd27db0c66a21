package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// calledTraces are traces of a call to a, each fifth cut after 1 s and tried again; what
// it calls goes on. The tags of a cut say what more they say.
func calledTraces(cutTags string) string {
	var all []string
	for t := range 100 {
		at, isCut := 1_790_000_000_000_000+t*3_000_000, t%5 == 0
		end, tags := at+100_000+t*1000, ""
		if isCut {
			end, tags = at+1_000_300+t*5, `{"key":"error","type":"bool","value":true}`+cutTags
		}
		front, work := end+2000, end-1000
		if isCut {
			front, work = at+1_300_000, at+1_501_000
		}
		list := []string{
			spanText(t, 1, 0, "front GET", "server", at-2000, front, ""), spanText(t, 2, 1, "a call", "client", at, end, tags),
			spanText(t, 3, 2, "b work", "server", at+1000, work, ""),
		}
		if isCut {
			list = append(list, spanText(t, 4, 1, "a call", "client", end+20_000, end+120_000, ""))
		}
		all = append(all, fmt.Sprintf(`{"traceID":"%x","spans":[%s],"processes":{%s}}`, t+1, strings.Join(list, ","), processTexts("front", "a", "b")))
	}
	return `{"data":[` + strings.Join(all, ",\n") + `]}`
}

func processTexts(names ...string) string {
	var list []string
	for _, name := range names {
		list = append(list, fmt.Sprintf(`"p-%s":{"serviceName":"%s","tags":[]}`, name, name))
	}
	return strings.Join(list, ",")
}

// spanText is a span of a service and an operation, with times in µs.
func spanText(trace, id, parent int, hop, kind string, start, end int, tags string) string {
	service, operation, _ := strings.Cut(hop, " ")
	references := ""
	if parent > 0 {
		references = fmt.Sprintf(`{"refType":"CHILD_OF","traceID":"%x","spanID":"%x"}`, trace+1, parent)
	}
	all := fmt.Sprintf(`{"key":"span.kind","type":"string","value":%q}`, kind)
	if tags != "" {
		all += "," + tags
	}
	return fmt.Sprintf(`{"traceID":"%x","spanID":"%x","operationName":"%s","references":[%s],"startTime":%d,"duration":%d,"tags":[%s],"logs":[],"processID":"p-%s"}`,
		trace+1, id, operation, references, start, end-start, all, service)
}

// reportOf reads what the command prints as JSON, without what tells where records stand.
func reportOf(t *testing.T, stdin string, args ...string) map[string]any {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(must(t, stdin, append(args, "--format", "json")...)), &all); err != nil {
		t.Fatal(err)
	}
	delete(all["input"].(map[string]any), "files")
	orphans, _ := all["orphans"].(map[string]any)
	items, _ := orphans["items"].([]any)
	for _, item := range items {
		delete(item.(map[string]any), "position")
	}
	return all
}

// What --timeout or the timeout in a record finds is a cut in every part of the report.
func TestACutThatATimeoutFindsIsOneEverywhere(t *testing.T) {
	t.Parallel()
	mark, recorded := `,{"key":"error_type","type":"string","value":"timeout"}`, `,{"key":"rpc.request.timeout","type":"string","value":"1s"}`
	given := []string{"analyze", "--timeout", "a call=1s"}
	marked := reportOf(t, calledTraces(mark), given...)
	if d := cmp.Diff(marked, reportOf(t, calledTraces(""), given...)); d != "" {
		t.Errorf("with --timeout: %s", d)
	}
	if d := cmp.Diff(reportOf(t, calledTraces(mark+recorded), "analyze"), reportOf(t, calledTraces(recorded), "analyze")); d != "" {
		t.Errorf("with the timeout in the record: %s", d)
	}
	pair := marked["orphans"].(map[string]any)["pairs"].([]any)[0].(map[string]any)
	if got := fmt.Sprint(pair["cut_calls"], pair["cut_calls_with_child"], pair["orphaned"]); got != "20 20 20" {
		t.Errorf("cut calls, with a callee, orphaned: %s", got)
	}
}

// calledLog is a hop log of calls to b from a, each tenth cut, after which a fails unless
// a retry completed b.
func calledLog(cut string) string {
	var b strings.Builder
	for i := range 200 {
		at := 1_790_000_000_000 + i*1000
		line := func(hop string, from, to int, more string) {
			fmt.Fprintf(&b, `{"chain_id":"k%d","hop":"%s","start_ms":%d,"duration_ms":%d%s}`+"\n", i, hop, at+from, to-from, more)
		}
		switch {
		case i%20 == 0:
			line("b", 5, 305, cut)
			line("a", 0, 310, `,"status":"error"`)
		case i%20 == 10:
			line("b", 5, 305, cut)
			line("b", 310, 330, "")
			line("a", 0, 340, `,"status":"error"`)
		default:
			line("b", 5, 40+i%50, "")
			line("a", 0, 45+i%50, `,"status":"ok"`)
		}
	}
	return b.String()
}

func TestACutThatATimeoutFindsIsOneInEveryPartOfAHopLog(t *testing.T) {
	t.Parallel()
	given := []string{"analyze", "--timeout", "b=300ms", "--unit", "ms"}
	for name, lines := range map[string][2]string{
		"failed at it":               {`,"status":"timeout"`, `,"status":"error"`},
		"a log that marks no b":      {"", ""},
		"the timeout in the records": {`,"timeout_ms":300,"status":"timeout"`, `,"timeout_ms":300,"status":"error"`},
	} {
		args := given
		if strings.Contains(lines[0], "timeout_ms") {
			args = []string{"analyze", "--unit", "ms"}
		}
		marked, found := reportOf(t, calledLog(lines[0]), args...), reportOf(t, calledLog(lines[1]), args...)
		if d := cmp.Diff(marked, found); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		a := found["hops"].([]any)[0].(map[string]any)
		if got := fmt.Sprint(a["truncated"].(map[string]any)["cut_by"].(map[string]any)["below"], a["failed"].(map[string]any)["n"]); got != "10 10" {
			t.Errorf("%s: cut from below and failed: %s", name, got)
		}
	}
}

// A call that its retry completed is not why its caller failed.
func TestARescuedCallFailsNobody(t *testing.T) {
	t.Parallel()
	failed := `{"key":"http.status_code","type":"int64","value":503},{"key":"error","type":"bool","value":true}`
	at := 1_790_000_000_000_000
	trace := fmt.Sprintf(`{"data":[{"traceID":"1","spans":[%s],"processes":{%s}}]}`, strings.Join([]string{
		spanText(0, 1, 0, "root GET", "server", at, at+300_000, failed),
		spanText(0, 2, 1, "a call", "client", at+1000, at+101_000, `{"key":"error","type":"bool","value":true},{"key":"error.type","type":"string","value":"timeout"}`),
		spanText(0, 3, 1, "a call", "client", at+121_000, at+151_000, ""), spanText(0, 4, 1, "b call", "client", at+152_000, at+153_000, failed),
	}, ","), processTexts("root", "a", "b"))
	for _, h := range reportOf(t, trace, "analyze")["hops"].([]any) {
		h := h.(map[string]any)
		if h["hop"] != "root GET" {
			continue
		}
		if kinds := h["failed"].(map[string]any)["kinds"]; fmt.Sprint(kinds) != "[map[kind:unavailable n:1]]" || h["truncated"].(map[string]any)["n"] != 0.0 {
			t.Errorf("root GET failed %v, was cut %v", kinds, h["truncated"])
		}
	}
}

// The same run in two encodings is that run once.
func TestTheSameSpansInTwoEncodingsCountOnce(t *testing.T) {
	t.Parallel()
	raw, both := reportOf(t, "", "orphans", jaegerRaw), reportOf(t, "", "orphans", jaegerRaw, jaegerV3)
	if got, want := fmt.Sprint(both["orphans"].(map[string]any)["orphaned"]), "157"; got != want {
		t.Errorf("%s orphans, want %s", got, want)
	}
	spans, dropped := both["input"].(map[string]any)["spans"], both["input"].(map[string]any)["duplicates_dropped"]
	if spans != raw["input"].(map[string]any)["spans"] || dropped != spans {
		t.Errorf("%v spans and %v duplicates of twice %v", spans, dropped, raw["input"].(map[string]any)["spans"])
	}
}

var nextTitle = regexp.MustCompile(`(?m)^[A-Z].*\n\n`)

// Calls of one name to two services are two hops in every section; what --timeout says of
// the name counts for both, and of one of them before it.
func TestCallsOfOneNameToTwoServicesAreTwoHops(t *testing.T) {
	t.Parallel()
	var all []string
	for t := range 100 {
		at, isCut := 1_790_000_000_000_000+t*1_000_000, t%10 == 0
		end, tags := at+130_000+t*100, ""
		if isCut {
			end, tags = at+330_000, `{"key":"error","type":"bool","value":true}`
		}
		list := []string{
			spanText(t, 1, 0, "search GET", "server", at, at+400_000, ""),
			spanText(t, 2, 1, "search GET", "client", at+1000, at+21_000+t*10, ""), spanText(t, 3, 2, "price GET", "server", at+2000, at+20_000+t*10, ""),
			spanText(t, 4, 1, "search GET", "client", at+30_000, end, tags), spanText(t, 5, 4, "catalog GET", "server", at+31_000, end+20_000, ""),
		}
		all = append(all, fmt.Sprintf(`{"traceID":"%x","spans":[%s],"processes":{%s}}`, t+1, strings.Join(list, ","), processTexts("search", "price", "catalog")))
	}
	input := `{"data":[` + strings.Join(all, ",") + `]}`
	for _, timeout := range []string{"search GET=300ms", "search GET -> catalog=300ms"} {
		page := must(t, input, "analyze", "-v", "--timeout", timeout)
		for _, title := range []string{"Tail of the first attempts", "Durations by how attempts ended", "Timeouts, as given", "Who owns the tail", "Where failures sit", "Work for callers that had left", "What each timeout should be"} {
			_, section, _ := strings.Cut(page, "\n"+title)
			if at := nextTitle.FindStringIndex(section); at != nil {
				section = section[:at[0]]
			}
			if !strings.Contains(section, "search GET -> catalog") {
				t.Errorf("--timeout %s: nothing of catalog in %q", timeout, title)
			}
		}
		if strings.Contains(page, "search GET (client)") || strings.Contains(page, "no hop is called") {
			t.Errorf("--timeout %s: %s", timeout, page)
		}
		counts := map[string]string{}
		for _, h := range reportOf(t, input, "quantiles", "--timeout", timeout)["hops"].([]any) {
			h := h.(map[string]any)
			counts[fmt.Sprint(h["hop"], " ", h["kind"])] = fmt.Sprint(h["attempts"], " ", h["truncated"].(map[string]any)["n"])
		}
		want := map[string]string{"search GET server": "100 0", "search GET -> price client": "100 0", "search GET -> catalog client": "100 10", "price GET server": "100 0", "catalog GET server": "100 0"}
		if d := cmp.Diff(want, counts); d != "" {
			t.Errorf("--timeout %s: %s", timeout, d)
		}
	}
}

// Lines that are in two files count twice, which is said, whoever read them.
func TestLinesInTwoFilesAreWarnedOf(t *testing.T) {
	t.Parallel()
	lines := strings.SplitAfter(string(chainLines(t)), "\n")
	a, b := write(t, "a.ndjson", []byte(strings.Join(lines[:2000], ""))), write(t, "b.ndjson", []byte(strings.Join(lines[1000:], "")))
	warned := map[string]bool{}
	for _, jobs := range []string{"1", "3"} {
		for _, command := range []string{"quantiles", "owner"} {
			for _, w := range reportOf(t, "", command, "--jobs", jobs, a, b)["input"].(map[string]any)["warnings"].([]any) {
				if w := w.(map[string]any); w["code"] == "repeated_lines" {
					warned[fmt.Sprint(jobs, " ", w["text"])] = true
				}
			}
		}
	}
	if len(warned) != 2 {
		t.Errorf("warned of %v", warned)
	}
	if page := must(t, "", "quantiles", write(t, "first.ndjson", []byte(strings.Join(lines[:1000], ""))), write(t, "rest.ndjson", []byte(strings.Join(lines[1000:], "")))); strings.Contains(page, "count twice") {
		t.Error("two halves of a log are warned of")
	}
}
