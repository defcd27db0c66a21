package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/tailscope/tailscope"

// table says which packages of this module each package may import. All may
// import internal packages, and internal packages import none of these.
var table = map[string][]string{
	"quantile":           {},
	"spans":              {},
	"ingest/field":       {"spans"},
	"ingest/outcome":     {"spans", "ingest/field"},
	"ingest/format":      {"spans", "ingest/field", "ingest/outcome"},
	"ingest/hoplog":      {"spans", "ingest/field", "ingest/outcome", "ingest/format"},
	"ingest/trace":       {"spans", "ingest/field", "ingest/outcome", "ingest/format"},
	"ingest":             {"spans", "ingest/field", "ingest/outcome", "ingest/format", "ingest/hoplog", "ingest/trace"},
	"buckets":            {"spans", "quantile"},
	"sampling":           {"spans", "quantile"},
	"orphans":            {"spans", "quantile", "buckets"},
	"attribution":        {"spans", "quantile", "buckets"},
	"retries":            {"spans", "quantile", "buckets"},
	"callgraph":          {"spans", "quantile"},
	"timeouts":           {"spans", "quantile", "buckets", "retries", "callgraph"},
	"report":             {"ingest", "ingest/format", "spans", "quantile", "buckets", "orphans", "attribution", "retries", "timeouts"},
	"bench/compare":      {"bench/trial"},
	"bench/table":        {"bench/trial", "bench/page"},
	"bench/coverage":     {"quantile", "bench/page"},
	"bench/peers/sorted": {"bench/trial"},
	"cmd/tailscope":      {"ingest", "ingest/field", "ingest/outcome", "spans", "quantile", "buckets", "sampling", "orphans", "attribution", "retries", "callgraph", "timeouts", "report"},
}

// Third-party types that must stay behind one package's face.
var confined = map[string][]string{
	"github.com/apache/arrow":             {"spans", "ingest", "cmd/tailscope"},
	"github.com/jaegertracing/jaeger-idl": {"ingest", "ingest/trace"},
	"github.com/spf13/cobra":              {"cmd/tailscope"},
	"github.com/jedib0t/go-pretty":        {"report"},
}

// banned are package names that say nothing.
var banned = []string{"util", "utils", "common", "types", "models", "helpers", "misc", "base"}

// TestPackagesImportOnlyWhatTheTableAllows parses the files itself: what an
// executed "go list" reads, the test cache does not see.
func TestPackagesImportOnlyWhatTheTableAllows(t *testing.T) {
	for file, imports := range parse(t) {
		from := path.Dir(file)
		for _, to := range imports {
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
