package duckdb_test

import (
	"context"
	"errors"
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
	"github.com/feedmill/feedmill/internal/source/database/databasetest/duckdbtest"
)

// Every type of DuckDB is read as one that holds its values.
func TestTypes(t *testing.T) {
	path := newPath(t)
	tests := []struct {
		declared, values string
		kind             columnar.Type
		want             []string
		warning          string
	}{
		{"UTINYINT", "(255), (NULL)", columnar.TypeInteger, []string{"255", "<null>"}, ""},
		{"UINTEGER", "(4294967295)", columnar.TypeInteger, []string{"4294967295"}, ""},
		{"UBIGINT", "(18446744073709551615)", columnar.TypeDecimal, []string{"18446744073709551615"}, ""},
		{"HUGEINT", "(-99999999999999999999999999999999999999), (1)", columnar.TypeDecimal, []string{"-99999999999999999999999999999999999999", "1"}, ""},
		{"HUGEINT", "(-170141183460469231731687303715884105727), (1)", columnar.TypeDecimal, []string{"-170141183460469231731687303715884105727", "1"}, feedmill.WarnDigits},
		{"HUGEINT", "(100000000000000000000000000000000000000), (1)", columnar.TypeDecimal, []string{"1e+38", "1"}, ""},
		{"UHUGEINT", "(340282366920938463463374607431768211455), (1)", columnar.TypeDecimal, []string{"340282366920938463463374607431768211455", "1"}, feedmill.WarnDigits},
		{"UHUGEINT", "(7), (18446744073709551616), (NULL)", columnar.TypeDecimal, []string{"7", "18446744073709551616", "<null>"}, ""},
		{"FLOAT", "(1.5), ('inf')", columnar.TypeNumber, []string{"1.5", "+Inf"}, feedmill.WarnNotFinite},
		{"DECIMAL(38,10)", "(1234567890123456789012345678.0123456789)", columnar.TypeDecimal, []string{"12345678901234567890123456780123456789/10000000000"}, ""},
		{"ENUM('x', 'y')", "('y')", columnar.TypeText, []string{"y"}, ""},
		{"UUID", "('ffa9e662-0450-4d29-b973-93b81946003d')", columnar.TypeText, []string{"ffa9e662-0450-4d29-b973-93b81946003d"}, ""},
		{"BLOB", `('\x00\xFF'::BLOB)`, columnar.TypeText, []string{"AP8="}, ""},
		{"TIME", "('10:30:00')", columnar.TypeText, []string{"10:30:00"}, ""},
		{"INTERVAL", "(INTERVAL 3 DAY)", columnar.TypeText, []string{"3 days"}, ""},
		{"DATE", "('2024-02-29'), ('infinity'), ('12000-01-01')", columnar.TypeDate, []string{"2024-02-29T00:00:00Z", "<null>", "<null>"}, feedmill.WarnOutOfRange},
		{"TIMESTAMP", "('2024-02-29 10:00:00.123456'), ('-infinity')", columnar.TypeTimestamp, []string{"2024-02-29T10:00:00.123456Z", "<null>"}, feedmill.WarnOutOfRange},
		{"TIMESTAMP_S", "('2024-02-29 10:00:00')", columnar.TypeTimestamp, []string{"2024-02-29T10:00:00Z"}, ""},
		{"TIMESTAMP_NS", "('2024-02-29 10:00:00.123456789')", columnar.TypeTimestamp, []string{"2024-02-29T10:00:00.123456Z"}, feedmill.WarnDigits},
		{"INTEGER[]", "([1, NULL]), ([])", columnar.TypeJSON, []string{"[1,null]", "[]"}, ""},
		{"STRUCT(a INTEGER, b VARCHAR)", "({'a': 1, 'b': 'x'})", columnar.TypeJSON, []string{`{"a":1,"b":"x"}`}, ""},
		{"DOUBLE[]", "(['nan'::DOUBLE])", columnar.TypeJSON, []string{`"[NaN]"`}, feedmill.WarnBadJSON},
	}
	var statements []string
	name := func(i int) string { return "t_" + string(rune('a'+i)) }
	for i, test := range tests {
		statements = append(statements, "CREATE TABLE "+name(i)+" (v "+test.declared+")", "INSERT INTO "+name(i)+" VALUES "+test.values)
	}
	write(t, path, statements...)
	db := open(t, path)
	for i, test := range tests {
		table := databasetest.Describe(t, db, name(i))
		if f := table.Fields()[0]; f.Type != test.kind || f.Native != test.declared {
			t.Errorf("%s is %s: %+v", test.declared, f.Type, f)
			continue
		}
		got, done, err := databasetest.Read(t.Context(), table, databasetest.Parse(t, `{"fields":[{"field":"v"}]}`))
		if err != nil {
			t.Errorf("%s: %v", test.declared, err)
			continue
		}
		var values []string
		for _, row := range got.Rows {
			values = append(values, row[0])
		}
		warning := ""
		for _, w := range done.Warnings {
			warning += w.Code
		}
		if diff := cmp.Diff(test.want, values); diff != "" || warning != test.warning {
			t.Errorf("%s has the warning %q: %s", test.declared, warning, diff)
		}
	}
}

