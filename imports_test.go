package feedmill_test

import (
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

// importRule says which packages of this module the packages in a folder may
// import. A folder is a path from the root of the module; "x/..." is x and
// everything below it.
type importRule struct {
	folder string
	may    []string
	// tests are packages that only the test files may import.
	tests []string
	// stdOnly forbids packages of other modules.
	stdOnly bool
	// toCome marks a rule for what is not there yet. Without the mark a rule
	// that holds for no package is a mistake, and so is a mark left behind.
	toCome bool
}

const (
	root = "."
	// family stands for all packages below the same folder of internal/.
	family = "(family)"
	// leaf stands for all leaves.
	leaf = "(leaf)"
)

// leaves are packages for what is not the domain: small, general, and importing
// nothing of ours but other leaves. Every package may import them, the root too.
var leaves = []string{"internal/columnar", "internal/cron", "internal/jstext", "internal/pagecache", "internal/pattern", "internal/share", "internal/strictjson", "internal/suggest"}

// importRules hold the packages in the form of a star: all import the root
// package and leaves, and only the wiring imports the others. The first rule that
// matches a folder counts.
var importRules = []importRule{
	{folder: root, stdOnly: true},
	{folder: leaf},
	{folder: "webhook/...", stdOnly: true},
	{folder: "cmd/...", may: []string{root, "internal/app", "internal/config", "internal/lake/worker", "internal/mcp", "internal/source/manifest", "client"}, tests: []string{"internal/source/database/databasetest", "internal/source/database/databasetest/duckdbtest"}},
	{folder: "internal/app/browser", may: []string{root, "client", "internal/..."}},
	{folder: "internal/app/...", may: []string{root, "internal/..."}},
	{folder: "internal/api/...", may: []string{root, family, "internal/picture", "internal/query", "client"}},
	{folder: "internal/feed/...", may: []string{root, family, "internal/decode/...", "internal/iceberg", "internal/model", "internal/lake/...", "internal/query/..."}, tests: []string{"internal/refresh", "internal/source/database", "internal/source/database/databasetest"}},
	{folder: "internal/source/database/duckdb", may: []string{root, family, "internal/query/..."}, tests: []string{"internal/lake", "internal/lake/worker"}},
	{folder: "internal/source/database/sqlite", may: []string{root, family, "internal/query/..."}, tests: []string{"internal/lake", "internal/lake/worker", "internal/lake/worker/sqlite"}},
	{folder: "internal/source/...", may: []string{root, family, "internal/decode/...", "internal/query/..."}},
	{folder: "internal/iceberg", may: []string{root}, tests: []string{"internal/lake/parquet"}},
	{folder: "internal/manual", may: []string{"docs"}, tests: []string{"internal/api/openapi"}},
	{folder: "internal/lake/...", may: []string{root, family, "internal/query/..."}},
	{folder: "internal/store/storetest/...", may: []string{root}},
	{folder: "internal/mcp", may: []string{root, "client"}},
	{folder: "internal/picture", may: []string{root, "client"}},
	{folder: "internal/ui/...", may: []string{root, family, "internal/picture", "client"}},
	{folder: "internal/...", may: []string{root, family}},
	{folder: "sdk", tests: []string{"internal/api/openapi"}},
	{folder: "bench/...", may: []string{root, "client", "internal/...", "bench/internal/..."}},
	{folder: "...", may: []string{root}},
}

// testSupport are packages that test files of any folder may import, and other
// files of no folder.
var testSupport = []string{"internal/reference", "internal/store/storetest", "internal/store/sqlitetest", "internal/store/pgtest", "internal/blob/s3test", "internal/decode/decodetest", "internal/connect/connecttest", "internal/share/sharetest", "internal/pagecache/pagecachetest"}

// realParts are packages that test files below internal/ and cmd/ may import besides:
// tests take the real thing rather than a stand-in for it.
var realParts = []string{"internal/store/sqlite", "internal/store/postgres", "internal/decode", "internal/egress", "internal/publish", "internal/subscribe", "internal/vault", "internal/blob", "internal/destination/amqp", "internal/destination/broker", "internal/destination/kafka", "internal/destination/mail", "internal/destination/nats", "internal/destination/webhook", "internal/expression"}

const module = "github.com/feedmill/feedmill"

func TestImportDirection(t *testing.T) {
	used := make(map[string]bool)
	for _, file := range goFiles(t) {
		folder := path.Dir(file)
		rule := ruleFor(folder)
		used[rule.folder] = true
		syntax, err := parser.ParseFile(token.NewFileSet(), filepath.FromSlash(file), nil, parser.ImportsOnly)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, spec := range syntax.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !rule.allows(folder, imported, strings.HasSuffix(file, "_test.go")) {
				t.Errorf("%s must not import %s", file, imported)
			}
		}
	}
	for _, l := range leaves {
		if _, err := os.Stat(l); err != nil {
			t.Errorf("the leaf %s is not there: %v", l, err)
		}
	}
	for _, rule := range importRules {
		switch {
		case !used[rule.folder] && !rule.toCome:
			t.Errorf("the rule for %s holds for no package", rule.folder)
		case used[rule.folder] && rule.toCome:
			t.Errorf("%s is there now: take the mark toCome off its rule", rule.folder)
		}
	}
}

