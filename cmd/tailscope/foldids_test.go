package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/spf13/pflag"
	"github.com/tailscope/tailscope/internal/idfold"
	"github.com/tailscope/tailscope/internal/racing"
	"github.com/tailscope/tailscope/spans"
)

// runNaming runs analyze, as its command does, with so few hops until ids are folded.
func runNaming(t *testing.T, mode spans.FoldIDs, most int, args ...string) (string, error) {
	t.Helper()
	var out, errs bytes.Buffer
	o := &options{streams: streams{in: strings.NewReader(""), out: &out, err: &errs, memory: memory.DefaultAllocator}, analyses: choose("hops", "owner", "calls", "retries", "orphans", "timeouts")}
	flags := pflag.NewFlagSet("analyze", pflag.ContinueOnError)
	o.given = flags.Changed
	o.declare(flags)
	o.wholeFlags(flags, nil)
	for _, a := range o.analyses {
		a.declare(o, flags, false)
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	p, err := o.plan(flags.Args())
	if err != nil {
		t.Fatal(err)
	}
	p.naming = spans.NewNaming(mode, most, o.keptNames(p)...)
	p.ingest.Naming = p.naming
	err = p.run(context.Background())
	return out.String(), err
}

// idNames are names of which some differ in ids only, or have what a name becomes.
func idNames(r *rand.Rand) string {
	n := r.IntN(30)
	return [...]string{
		fmt.Sprintf("/user/%d", n), fmt.Sprintf("/user/%d/orders", n%7), fmt.Sprintf("/blob/9f86d%03x", n), "/user/{id}",
		fmt.Sprintf("POST /create/%d", n%5), "gateway", "stock",
	}[r.IntN(7)]
}

// idLog is a hop log of chains whose attempts end in all ways, with names that fold.
func idLog(r *rand.Rand, chains int, marked bool) (lines []string) {
	status := []string{"ok", "ok", "ok", "timeout", "error", "refused"}
	for chain := range chains {
		at := 1768442400000 + int64(r.IntN(400))*60000
		for range 1 + r.IntN(5) {
			name, took := idNames(r), []int{1, 20, 100, 101, 300, 1 + r.IntN(500)}[r.IntN(6)]
			line := fmt.Sprintf(`{"hop":%q,"duration_ms":%d,"start_ms":%d,"zone":"z%d","attempt":%d`, name, took, at+int64(r.IntN(50)), r.IntN(3), 1+r.IntN(8)/7)
			if r.IntN(10) > 0 {
				line += fmt.Sprintf(`,"trace_id":"%x"`, chain+1)
			}
			if marked {
				line += fmt.Sprintf(`,"status":%q`, status[r.IntN(len(status))])
			}
			if r.IntN(9) == 0 {
				line += fmt.Sprintf(`,"timeout_ms":%d`, []int{100, 300}[r.IntN(2)])
			}
			lines = append(lines, line+"}\n")
		}
	}
	return lines
}

// idSpans is the same as spans of traces.
func idSpans(r *rand.Rand, traces int) (lines []string) {
	kind := []string{"client", "server", "internal"}
	for trace := range traces {
		at := 1768442400000000 + int64(r.IntN(400))*60000000
		for span := range 1 + r.IntN(6) {
			parent := ""
			if span > 0 {
				parent = fmt.Sprintf(`,"up":"%x"`, 1+r.IntN(span))
			}
			lines = append(lines, fmt.Sprintf(`{"hop":%q,"duration_us":%d,"start_us":%d,"trace_id":"%x","span":"%x"%s,"kind":%q,"status":%q}`+"\n",
				idNames(r), 1000+r.IntN(300000), at+int64(r.IntN(5000)), trace+1, span+1, parent, kind[r.IntN(3)], []string{"ok", "timeout", "error"}[r.IntN(3)]))
		}
	}
	return lines
}

var (
	hopOfLine  = regexp.MustCompile(`"hop":"([^"]*)"`)
	idsWarning = regexp.MustCompile(`(?s),?\s*\{\s*"code": "ids_folded",\s*"text": "(\\.|[^"\\])*"\s*\}`)
	idsFinding = regexp.MustCompile(`(?s),?\s*\{\s*"code": "names_folded".*?\n    \}`)
	filesPart  = regexp.MustCompile(`(?s)"files": \[.*?\n    \]`)
	noWarnings = regexp.MustCompile(`\[\s*\]`)
	position   = regexp.MustCompile(`"(offset|bytes|byte)": \d+`)
)

// withoutIDs are lines whose names were folded beforehand, but for those kept.
func withoutIDs(lines []string, kept ...string) (out []string) {
	for _, line := range lines {
		name := hopOfLine.FindStringSubmatch(line)[1]
		if !slices.Contains(kept, name) {
			line = strings.Replace(line, `"hop":"`+name+`"`, `"hop":"`+idfold.Name(name)+`"`, 1)
		}
		out = append(out, line)
	}
	return out
}

// intoFiles writes lines into some files of a folder.
func intoFiles(t *testing.T, lines []string) string {
	t.Helper()
	folder := t.TempDir()
	for i, part := range slices.Collect(slices.Chunk(lines, max(1, len(lines)/5))) {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("part-%d.ndjson", i)), []byte(strings.Join(part, "")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// results are what a report says, without what it says of the files and of folding.
func resultsOf(page, folder string) string {
	page = strings.ReplaceAll(page, folder, "")
	for _, part := range []*regexp.Regexp{idsWarning, idsFinding, filesPart, position} {
		page = part.ReplaceAllString(page, "")
	}
	return noWarnings.ReplaceAllString(strings.ReplaceAll(page, "[,", "["), "[]")
}

// TestAReportDoesNotDependOnWhenIdsWereFolded holds a run that finds out on its way that
// there are too many hops against one that folds from the start, and against a run over
// names that were folded beforehand.
func TestAReportDoesNotDependOnWhenIdsWereFolded(t *testing.T) {
	t.Parallel()
	kept := []string{"/user/3"}
	timeouts := []string{"--timeout", "/user/{id}=100ms", "--timeout", "/user/3=300ms", "--timeout", "stock=100ms"}
	worlds := 4
	if testing.Short() || racing.Enabled {
		worlds = 1
	}
	for seed := range uint64(worlds) {
		for name, world := range map[string]struct {
			lines []string
			flags []string
		}{
			"marked":   {idLog(rand.New(rand.NewPCG(seed, 1)), 300, true), timeouts},
			"unmarked": {idLog(rand.New(rand.NewPCG(seed, 2)), 300, false), append([]string{"--by", "zone"}, timeouts...)},
			"nested":   {idLog(rand.New(rand.NewPCG(seed, 3)), 300, true), append([]string{"--infer-nesting"}, timeouts...)},
			"spilled":  {idLog(rand.New(rand.NewPCG(seed, 4)), 300, true), append([]string{"--memory", "64KiB"}, timeouts...)},
			"spans":    {idSpans(rand.New(rand.NewPCG(seed, 5)), 200), append([]string{"--field", "span=span", "--field", "parent=up", "--field", "kind=kind"}, timeouts...)},
		} {
			before := intoFiles(t, world.lines)
			folded := intoFiles(t, withoutIDs(world.lines, kept...))
			report := func(mode spans.FoldIDs, most int, folder string, jobs int) string {
				t.Helper()
				page, err := runNaming(t, mode, most, append([]string{"--format", "json", "--jobs", itoa(jobs), folder}, world.flags...)...)
				if err != nil {
					t.Fatalf("%s, seed %d: %v", name, seed, err)
				}
				return resultsOf(page, folder)
			}
			want := report(spans.FoldAlways, 1000, before, 1)
			if name != "nested" { // where the ids of spans are made of where lines stand
				if got := report(spans.FoldNever, 1000, folded, 2); got != want {
					t.Fatalf("%s, seed %d, folded beforehand:\n%s", name, seed, firstDifference(got, want))
				}
			}
			for jobs := 1; jobs <= 3; jobs++ {
				for _, most := range []int{30, 60} {
					if got := report(spans.FoldAuto, most, before, jobs); got != want {
						t.Fatalf("%s, seed %d, %d jobs, folded from hop %d on:\n%s", name, seed, jobs, most, firstDifference(got, want))
					}
				}
			}
		}
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d\n%s\nwant\n%s", i+1, strings.Join(g[max(0, i-8):min(len(g), i+3)], "\n"), strings.Join(w[max(0, i-8):min(len(w), i+3)], "\n"))
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// manyNames is a hop log with so many names, a line each and one more of the first.
func manyNames(n int, name func(int) string) string {
	var log strings.Builder
	for i := range n + 1 {
		fmt.Fprintf(&log, `{"hop":%q,"duration_ms":%d}`+"\n", name(i%n), i%50)
	}
	return log.String()
}

func TestIdsAreFoldedFromTheFirstHopTooManyOn(t *testing.T) {
	t.Parallel()
	user := func(i int) string { return fmt.Sprintf("/user/%d", 100_000+i) }
	word := func(i int) string {
		return strings.Map(func(r rune) rune { return r - '0' + 'a' }, itoa(i)) + "s"
	}
	const folded = `the ids in the names of hops were folded, as there are more than 20000 hops: 1 hop is left; "/user/100000" counts as "/user/{id}"`
	for _, c := range []struct {
		name        string
		names       int
		of          func(int) string
		flags       []string
		code        int
		out, stderr string // parts of them
	}{
		{"as many as there may be", spans.MostHops, user, nil, exitFine, `"hop": "/user/1`, ""},
		{"one more", spans.MostHops + 1, user, nil, exitFine, `"hop": "/user/{id}"`, folded},
		{"one more, in JSON", spans.MostHops + 1, user, nil, exitFine, `"code": "ids_folded"`, folded},
		{"always", 2, user, []string{"--fold-ids", "always"}, exitFine, `"hop": "/user/{id}"`, "as --fold-ids always has it: 1 hop is left"},
		{"always, without ids", 2, word, []string{"--fold-ids", "always"}, exitFine, `"hop": "as"`, ""},
		{"never", spans.MostHops + 1, user, []string{"--fold-ids", "never"}, exitFailed, "", `more than 20000 hops, such as "/user/1`},
		{"as many as there may be, never", spans.MostHops, user, []string{"--fold-ids", "never"}, exitFine, `"hop": "/user/1`, ""},
		{"without ids", spans.MostHops + 1, word, nil, exitFailed, "", `more than 20000 hops although the ids in their names are folded, such as "`},
		{"no such mode", 2, user, []string{"--fold-ids", "no"}, exitUsage, "", `--fold-ids "no": one of auto, always, never`},
	} {
		for _, jobs := range []string{"1", "3"} {
			r := tailscope(manyNames(c.names, c.of), append([]string{"quantiles", "--format", "json", "--jobs", jobs, "-"}, c.flags...)...)
			if r.code != c.code || !strings.Contains(r.out, c.out) || !strings.Contains(r.stderr, c.stderr) || (c.stderr == "") != (r.stderr == "") || c.code != exitFine && r.out != "" {
				t.Errorf("%s, %s jobs: exit code %d\n%.300s\n%s", c.name, jobs, r.code, r.out, r.stderr)
			}
		}
	}
}

// A timeout for what names become counts for all of them, folded or not; a hop that a
// flag names stays apart.
func TestFlagsThatNameHopsKnowFoldedNames(t *testing.T) {
	t.Parallel()
	log := `{"hop":"/user/1","duration_ms":100}
{"hop":"/user/2","duration_ms":100}
{"hop":"/user/3","duration_ms":100}
`
	for _, c := range []struct {
		flags     []string
		want, not string
	}{
		{[]string{"--timeout", "/user/{id}=100ms"}, `"hop": "/user/1"`, "timeout_without_hop"},
		{[]string{"--timeout", "/user/{id}=100ms"}, `"own": 1`, `"own": 3`},
		{[]string{"--timeout", "/user/{id}=100ms", "--fold-ids", "always"}, `"own": 3`, "timeout_without_hop"},
		{[]string{"--timeout", "/user/{id}=100ms", "--fold-ids", "never"}, "timeout_without_hop", `"own": 1`},
		{[]string{"--timeout", "/user/1=100ms", "--fold-ids", "always"}, `"hop": "/user/1"`, `"own": 2`},
		{[]string{"--write-hop", "/user/1", "--fold-ids", "always"}, `"hop": "/user/1"`, `"hop": "/user/2"`},
	} {
		page := must(t, log, append([]string{"analyze", "--format", "json", "-"}, c.flags...)...)
		if !strings.Contains(page, c.want) || strings.Contains(page, c.not) {
			t.Errorf("%q: want %s, not %s, in\n%s", c.flags, c.want, c.not, page[:min(len(page), 3000)])
		}
	}
}
