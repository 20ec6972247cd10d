package mysql_test

import (
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
)

// longOr is the long form of a proof where it is asked for.
func longOr(short, long int) int {
	if os.Getenv("FEEDMILL_LONG") != "" {
		return long
	}
	return short
}

// explained is how many rows the server reads of an index for each step of a query, and
// -1 for a step that uses none. ANALYZE runs the query, and tells what EXPLAIN can only
// estimate.
func explained(t *testing.T, db *sql.DB, table database.Table, text string) (steps []int, statement string) {
	t.Helper()
	tree, faults := query.Resolve(databasetest.Parse(t, text), database.Columns(table.Fields()))
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	e := table.Explain(tree)
	statement, _, _ = strings.Cut(e.SQL, "; --")
	args := make([]any, len(e.Parameters))
	for i, p := range e.Parameters {
		args[i] = p
	}
	rows, err := db.Query("ANALYZE "+statement, args...)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, kind, name, access, possible, key, length, ref, estimate, filtered, expected, extra sql.NullString
		var count sql.NullFloat64
		if err := rows.Scan(&id, &kind, &name, &access, &possible, &key, &length, &ref, &estimate, &count, &expected, &filtered, &extra); err != nil {
			t.Fatal(err)
		}
		statement += fmt.Sprintf("\n%s %s %s %s %.0f %s", kind.String, name.String, access.String, key.String, count.Float64, extra.String)
		switch {
		case !name.Valid: // a step that reads no table
		case !key.Valid || strings.Contains(extra.String, "filesort"):
			steps = append(steps, -1)
		default:
			steps = append(steps, int(count.Float64))
		}
	}
	return steps, statement
}

func TestIndexesAreUsed(t *testing.T) {
	writer, config := create(t, server(t))
	rows := longOr(20_000, 500_000)
	exec(t, writer, `CREATE TABLE many (id INT PRIMARY KEY, c CHAR(12) CHARACTER SET latin1, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci,
		u VARCHAR(40) CHARACTER SET utf8mb3, b VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin, at DATETIME(6) NOT NULL, ts TIMESTAMP NULL,
		KEY (c), KEY (v), KEY (u), KEY (b), KEY (at), KEY (ts))`)
	exec(t, writer, fmt.Sprintf(`INSERT INTO many SELECT seq, CONCAT('c', seq), CONCAT('Name', seq), CONCAT('u', seq), CONCAT('b', seq),
		'2026-01-01' + INTERVAL seq MINUTE, '2026-01-01' + INTERVAL seq MINUTE FROM seq_1_to_%d`, rows))
	exec(t, writer, `INSERT INTO many VALUES (0, NULL, NULL, NULL, NULL, '0000-00-00', NULL)`)
	exec(t, writer, "ANALYZE TABLE many")
	table := databasetest.Describe(t, open(t, config), "many")
	for _, text := range []string{
		`{"fields":[{"field":"id"},{"field":"c","filters":[{"op":"eq","values":["c17"]}]}]}`,
		`{"fields":[{"field":"id"},{"field":"v","filters":[{"op":"eq","values":["Name17"]}]}]}`,
		`{"fields":[{"field":"id"},{"field":"v","filters":[{"op":"eq","values":["Name17","Name18"]}]}]}`,
		`{"fields":[{"field":"id"},{"field":"u","filters":[{"op":"eq","values":["u17"]}]}]}`,
		`{"fields":[{"field":"id"},{"field":"b","filters":[{"op":"eq","values":["b17"]}]}]}`,
		`{"fields":[{"field":"id"},{"field":"at"}],"sort":[{"field":"at","order":"desc"}],"limit":10}`,
		`{"fields":[{"field":"id"},{"field":"at"}],"sort":[{"field":"at"}],"limit":10}`,
		`{"fields":[{"field":"id"}],"sort":[{"field":"ts","order":"desc"}],"limit":10}`,
		`{"fields":[{"field":"at","aggregate":[{"fn":"min","as":"low"},{"fn":"max","as":"high"}]}]}`,
		`{"fields":[{"field":"ts","aggregate":"max"}]}`,
	} {
		steps, statement := explained(t, writer, table, text)
		for _, n := range steps {
			if n < 0 || n > 50 {
				t.Errorf("%s reads %v\n%s", text, steps, statement)
			}
		}
		if len(steps) == 0 {
			t.Errorf("%s reads nothing\n%s", text, statement)
		}
	}
}