// TestTourNamesEveryFile holds the tour of the files in doc.go against the files.
func TestTourNamesEveryFile(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`[a-z_]+\.go\b`).FindAllString(string(text), -1)
	files := slices.DeleteFunc(goFiles(t), func(file string) bool {
		return strings.Contains(file, "/") || strings.HasSuffix(file, "_test.go") || file == "doc.go"
	})
	slices.Sort(named)
	if slices.Sort(files); !slices.Equal(named, files) {
		t.Errorf("the tour names\n%q\nand the files are\n%q", named, files)
	}
}

func TestImportRules(t *testing.T) {
	const in = module + "/"
	for _, test := range []struct {
		folder, imported string
		code, tests      bool
	}{
		{".", "net/http", true, true},
		{".", "pgregory.net/rapid", false, true},
		{".", module, false, true},
		{".", in + "internal/vault", false, false},
		{".", in + "internal/cron", true, true},
		{"internal/cron", module, false, false},
		{"internal/strictjson", in + "internal/suggest", true, true},
		{"internal/jstext", "github.com/google/uuid", true, true},
		{"internal/lake", in + "internal/columnar", true, true},
		{"webhook", in + "internal/jstext", false, false},
		{"client", module, true, true},
		{"client", in + "internal/api", false, false},
		{"cmd/feedmill", in + "internal/app", true, true},
		{"cmd/feedmill", in + "internal/lake/worker", true, true},
		{"cmd/feedmill", in + "internal/lake", false, false},
		{"cmd/feedmill", in + "internal/api", false, false},
		{"cmd/feedmill", in + "internal/decode", false, true},
		{"internal/api", module, true, true},
		{"internal/api", "github.com/google/uuid", true, true},
		{"internal/api", module + "er/api", true, true}, // another module
		{"internal/api", in + "internal/api/openapi", true, true},
		{"internal/api", in + "internal/apiary", false, false},
		{"internal/api", in + "internal/vault", false, true},
		{"internal/api", in + "internal/auth", false, false},
		{"internal/api", in + "internal/query", true, true},
		{"internal/api", in + "internal/app", false, false},
		{"internal/ui", in + "client", true, true},
		{"internal/ui", in + "internal/api", false, false},
		{"internal/ui", in + "internal/store/record", false, false},
		{"internal/api", in + "internal/store/pgtest", false, true},
		{"internal/deliver", in + "internal/store/sqlite", false, true},
		{"internal/app", in + "internal/api", true, true},
		{"internal/app", in + "internal/store/sqlite", true, true},
		{"internal/app", in + "internal/store/storetest", false, true},
		{"internal/app", in + "cmd/feedmill", false, false},
		{"internal/source/rest", in + "internal/decode", true, true},
		{"internal/source/rest", in + "internal/feed", false, false},
		{"internal/feed", in + "internal/model", true, true},
		{"internal/feed", in + "internal/lake/wire", true, true},
		{"internal/feed", in + "internal/blob", false, true},
		{"internal/feed", in + "internal/source/rest", false, false},
		{"internal/feed", in + "internal/api", false, false},
		{"internal/source/rest", in + "internal/model", false, false},
		{"internal/source/database/duckdb", in + "internal/lake", false, true},
		{"internal/source/database/mysql", in + "internal/lake", false, false},
		{"internal/lake", in + "internal/query/duckdb", true, true},
		{"internal/query", in + "internal/lake", false, false},
		{"internal/decode", in + "internal/source", false, false},
		{"internal/store/postgres", in + "internal/store/migrate", true, true},
		{"internal/store/postgres", in + "internal/store/storetest", false, true},
		{"internal/store/storetest", in + "internal/store/sqlite", false, false},
	} {
		rule := ruleFor(test.folder)
		if got := rule.allows(test.folder, test.imported, false); got != test.code {
			t.Errorf("%s may import %s: %v, want %v", test.folder, test.imported, got, test.code)
		}
		if got := rule.allows(test.folder, test.imported, true); got != test.tests {
			t.Errorf("tests of %s may import %s: %v, want %v", test.folder, test.imported, got, test.tests)
		}
	}
}

