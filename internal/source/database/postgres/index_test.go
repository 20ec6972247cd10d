package postgres_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// longOr is the long form of a proof where it is asked for.
func longOr(short, long int) int {
	if os.Getenv("FEEDMILL_LONG") != "" {
		return long
	}
	return short
}

// explain is the plan that the server has for a query.
func explain(t *testing.T, conn *pgx.Conn, table database.Table, text string) string {
	t.Helper()
	tree, faults := query.Resolve(databasetest.Parse(t, text), database.Columns(table.Fields()))
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	e := table.Explain(tree)
	sql, _, _ := strings.Cut(e.SQL, "; --")
	args := make([][]byte, len(e.Parameters))
	for i, p := range e.Parameters {
		args[i] = []byte(p)
	}
	result := conn.PgConn().ExecParams(t.Context(), "EXPLAIN "+sql, args, nil, nil, nil).Read()
	if result.Err != nil {
		t.Fatalf("%s: %v", sql, result.Err)
	}
	plan := sql
	for _, row := range result.Rows {
		plan += "\n" + string(row[0])
	}
	return plan
}

func TestIndexesAreUsed(t *testing.T) {
	address := pgtest.New(t)
	conn := connect(t, address)
	rows := longOr(20_000, 500_000)
	exec(t, conn, `CREATE EXTENSION citext; CREATE TYPE level AS ENUM ('common', 'rare'); CREATE DOMAIN identity AS uuid;
		CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`)
	exec(t, conn, fmt.Sprintf(`CREATE TABLE many AS SELECT n AS id, md5(n::text)::uuid AS u, md5(n::text)::uuid::identity AS du, ('c' || n)::char(12) AS c,
		('Name' || n)::citext AS ci, (CASE WHEN n %% 10000 = 5 THEN 'rare' ELSE 'common' END)::level AS e, ('text' || n) COLLATE loose AS l,
		timestamptz '2026-01-01' + n * interval '1 minute' AS at, timestamp '2026-01-01' + n * interval '1 minute' AS ts, n::numeric(20,2) AS amount
		FROM generate_series(1, %d) n`, rows))
	exec(t, conn, `INSERT INTO many (id, at, ts) VALUES (0, 'infinity', '-infinity')`)
	exec(t, conn, `ALTER TABLE many ALTER at SET NOT NULL`)
	for _, column := range []string{"u", "du", "c", "ci", "e", "l", "at", "ts", "amount"} {
		exec(t, conn, "CREATE INDEX ON many ("+column+")")
	}
	exec(t, conn, "ANALYZE many")
	table := databasetest.Describe(t, open(t, config(t, address)), "many")
	for _, text := range []string{
		`{"fields":[{"field":"id"},{"field":"u","filters":[{"op":"eq","values":["c4ca4238-a0b9-2382-0dcc-509a6f75849b"]}]}]}`,
		`{"fields":[{"field":"id"},{"field":"u","filters":[{"op":"eq","values":["c4ca4238-a0b9-2382-0dcc-509a6f75849b","c81e728d-9d4c-2f63-6f06-7f89cc14862c"]}]}]}`,
		`{"fields":[{"field":"id"},{"field":"du","filters":[{"op":"eq","values":["c4ca4238-a0b9-2382-0dcc-509a6f75849b"]}]}]}`,
		`{"fields":[{"field":"id"},{"field":"c","filters":[{"op":"eq","values":["c17"]}]}]}`,
		`{"fields":[{"field":"id"},{"field":"ci","filters":[{"op":"eq","values":["Name17"]}]}]}`,
		`{"fields":[{"field":"id"},{"field":"e","filters":[{"op":"eq","values":["rare"]}]}]}`,
		`{"fields":[{"field":"id"},{"field":"l","filters":[{"op":"eq","values":["text17"]}]}]}`,
		`{"fields":[{"field":"id"},{"field":"at"}],"sort":[{"field":"at","order":"desc"}],"limit":10}`,
		`{"fields":[{"field":"id"},{"field":"at"}],"sort":[{"field":"at"}],"limit":10}`,
		`{"fields":[{"field":"id"}],"sort":[{"field":"ts","order":"desc"},{"field":"id"}],"limit":10}`,
		`{"fields":[{"field":"id"}],"sort":[{"field":"amount","order":"desc"}],"limit":10}`,
		`{"fields":[{"field":"at","aggregate":[{"fn":"min","as":"low"},{"fn":"max","as":"high"}]}]}`,
		`{"fields":[{"field":"ts","aggregate":"max"},{"field":"at","aggregate":"min"}]}`,
		`{"fields":[{"field":"id"},{"field":"at","filters":[{"op":"isNull"}]}]}`,
	} {
		if plan := explain(t, conn, table, text); strings.Contains(plan, "Seq Scan") || !strings.Contains(plan, "Index") {
			t.Errorf("%s\n%s", text, plan)
		}
	}
	got, _, err := databasetest.Read(t.Context(), table, databasetest.Parse(t, `{"fields":[{"field":"id"}],"sort":[{"field":"at","order":"desc"}],"limit":1}`))
	if want := [][]string{{fmt.Sprint(rows)}}; err != nil || !cmp.Equal(want, got.Rows) {
		t.Errorf("the last row is %v, want %v: %v", got, want, err)
	}
}