// TestHugeIntegers: filters and groups of whole numbers of 128 bits are exact, also by numbers that
// none of them is.
func TestHugeIntegers(t *testing.T) {
	path := newPath(t)
	const most, next = "170141183460469231731687303715884105727", "170141183460469231731687303715884105726"
	write(t, path, "CREATE TABLE t (v HUGEINT, n INTEGER)", "INSERT INTO t VALUES ("+most+", 1), ("+next+", 2), ("+next+", 3), (-5, 4), (NULL, 5)")
	table := databasetest.Describe(t, open(t, path), "t")
	for filter, want := range map[string]int{
		`{"op":"eq","values":["` + most + `"]}`: 1, `{"op":"eq","values":["` + next + `"]}`: 2, `{"op":"gt","values":["` + next + `"]}`: 1,
		`{"op":"gt","values":[1e60]}`: 0, `{"op":"lt","values":[1e60]}`: 4, `{"op":"gte","values":[-1e60]}`: 4, `{"op":"eq","values":[1e60]}`: 0, `{"op":"lt","values":["200000000000000000000000000000000000000"]}`: 4,
		`{"op":"lt","values":[-4.5]}`: 1, `{"op":"lt","values":[1e60],"inverted":true}`: 1, `{"op":"gt","values":[1e60],"inverted":true}`: 5,
	} {
		got, _, err := databasetest.Read(t.Context(), table, databasetest.Parse(t, `{"fields":[{"field":"v","filters":[`+filter+`]}]}`))
		if err != nil || len(got.Rows) != want {
			t.Errorf("%s: %v, %v, want %d", filter, got.Rows, err, want)
		}
	}
	got, _, err := databasetest.Read(t.Context(), table, databasetest.Parse(t, `{"fields":[{"field":"v"},{"field":"n","aggregate":"count"}],"sort":[{"field":"v"}]}`))
	if want := [][]string{{"-5", "1"}, {next, "2"}, {most, "1"}, {"<null>", "1"}}; err != nil || cmp.Diff(want, got.Rows) != "" {
		t.Error(err, cmp.Diff(want, got.Rows))
	}
}

// TestUnsignedHugeIntegers is the same for those without a sign. The first rules do not read more than 38 digits.
func TestUnsignedHugeIntegers(t *testing.T) {
	path := newPath(t)
	const most, next = "340282366920938463463374607431768211455", "340282366920938463463374607431768211454"
	write(t, path, "CREATE TABLE t (v UHUGEINT, n INTEGER)", "INSERT INTO t VALUES ("+most+", 1), ("+next+", 2), ("+next+", 3), (5, 4), (NULL, 5), (10, 6)")
	db := open(t, path)
	table := databasetest.Describe(t, db, "t")
	for filter, want := range map[string]int{
		`{"op":"eq","values":["` + most + `"]}`: 1, `{"op":"eq","values":["` + next + `"]}`: 2, `{"op":"gt","values":["` + next + `"]}`: 1, `{"op":"lt","values":["` + next + `"]}`: 2,
		`{"op":"gt","values":[1e60]}`: 0, `{"op":"lt","values":[1e60]}`: 5, `{"op":"gte","values":[-1]}`: 5, `{"op":"lt","values":[-1]}`: 0, `{"op":"eq","values":[-1],"inverted":true}`: 6,
		`{"op":"gt","values":[5.5]}`: 4, `{"op":"gt","values":["340282366920938463463374607431768211456"]}`: 0,
	} {
		got, _, err := databasetest.Read(t.Context(), table, databasetest.Parse(t, `{"fields":[{"field":"v","filters":[`+filter+`]}]}`))
		if err != nil || len(got.Rows) != want {
			t.Errorf("%s: %v, %v, want %d", filter, got.Rows, err, want)
		}
	}
	for text, want := range map[string][][]string{
		`{"fields":[{"field":"v"},{"field":"n","aggregate":"count"}],"sort":[{"field":"v"}]}`:                                                                    {{"5", "1"}, {"10", "1"}, {next, "2"}, {most, "1"}, {"<null>", "1"}},
		`{"fields":[{"field":"v","aggregate":[{"fn":"min","as":"a"},{"fn":"max","as":"b"},{"fn":"countDistinct","as":"c"}]}]}`:                                   {{"5", most, "4"}},
		`{"fields":[{"field":"v","aggregate":[{"fn":"sum","as":"a"},{"fn":"avg","as":"b"}]},{"field":"n","select":false,"filters":[{"op":"gt","values":[3]}]}]}`: {{"15", "7.5"}},
		`{"fields":[{"field":"v","aggregate":[{"fn":"sum","as":"a"},{"fn":"avg","as":"b"}]}]}`:                                                                   {{"1020847100762815390390123822295304634378", "2.04169420153e+38"}},
		`{"fields":[{"field":"n"},{"field":"v"}],"sort":[{"field":"v","order":"desc"},{"field":"n"}],"limit":2}`:                                                 {{"1", most}, {"2", next}},
	} {
		got, _, err := databasetest.Read(t.Context(), table, databasetest.Parse(t, text))
		if err != nil || cmp.Diff(want, got.Rows) != "" {
			t.Error(text, err, cmp.Diff(want, got.Rows))
		}
	}
	first, err := db.Table(t.Context(), "t", feedmill.RulesFirst)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := databasetest.Read(t.Context(), first, databasetest.Parse(t, `{"fields":[{"field":"v"}]}`)); err == nil {
		t.Error("the first rules read 39 digits")
	}
}