func ruleFor(folder string) importRule {
	return importRules[slices.IndexFunc(importRules, func(r importRule) bool {
		return matches(r.folder, folder) || r.folder == leaf && slices.Contains(leaves, folder)
	})]
}

// allows reports whether a file in the folder may import the package.
func (r importRule) allows(folder, imported string, inTest bool) bool {
	target, ours := strings.CutPrefix(imported+"/", module+"/")
	if !ours {
		first, _, _ := strings.Cut(imported, "/")
		return inTest || !r.stdOnly || !strings.Contains(first, ".")
	}
	target = path.Clean(target)
	if slices.Contains(testSupport, target) || target == folder {
		return inTest
	}
	if inTest && slices.Contains(realParts, target) && (matches("internal/...", folder) || matches("cmd/...", folder)) && folder != "internal/store/storetest" {
		return true
	}
	if slices.Contains(leaves, target) {
		return r.folder != "webhook/..."
	}
	if inTest && slices.Contains(r.tests, target) {
		return true
	}
	return slices.ContainsFunc(r.may, func(pattern string) bool {
		if pattern == family {
			pattern = familyOf(folder)
		}
		return matches(pattern, target)
	})
}

// familyOf is the pattern internal/x/... that the folder lies in.
func familyOf(folder string) string {
	parts := strings.SplitN(folder, "/", 3)
	return strings.Join(parts[:min(len(parts), 2)], "/") + "/..."
}

func matches(pattern, folder string) bool {
	if pattern == "..." {
		return true
	}
	if prefix, ok := strings.CutSuffix(pattern, "/..."); ok {
		return folder == prefix || strings.HasPrefix(folder, prefix+"/")
	}
	return folder == pattern
}

// goFiles lists the files of this module, without those that the go command
// does not read either and without modules inside it.
func goFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !entry.IsDir() {
			if path.Ext(name) == ".go" {
				files = append(files, name)
			}
			return nil
		}
		if name == "." {
			return nil
		}
		base := path.Base(name)
		if base[0] == '.' || base[0] == '_' || base == "testdata" {
			return fs.SkipDir
		}
		if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestSourcesAreNamedByTheirPackages holds the names of sources to the packages of sources, the
// wiring and the client. Code elsewhere asks for a property of a FeedKind.
func TestSourcesAreNamedByTheirPackages(t *testing.T) {
	name := regexp.MustCompile(`\bfeedmill\.Feed(REST|Query)\b`)
	allowed := regexp.MustCompile(`^(internal/(source|app|store/storetest)|client|bench)/|_test\.go$`)
	found := 0
	for _, file := range goFiles(t) {
		text, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		switch named := name.Find(text); {
		case named == nil:
		case allowed.MatchString(file):
			found++
		default:
			t.Errorf("%s names %s", file, named)
		}
	}
	if found == 0 {
		t.Error("no file names a source; the test searches for the wrong names")
	}
}
