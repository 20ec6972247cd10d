package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
)

// The type of a column holds all of its values, whatever it is declared as.
func TestTypes(t *testing.T) {
	writer, db := create(t, "UTF-8")
	for i, test := range []struct {
		declared, values string
		kind             columnar.Type
		want             []string
		warning          string
	}{
		{"INTEGER", "(1), (9223372036854775807)", columnar.TypeInteger, []string{"1", "9223372036854775807"}, ""},
		{"INTEGER", "(1), ('many')", columnar.TypeText, []string{"1", "many"}, feedmill.WarnMisfit},
		{"INT", "(1), (1.5)", columnar.TypeNumber, []string{"1", "1.5"}, feedmill.WarnMisfit},
		{"REAL", "(1), (2.5)", columnar.TypeNumber, []string{"1", "2.5"}, ""},
		{"", "(1), (2)", columnar.TypeInteger, []string{"1", "2"}, ""},
		{"", "(1), (2.5)", columnar.TypeNumber, []string{"1", "2.5"}, ""},
		{"", "(9007199254740993), (2.5)", columnar.TypeText, []string{"9007199254740993", "2.5"}, ""},
		{"", "('a'), (2)", columnar.TypeText, []string{"a", "2"}, ""},
		{"", "(x'00ff'), (NULL)", columnar.TypeText, []string{"AP8=", "<null>"}, ""},
		{"BLOB", "(x'00ff')", columnar.TypeText, []string{"AP8="}, ""},
		{"BOOLEAN", "(1), (0)", columnar.TypeBoolean, []string{"true", "false"}, ""},
		{"BOOLEAN", "(1), (7)", columnar.TypeInteger, []string{"1", "7"}, feedmill.WarnMisfit},
		{"DATE", "('2024-02-29')", columnar.TypeDate, []string{"2024-02-29T00:00:00Z"}, ""},
		{"DATE", "('2024-02-30')", columnar.TypeText, []string{"2024-02-30"}, feedmill.WarnMisfit},
		{"DATE", "(20240229)", columnar.TypeInteger, []string{"20240229"}, feedmill.WarnMisfit},
		{"DATETIME", "('2024-02-29 10:00'), ('2024-02-29T10:00:00+02:00')", columnar.TypeTimestamp, []string{"2024-02-29T10:00:00Z", "2024-02-29T08:00:00Z"}, ""},
		{"DATETIME", "('now')", columnar.TypeText, []string{"now"}, feedmill.WarnMisfit},
		{"TIMESTAMP", "(1700000000)", columnar.TypeInteger, []string{"1700000000"}, feedmill.WarnMisfit},
		{"DECIMAL(10,2)", "(0.1), (-12), (99999999.99)", columnar.TypeDecimal, []string{"1/10", "-12", "9999999999/100"}, ""},
		{"DECIMAL(10,2)", "(0.123)", columnar.TypeNumber, []string{"0.123"}, feedmill.WarnMisfit},
		{"JSON", `('{"a":1}'), ('no')`, columnar.TypeJSON, []string{`{"a":1}`, `"no"`}, feedmill.WarnBadJSON},
		{"VARCHAR(2)", "('long'), (5)", columnar.TypeText, []string{"long", "5"}, ""},
	} {
		name := "of_" + string(rune('a'+i))
		exec(t, writer, "CREATE TABLE "+name+" (v "+test.declared+")")
		exec(t, writer, "INSERT INTO "+name+" VALUES "+test.values)
		got, done, err := databasetest.Read(t.Context(), databasetest.Describe(t, db, name), feedmill.Query{})
		if err != nil {
			t.Errorf("%s %s: %v", test.declared, test.values, err)
			continue
		}
		var rows []string
		for _, row := range got.Rows {
			rows = append(rows, row[0])
		}
		warning := ""
		if len(done.Warnings) > 0 {
			warning = done.Warnings[0].Code
		}
		if diff := cmp.Diff(test.want, rows); diff != "" || got.Columns[0].Type != test.kind || warning != test.warning {
			t.Errorf("%s %s is %s with %q: %s", test.declared, test.values, got.Columns[0].Type, warning, diff)
		}
	}
}

