package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/tailscope/tailscope"

// table says which packages of this module each package may import. All may
// import internal packages, and internal packages import none of these.
var table = map[string][]string{
	"quantile/runs":      {},
	"quantile/depend":    {"quantile/runs"},
	"quantile":           {"quantile/runs", "quantile/depend"},
	"quantile/fit":       {"quantile", "quantile/runs", "quantile/depend"},
	"spans":              {},
	"spans/assembly":     {"spans"},
	"report":             {"quantile"},
	"ingest/selection":   {"spans"},
	"ingest/field":       {"spans", "ingest/selection"},
	"ingest/outcome":     {"spans", "ingest/field"},
	"ingest/format":      {"spans", "ingest/selection", "ingest/field", "ingest/outcome"},
	"ingest/hoplog":      {"spans", "ingest/field", "ingest/outcome", "ingest/format"},
	"ingest/trace":       {"spans", "ingest/selection", "ingest/field", "ingest/outcome", "ingest/format"},
	"ingest/preset":      {"ingest/selection", "ingest/field"},
	"ingest/wrap":        {"ingest/format"},
	"ingest":             {"spans", "report", "ingest/selection", "ingest/field", "ingest/outcome", "ingest/format", "ingest/hoplog", "ingest/trace", "ingest/preset", "ingest/wrap"},
	"buckets":            {"spans", "quantile", "quantile/depend", "quantile/fit", "report"},
	"sampling":           {"spans", "quantile"},
	"orphans":            {"spans", "quantile", "buckets", "report"},
	"nesting":            {"spans"},
	"nesting/worlds":     {"spans"},
	"callees":            {"spans"},
	"neighbors":          {"spans"},
	"attribution":        {"spans", "nesting", "quantile", "buckets", "report"},
	"retries":            {"spans", "quantile", "buckets", "report"},
	"waterfall":          {"spans", "nesting", "neighbors", "attribution", "orphans", "report"},
	"calls":              {"spans", "quantile", "report"},
	"callgraph":          {"spans", "nesting", "quantile"},
	"timeouts":           {"spans", "quantile", "quantile/depend", "quantile/fit", "buckets", "retries", "callgraph", "report"},
	"gates":              {"quantile"},
	"findings":           {"spans", "quantile", "neighbors", "ingest", "buckets", "orphans", "attribution", "calls", "retries", "timeouts"},
	"screen":             {"spans", "quantile", "neighbors", "ingest", "buckets", "orphans", "attribution", "calls", "retries", "timeouts", "findings", "report"},
	"explain":            {"spans", "quantile", "quantile/depend", "quantile/fit", "buckets", "neighbors", "orphans", "attribution", "retries", "timeouts", "calls", "findings", "report"},
	"bench/compare":      {"bench/trial"},
	"bench/table":        {"bench/trial", "bench/page"},
	"bench/coverage":     {"spans", "quantile", "quantile/depend", "quantile/fit", "buckets", "retries", "callgraph", "timeouts", "attribution", "bench/page"},
	"bench/worlds":       {"spans", "nesting", "nesting/worlds", "quantile", "attribution"},
	"bench/peers/sorted": {"bench/trial"},
	"cmd/tailscope":      {"ingest", "ingest/selection", "ingest/field", "ingest/outcome", "spans", "spans/assembly", "nesting", "callees", "quantile", "buckets", "sampling", "orphans", "attribution", "retries", "callgraph", "calls", "timeouts", "gates", "neighbors", "waterfall", "findings", "screen", "explain", "report"},
}

// pages says what tests of a package may import besides: those of whole pages have
// every section, and those of what looks at chains put some together.
var pages = map[string][]string{
	"nesting":       {"nesting/worlds"},
	"cmd/tailscope": {"nesting/worlds"},
	"attribution":   {"spans/assembly"},
	"retries":       {"spans/assembly"},
	"report":        {"ingest", "ingest/format", "spans", "quantile/fit", "buckets", "orphans", "attribution", "retries", "timeouts", "report"},
}

// Third-party types that must stay behind one package's face.
var confined = map[string][]string{
	"github.com/apache/arrow":             {"spans", "spans/assembly", "ingest", "cmd/tailscope"},
	"github.com/jaegertracing/jaeger-idl": {"ingest", "ingest/trace"},
	"github.com/spf13/cobra":              {"cmd/tailscope"},
	"github.com/jedib0t/go-pretty":        {"report"},
	"github.com/knadh/koanf":              {"internal/configfile"},
}