// What is null once it is read is null to filters, groups and sorting.
func TestInfinity(t *testing.T) {
	path := newPath(t)
	write(t, path, "CREATE TABLE t (id INTEGER, d DATE, a TIMESTAMP, z TIMESTAMPTZ)",
		"INSERT INTO t VALUES (1, '2024-01-01', '2024-01-01', '2024-01-01'), (2, 'infinity', 'infinity', 'infinity'), (3, '-infinity', '-infinity', '-infinity'), (4, NULL, NULL, NULL)")
	table := databasetest.Describe(t, open(t, path), "t")
	for _, field := range []string{"d", "a", "z"} {
		for filter, want := range map[string]int{
			`"op":"gt","values":["2000-01-01"]`: 1, `"op":"gt","values":["2000-01-01"],"inverted":true`: 3,
			`"op":"lt","values":["2000-01-01"]`: 0, `"op":"isNull"`: 3, `"op":"isEmpty","inverted":true`: 1,
		} {
			q := databasetest.Parse(t, `{"fields":[{"field":"id"},{"field":"`+field+`","select":false,"filters":[{`+filter+`}]}]}`)
			got, _, err := databasetest.Read(t.Context(), table, q)
			if err != nil || len(got.Rows) != want {
				t.Errorf("%s %s: %v %v", field, filter, got, err)
			}
		}
		got, _, err := databasetest.Read(t.Context(), table, databasetest.Parse(t, `{"fields":[{"field":"`+field+`"},{"field":"id","aggregate":"count"}],"sort":[{"field":"`+field+`"}]}`))
		if err != nil || len(got.Rows) != 2 || got.Rows[1][1] != "3" {
			t.Errorf("%s: %v %v", field, got, err)
		}
	}
}

// The tables and views of all schemas are listed, with what is said of them.
func TestViews(t *testing.T) {
	path := newPath(t)
	write(t, path, `CREATE TABLE orders (id INTEGER NOT NULL, total DECIMAL(10,2))`, `COMMENT ON TABLE orders IS 'All orders'`, `COMMENT ON COLUMN orders.total IS 'What was paid'`,
		`CREATE VIEW paid AS SELECT * FROM orders`, `CREATE SCHEMA other`, `CREATE TABLE other."x""y.z" (a INTEGER)`, `INSERT INTO orders VALUES (1, 2.50)`)
	db := open(t, path)
	if err := db.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	views, err := db.Views(t.Context())
	if diff := cmp.Diff([]database.View{
		{Name: "orders", Label: "All orders", Description: "All orders", Kind: database.KindTable, RowEstimate: 1},
		{Name: "paid", Kind: database.KindView, RowEstimate: -1},
		{Name: `other."x""y.z"`, Kind: database.KindTable, RowEstimate: 0},
	}, views); diff != "" || err != nil {
		t.Error(diff, err)
	}
	fields := databasetest.Describe(t, db, "orders").Fields()
	if fields[0].Nullable || !fields[1].Nullable || fields[1].Label != "What was paid" {
		t.Errorf("%+v", fields)
	}
	databasetest.Describe(t, db, `other."x""y.z"`)
	if _, err := db.Table(t.Context(), "order", feedmill.RulesCurrent); err == nil || !strings.Contains(err.Error(), "orders") {
		t.Error(err)
	}
}