// TestNumbersAmongTexts: a number in a column of texts is read as the text that filters and groups have. The
// first rules read it in another way.
func TestNumbersAmongTexts(t *testing.T) {
	writer, db := create(t, "UTF-8")
	exec(t, writer, "CREATE TABLE t (v)")
	exec(t, writer, "INSERT INTO t VALUES ('a'), (1.0), (1e19), (9e999), (7), (0.1)")
	table := databasetest.Describe(t, db, "t")
	read := func(table database.Table, query string) string {
		got, _, err := databasetest.Read(t.Context(), table, databasetest.Parse(t, query))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(got.Rows)
	}
	const all = `{"fields":[{"field":"v"}],"sort":[{"field":"v"}]}`
	if got := read(table, all); got != "[[0.1] [1.0] [1.0e+19] [7] [Inf] [a]]" {
		t.Error(got)
	}
	for _, v := range []string{"0.1", "1.0", "1.0e+19", "7", "Inf", "a"} {
		if got := read(table, `{"fields":[{"field":"v","filters":[{"op":"eq","values":["`+v+`"]}]}]}`); got != "[["+v+"]]" {
			t.Errorf("%s: %s", v, got)
		}
	}
	first, err := db.Table(t.Context(), "t", feedmill.RulesFirst)
	if err != nil {
		t.Fatal(err)
	}
	if got := read(first, all); got != "[[0.1] [1] [1e+19] [7] [+Inf] [a]]" {
		t.Errorf("with the first rules: %s", got)
	}
}

func wantProblem(t *testing.T, err error, problem, says string) {
	t.Helper()
	failure, ok := errors.AsType[*feedmill.SourceFailure](err)
	if !ok || failure.Type != problem || !strings.Contains(failure.Detail, says) {
		t.Errorf("%#v, want %s that says %q", err, problem, says)
	}
}

func TestWhatChangesUnderneathFails(t *testing.T) {
	writer, db := create(t, "UTF-8")
	for _, test := range []struct{ change, problem, says string }{
		{"ALTER TABLE changing RENAME name TO other", database.ProblemField, `"name"`},
		{"DROP TABLE changing", database.ProblemView, "changing"},
	} {
		exec(t, writer, "CREATE TABLE changing (id INTEGER, name TEXT)")
		table := databasetest.Describe(t, db, "changing")
		exec(t, writer, test.change)
		_, _, err := databasetest.Read(t.Context(), table, feedmill.Query{})
		wantProblem(t, err, test.problem, test.says)
		exec(t, writer, "DROP TABLE IF EXISTS changing")
	}
	// A value of another type, which came after the view was described.
	exec(t, writer, "CREATE TABLE late (id INTEGER)")
	table := databasetest.Describe(t, db, "late")
	exec(t, writer, "INSERT INTO late VALUES ('many')")
	got, done, err := databasetest.Read(t.Context(), table, feedmill.Query{})
	if err != nil || got.Rows[0][0] != "<null>" || len(done.Warnings) != 1 || done.Warnings[0].Code != feedmill.WarnNulled || done.Warnings[0].Examples[0].Value != "many" {
		t.Errorf("%+v %+v %v", got, done, err)
	}
}

func TestFilesThatAreNone(t *testing.T) {
	folder := t.TempDir()
	none := filepath.Join(folder, "none.db")
	text := filepath.Join(folder, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{none, text} {
		db := open(t, connector(t), database.Config{Path: path})
		wantProblem(t, db.Ping(t.Context()), database.ProblemUnreachable, filepath.Base(path))
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a file was made")
	}
}

func TestTimeoutAndCancel(t *testing.T) {
	writer, db := create(t, "UTF-8")
	exec(t, writer, "CREATE VIEW slow AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT CAST(i AS TEXT) AS v FROM n WHERE i < 0")
	table := databasetest.Describe(t, db, "slow") // looks at no value of a text
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, _, err := databasetest.Read(ctx, table, feedmill.Query{}); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	short := open(t, connector(t), database.Config{Path: pathOf(t, writer), StatementTimeout: time.Second})
	_, _, err := databasetest.Read(t.Context(), databasetest.Describe(t, short, "slow"), feedmill.Query{})
	wantProblem(t, err, database.ProblemTimeout, "1s")
	if err := db.Ping(t.Context()); err != nil {
		t.Errorf("the file is of no use any more: %v", err)
	}
}