// Equality is that of the texts that are read, for every type and every value, whichever
// condition an index is given.
func TestEqualityIsThatOfTexts(t *testing.T) {
	address := pgtest.New(t)
	conn := connect(t, address)
	exec(t, conn, `CREATE EXTENSION citext; CREATE TYPE mood AS ENUM ('sad', 'Sad', 'sad ', ''); CREATE DOMAIN moody AS mood; CREATE DOMAIN identity AS uuid;
		CREATE DOMAIN code AS char(8); CREATE SCHEMA hidden; CREATE TYPE hidden.mood AS ENUM ('sad', 'glad');
		CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`)
	uuids := []string{"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}", "a0eebc999c0b4ef8bb6d6bb9bd380a11", "00000000-0000-0000-0000-000000000000"}
	words := []string{"sad", "Sad", "SAD", "sad ", "sad  ", " sad", "s\u00e4d", "", " ", "glad", "straße", "STRASSE", "a\u0000b"}
	sought := slices.Concat(uuids, words, []string{"not a uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1", "日本"})
	for i, test := range []struct {
		native string
		values []string
	}{
		{"uuid", uuids},
		{"identity", uuids},
		{"char(8)", words},
		{"code", words},
		{"citext", words},
		{"text COLLATE loose", words},
		{"varchar(9) COLLATE loose", words},
		{"char(8) COLLATE loose", words},
		{"text", words},
		{"mood", []string{"sad", "Sad", "sad ", ""}},
		{"moody", []string{"sad", "Sad", "sad ", ""}},
		{"hidden.mood", []string{"sad", "glad"}},
	} {
		name := fmt.Sprintf("t%d", i)
		exec(t, conn, "CREATE TABLE "+name+" (id serial, v "+test.native+")")
		exec(t, conn, "CREATE INDEX ON "+name+" (v)")
		for _, v := range test.values {
			if !strings.Contains(v, "\x00") {
				exec(t, conn, "INSERT INTO "+name+" (v) VALUES ('"+v+"')")
			}
		}
		exec(t, conn, "INSERT INTO "+name+" (v) VALUES (NULL)")
	}
	exec(t, conn, "DROP ROLE IF EXISTS querying; CREATE ROLE querying LOGIN PASSWORD 'word'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO querying; GRANT USAGE ON SCHEMA public TO querying")
	t.Cleanup(func() {
		_, _ = conn.Exec(context.Background(), "DROP OWNED BY querying; DROP ROLE querying")
	})
	c := config(t, address)
	c.User, c.Password = "querying", "word"
	db := open(t, c)
	for i := range 12 {
		table := databasetest.Describe(t, db, fmt.Sprintf("t%d", i))
		all, _, err := databasetest.Read(t.Context(), table, databasetest.Parse(t, `{"fields":[{"field":"id"},{"field":"v"}],"sort":[{"field":"id"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range sought {
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
					t.Errorf("%s %s: %v, want %v: %v", table.Fields()[1].Native, text, got, want, err)
				}
			}
		}
	}
}

// What an index serves is what the same table without an index returns.
func TestIndexedTimesSortAsOthers(t *testing.T) {
	address := pgtest.New(t)
	conn := connect(t, address)
	values := map[string][]string{
		"timestamptz":   {"infinity", "-infinity", "2026-03-30 12:00Z", "2026-03-30 12:00Z", "0044-03-15 BC", "0001-01-01 00:00Z", "9999-12-31 23:59:59.999999Z", "10000-01-01 00:00Z", "1970-01-01Z"},
		"timestamp":     {"infinity", "-infinity", "2026-03-30 12:00", "2026-03-30 12:00", "0044-03-15 BC", "0001-01-01", "9999-12-31 23:59:59.999999", "10000-01-01", "1970-01-01"},
		"date":          {"infinity", "-infinity", "2026-03-30", "2026-03-30", "0044-03-15 BC", "0001-01-01", "9999-12-31", "10000-01-01", "1970-01-01"},
		"numeric(12,2)": {"NaN", "1.5", "1.50", "-3", "0", "9999999999.99", "NaN"},
	}
	db := open(t, config(t, address))
	for native, all := range values {
		for _, null := range []string{"", " NOT NULL"} {
			tables := make(map[string]database.Table)
			for _, name := range []string{"plain", "indexed"} {
				exec(t, conn, "DROP TABLE IF EXISTS "+name)
				exec(t, conn, "CREATE TABLE "+name+" (id serial PRIMARY KEY, v "+native+null+")")
				for _, v := range all {
					exec(t, conn, "INSERT INTO "+name+" (v) VALUES ('"+v+"')")
				}
				if null == "" {
					exec(t, conn, "INSERT INTO "+name+" (v) VALUES (NULL)")
				}
				if name == "indexed" {
					exec(t, conn, "CREATE INDEX ON indexed (v)")
				}
				tables[name] = databasetest.Describe(t, db, name)
			}
			var texts []string
			for _, order := range []string{"asc", "desc"} {
				for limit := range len(all) + 2 {
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
					t.Fatalf("%s%s %s: %v, want %v: %v, %v", native, null, text, got, want, err1, err2)
				}
			}
		}
	}
}