// A file is read as it is at each statement, and nobody is kept from writing it in
// between: another file in its place, rows that are still in the log, other columns.
func TestChanges(t *testing.T) {
	path := newPath(t)
	write(t, path, "CREATE TABLE t (a INTEGER, b VARCHAR)", "INSERT INTO t VALUES (1, 'x')")
	db := open(t, path)
	table := databasetest.Describe(t, db, "t")
	q := databasetest.Parse(t, `{"fields":[{"field":"a"}]}`)
	read := func() (string, error) {
		got, _, err := databasetest.Read(t.Context(), table, q)
		if err != nil {
			return "", err
		}
		return strings.Join(got.Rows[len(got.Rows)-1], ","), nil
	}
	if got, err := read(); got != "1" || err != nil {
		t.Error(got, err)
	}
	hold := duckdbtest.Write(t, path, "SET checkpoint_threshold = '1GB'", "INSERT INTO t VALUES (2, 'y')")
	if _, err := read(); problem(err) != database.ProblemUnreachable || !strings.Contains(err.Error(), "is locked by another process") {
		t.Error(err)
	}
	// What a writer that ended without a checkpoint has left is read, too.
	logged, err := os.ReadFile(logOf(path))
	before, err2 := os.ReadFile(path)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	hold()
	for name, data := range map[string][]byte{path: before, logOf(path): logged} {
		if err := os.WriteFile(name+".new", data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(name+".new", name); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := read(); got != "2" || err != nil {
		t.Error(got, err)
	}
	for sql, want := range map[string]string{
		"ALTER TABLE t RENAME COLUMN b TO c": "no longer has the column",
		"ALTER TABLE t ALTER a TYPE VARCHAR": "changed to VARCHAR from INTEGER",
	} {
		table = databasetest.Describe(t, db, "t")
		write(t, path, sql)
		if _, err := read(); problem(err) != database.ProblemField || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	table = databasetest.Describe(t, db, "t")
	write(t, path, "DROP TABLE t")
	if _, err := read(); problem(err) != database.ProblemView {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("this is no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := db.Ping(t.Context()); problem(err) != database.ProblemUnreachable || strings.Contains(err.Error(), filepath.Dir(path)) {
		t.Error(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := db.Ping(t.Context()); problem(err) != database.ProblemUnreachable {
		t.Error(err)
	}
}

// write runs statements on a file, and closes it.
func write(t *testing.T, path string, statements ...string) {
	t.Helper()
	duckdbtest.Write(t, path, statements...)()
}

func logOf(path string) string { return strings.Replace(path, "?", ".wal?", 1) }

func problem(err error) string {
	if failure, ok := errors.AsType[*feedmill.SourceFailure](err); ok {
		return failure.Type
	}
	return ""
}

// A view of a file cannot read other files, reach the network or load anything,
// and no statement can write.
func TestCage(t *testing.T) {
	path, secret := newPath(t), filepath.Join(t.TempDir(), "secret.csv")
	if err := os.WriteFile(secret, []byte("a\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, path, "CREATE TABLE t (a INTEGER)",
		"CREATE VIEW csv AS SELECT * FROM read_csv('"+secret+"')", "CREATE VIEW text AS SELECT content FROM read_text('"+secret+"')",
		"CREATE VIEW listed AS SELECT file FROM glob('"+filepath.Dir(secret)+"/*')",
		"CREATE MACRO leak(x) AS TABLE SELECT content FROM read_text(x)", "CREATE VIEW macro AS SELECT * FROM leak('"+secret+"')")
	db := open(t, path)
	for _, view := range []string{"csv", "text", "listed", "macro"} {
		table, err := db.Table(t.Context(), view, feedmill.RulesCurrent)
		if err == nil {
			_, _, err = databasetest.Read(t.Context(), table, feedmill.Query{Fields: []feedmill.Field{{Name: table.Fields()[0].Name}}})
		}
		if err == nil || errors.Is(err, feedmill.ErrUnavailable) {
			t.Errorf("%s: %v", view, err)
		}
	}
	databasetest.Describe(t, db, "t")
}

// A statement that takes too long ends, and so does one that nobody waits for.
func TestTimeoutAndCancellation(t *testing.T) {
	path := newPath(t)
	write(t, path, "CREATE VIEW slow AS SELECT sum(a.range * b.range) AS n FROM range(10000000) a, range(10000000) b")
	opener := connector(t)
	slow := func(ctx context.Context, c database.Config) error {
		c.Path = path
		db, err := opener.Open(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		table := databasetest.Describe(t, db, "slow")
		_, _, err = databasetest.Read(ctx, table, databasetest.Parse(t, `{"fields":[{"field":"n"}]}`))
		return err
	}
	if db, err := opener.Open(t.Context(), database.Config{Path: path}); err != nil || db.Ping(t.Context()) != nil {
		t.Fatal(err) // the worker has been started now, which takes its time
	}
	if err := slow(t.Context(), database.Config{StatementTimeout: 2 * time.Second}); problem(err) != database.ProblemTimeout {
		t.Error(err)
	}
	why := errors.New("nobody waits")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(500*time.Millisecond, func() { cancel(why) })
	if err := slow(ctx, database.Config{}); !errors.Is(err, why) {
		t.Error(err)
	}
}