// Equality is that of the texts that are read, for every character set and collation,
// whichever condition an index is given.
func TestEqualityIsThatOfTexts(t *testing.T) {
	writer, config := create(t, server(t))
	words := []string{"sad", "Sad", "SAD", "sad ", "sad  ", " sad", "säd", "", " ", "straße", "strasse", "STRASSE", "?", "日本", "～", "〜", "🙂", "¥", `\`, "a\x00b"}
	db := open(t, config)
	for i, native := range []string{
		"CHAR(12) CHARACTER SET latin1", "VARCHAR(40) CHARACTER SET latin1 COLLATE latin1_german2_ci", "VARCHAR(40) CHARACTER SET ascii", "VARCHAR(40) CHARACTER SET utf8mb3",
		"VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci", "CHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_nopad_ci",
		"VARCHAR(40) CHARACTER SET cp932", "VARCHAR(40) CHARACTER SET ujis", "VARCHAR(40) CHARACTER SET ucs2", "ENUM('sad', 'sad ', '日本') CHARACTER SET utf8mb4", "SET('sad', 'glad') CHARACTER SET latin1",
	} {
		name := fmt.Sprintf("t%d", i)
		exec(t, writer, "CREATE TABLE "+name+" (id INT AUTO_INCREMENT PRIMARY KEY, v "+native+", KEY (v))")
		for _, v := range words {
			exec(t, writer, "INSERT IGNORE INTO "+name+" (v) VALUES (?)", v)
		}
		exec(t, writer, "INSERT INTO "+name+" (v) VALUES (NULL)")
		if strings.Contains(native, "cp932") { // two codes of one character
			exec(t, writer, "INSERT INTO "+name+" (v) VALUES (_cp932 0x81CA), (_cp932 0xEEF9), (_cp932 0xFA54)")
		}
		table := databasetest.Describe(t, db, name)
		all, _, err := databasetest.Read(t.Context(), table, databasetest.Parse(t, `{"fields":[{"field":"id"},{"field":"v"}],"sort":[{"field":"id"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range append(words, "\u00ac", "\uffe2") {
			for _, inverted := range []bool{false, true} {
				var want [][]string
				for _, row := range all.Rows {
					if (row[1] == value) != inverted {
						want = append(want, row)
					}
				}
				text := fmt.Sprintf(`{"fields":[{"field":"id"},{"field":"v","filters":[{"op":"eq","values":[%s],"inverted":%v}]}],"sort":[{"field":"id"}]}`, databasetest.Quote(value), inverted)
				got, _, err := databasetest.Read(t.Context(), table, databasetest.Parse(t, text))
				if err != nil || !cmp.Equal(want, got.Rows) {
					t.Errorf("%s %s: %v, want %v: %v", native, text, got, want, err)
				}
			}
		}
	}
}

// What an index serves is what the same table without an index returns.
func TestIndexedTimesSortAsOthers(t *testing.T) {
	writer, config := create(t, server(t))
	db := open(t, config)
	for _, native := range []string{"DATE", "DATETIME(6)", "DATE NOT NULL", "DATETIME(6) NOT NULL"} {
		values := []string{"'0000-00-00'", "'2024-00-00'", "'2026-03-30'", "'2026-03-30'", "'2024-02-31'", "'0001-01-01'", "'9999-12-31'", "'1970-01-01'"}
		if !strings.Contains(native, "NOT NULL") {
			values = append(values, "NULL")
		}
		tables := make(map[string]database.Table)
		for _, name := range []string{"plain", "indexed"} {
			exec(t, writer, "DROP TABLE IF EXISTS "+name)
			exec(t, writer, "CREATE TABLE "+name+" (id INT AUTO_INCREMENT PRIMARY KEY, v "+native+")")
			if name == "indexed" {
				exec(t, writer, "CREATE INDEX v ON indexed (v)")
			}
			exec(t, writer, "SET STATEMENT sql_mode = 'ALLOW_INVALID_DATES' FOR INSERT INTO "+name+" (v) VALUES ("+strings.Join(values, "), (")+")")
			tables[name] = databasetest.Describe(t, db, name)
		}
		var texts []string
		for _, order := range []string{"asc", "desc"} {
			for limit := range len(values) + 2 {
				texts = append(texts, fmt.Sprintf(`{"fields":[{"field":"id"},{"field":"v"}],"sort":[{"field":"v","order":%q},{"field":"id","order":%q}],"limit":%d}`, order, order, limit+1))
				texts = append(texts, fmt.Sprintf(`{"fields":[{"field":"v"},{"field":"id","filters":[{"op":"gt","values":[2]}]}],"sort":[{"field":"v","order":%q},{"field":"id"}],"limit":%d}`, order, limit+1))
			}
		}
		texts = append(texts, `{"fields":[{"field":"v","aggregate":[{"fn":"min","as":"low"},{"fn":"max","as":"high"}]}]}`,
			`{"fields":[{"field":"v","aggregate":"max"},{"field":"id","select":false,"filters":[{"op":"gt","values":[100]}]}]}`,
			`{"fields":[{"field":"v","aggregate":[{"fn":"min","as":"low"},{"fn":"count","as":"n"}]}]}`)
		for _, text := range texts {
			want, _, err1 := databasetest.Read(t.Context(), tables["plain"], databasetest.Parse(t, text))
			got, done, err2 := databasetest.Read(t.Context(), tables["indexed"], databasetest.Parse(t, text))
			if err1 != nil || err2 != nil || !cmp.Equal(want.Rows, got.Rows) || done.Rows != int64(len(got.Rows)) {
				t.Fatalf("%s %s: %v, want %v: %v, %v", native, text, got, want, err1, err2)
			}
		}
	}
}