// banned are package names that say nothing.
var banned = []string{"util", "utils", "common", "types", "models", "helpers", "misc", "base"}

// TestPackagesImportOnlyWhatTheTableAllows parses the files itself: what an
// executed "go list" reads, the test cache does not see.
func TestPackagesImportOnlyWhatTheTableAllows(t *testing.T) {
	for file, imports := range parse(t) {
		from := path.Dir(file)
		for _, to := range imports {
			if strings.HasSuffix(file, "_test.go") && (to == module+"/"+from || slices.Contains(pages[from], strings.TrimPrefix(to, module+"/"))) {
				continue // an example stands outside what it shows
			}
			if problem := violation(from, to); problem != "" {
				t.Errorf("%s imports %s: %s", file, to, problem)
			}
		}
	}
}

func violation(from, to string) string {
	for library, allowed := range confined {
		if strings.HasPrefix(to, library) && !slices.Contains(allowed, from) {
			return "it belongs in " + strings.Join(allowed, ", ") + " only"
		}
	}
	to, ours := strings.CutPrefix(to, module+"/")
	if !ours || strings.HasPrefix(to, "internal/") {
		return ""
	}
	if strings.HasPrefix(from, "internal/") {
		return "an internal package imports none of the others"
	}
	allowed, known := table[from]
	if !known {
		return "package " + from + " is not in the table"
	}
	if !slices.Contains(allowed, to) {
		return "the table does not allow it"
	}
	return ""
}

func TestViolationNoticesEachRule(t *testing.T) {
	for _, c := range []struct {
		from, to string
		bad      bool
	}{
		{"quantile", module + "/spans", true},
		{"ingest", module + "/spans", false},
		{"report", module + "/orphans", true},
		{"ingest", module + "/internal/note", false},
		{"internal/note", module + "/spans", true},
		{"newcomer", module + "/spans", true},
		{"report", "github.com/apache/arrow/go/v15/arrow", true},
		{"spans", "github.com/apache/arrow/go/v15/arrow", false},
	} {
		if got := violation(c.from, c.to) != ""; got != c.bad {
			t.Errorf("%s -> %s: violation %v, want %v", c.from, c.to, got, c.bad)
		}
	}
}

func TestEveryPackageHasANameThatSaysSomething(t *testing.T) {
	for file := range parse(t) {
		if name := path.Base(path.Dir(file)); slices.Contains(banned, name) {
			t.Errorf("%s: package name %q", file, name)
		}
	}
}

// What is larger is hard to take in at once.
const (
	mostLines = 500 // of a file
	mostFiles = 20  // of a package, tests aside
)

func TestFilesAndPackagesStaySmall(t *testing.T) {
	files := map[string]int{}
	for file := range parse(t) {
		text, err := os.ReadFile(filepath.Join(rootDir(t), file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > mostLines {
			t.Errorf("%s has %d lines, more than %d", file, n, mostLines)
		}
		if !strings.HasSuffix(file, "_test.go") {
			files[path.Dir(file)]++
		}
	}
	for folder, n := range files {
		if n > mostFiles {
			t.Errorf("%s has %d files, more than %d", folder, n, mostFiles)
		}
	}
}

func TestOnlyMainEndsTheProcess(t *testing.T) {
	root := rootDir(t)
	for file := range parse(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name.Name == "main" {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Exit" {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "os" {
					t.Errorf("%s calls os.Exit", file)
				}
			}
			return true
		})
	}
}

// parse returns the imports of every Go file of the module, tests included, by
// path from the root. Tests of a package may import what the package may.
func parse(t *testing.T) map[string][]string {
	t.Helper()
	root := rootDir(t)
	files := map[string][]string{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && p != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
				return fs.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		for _, i := range f.Imports {
			to, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			files[filepath.ToSlash(rel)] = append(files[filepath.ToSlash(rel)], to)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("found no Go files")
	}
	return files
}

func rootDir(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "..", "..")
}

// TestTheListOfPackagesIsThatOfTheTable: docs/ARCHITECTURE.md names every package, and
// none that is not there.
func TestTheListOfPackagesIsThatOfTheTable(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(rootDir(t), "docs", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	var listed, want []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, m[1])
	}
	for name := range table {
		if strings.HasPrefix(name, "bench/") {
			name = "bench/…"
		}
		want = append(want, name)
	}
	slices.Sort(listed)
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(listed, want) {
		t.Errorf("docs/ARCHITECTURE.md lists\n%v, the table has\n%v", listed, want)
	}
}
