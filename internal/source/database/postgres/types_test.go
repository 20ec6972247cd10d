package postgres_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

func TestTypes(t *testing.T) {
	address := pgtest.New(t)
	conn := connect(t, address)
	exec(t, conn, `CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE DOMAIN price AS numeric(10,2); CREATE DOMAIN cost AS price; CREATE DOMAIN expense AS cost; CREATE DOMAIN moody AS mood; CREATE DOMAIN moodier AS moody; CREATE TYPE pair AS (x int, y text)`)
	db := open(t, config(t, address))
	for i, test := range []struct {
		native, value string
		kind          columnar.Type
		precision     int // of the column that is read
		scale         int
		want          string
		warning       string
	}{
		{"int2", "-7", columnar.TypeInteger, 0, 0, "-7", ""},
		{"int4", "2147483647", columnar.TypeInteger, 0, 0, "2147483647", ""},
		{"oid", "4294967295", columnar.TypeInteger, 0, 0, "4294967295", ""},
		{"float4", "0.5", columnar.TypeNumber, 0, 0, "0.5", ""},
		{"float8", "'NaN'", columnar.TypeNumber, 0, 0, "NaN", feedmill.WarnNotFinite},
		{"numeric(38,10)", "1234567890123456789012345678.0123456789", columnar.TypeDecimal, 38, 10, "12345678901234567890123456780123456789/10000000000", ""},
		{"numeric(5,2)", "'NaN'", columnar.TypeDecimal, 5, 2, "<null>", feedmill.WarnNotFinite},
		{"numeric(3,-2)", "12345", columnar.TypeDecimal, 18, 0, "12300", ""},
		{"numeric", "1.50", columnar.TypeDecimal, 18, 1, "3/2", ""},
		{"numeric", "-12345678901234567890.123", columnar.TypeDecimal, 38, 3, "-12345678901234567890123/1000", ""},
		{"numeric", "1e40", columnar.TypeNumber, 0, 0, "1e+40", ""},
		{"numeric", "-1234567890123456789012345678901234567890.50", columnar.TypeText, 0, 0, "-1234567890123456789012345678901234567890.5", feedmill.WarnDigits},
		{"numeric", "1e-41", columnar.TypeNumber, 0, 0, "1e-41", ""},
		{"numeric", "1e400", columnar.TypeText, 0, 0, "1" + strings.Repeat("0", 400), feedmill.WarnDigits},
		{"numeric", "'Infinity'", columnar.TypeDecimal, 18, 0, "<null>", feedmill.WarnNotFinite},
		{"numeric(100,2)", "7.25", columnar.TypeDecimal, 18, 2, "29/4", ""},
		{"price", "9.99", columnar.TypeDecimal, 10, 2, "999/100", ""},
		{"cost", "9.99", columnar.TypeDecimal, 10, 2, "999/100", ""},
		{"expense", "9.99", columnar.TypeDecimal, 10, 2, "999/100", ""},
		{"moodier", "'happy'", columnar.TypeText, 0, 0, "happy", ""},
		{"mood", "'happy'", columnar.TypeText, 0, 0, "happy", ""},
		{"uuid", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", columnar.TypeText, 0, 0, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", ""},
		{"char(5)", "'ab'", columnar.TypeText, 0, 0, "ab", ""},
		{"varchar(5)", "'ab '", columnar.TypeText, 0, 0, "ab ", ""},
		{"bytea", `'\x00ff'`, columnar.TypeText, 0, 0, "AP8=", ""},
		{"bytea", "decode(repeat('00', 90), 'hex')", columnar.TypeText, 0, 0, strings.Repeat("A", 120), ""},
		{"date", "'infinity'", columnar.TypeDate, 0, 0, "<null>", feedmill.WarnOutOfRange},
		{"date", "'0044-03-15 BC'", columnar.TypeDate, 0, 0, "<null>", feedmill.WarnOutOfRange},
		{"timestamp", "'2026-03-30 12:00:00.123456'", columnar.TypeTimestamp, 0, 0, "2026-03-30T12:00:00.123456Z", ""},
		{"timestamptz", "'2026-03-30 12:00:00+02'", columnar.TypeTimestamp, 0, 0, "2026-03-30T10:00:00Z", ""},
		{"timestamptz", "'-infinity'", columnar.TypeTimestamp, 0, 0, "<null>", feedmill.WarnOutOfRange},
		{"timestamp", "'infinity'", columnar.TypeTimestamp, 0, 0, "<null>", feedmill.WarnOutOfRange},
		{"time", "'12:34:56.7'", columnar.TypeText, 0, 0, "12:34:56.7", ""},
		{"interval", "'1 day 2 hours'", columnar.TypeText, 0, 0, "P1DT2H", ""},
		{"inet", "'10.0.0.1'", columnar.TypeText, 0, 0, "10.0.0.1/32", ""},
		{"int4[]", "'{1,NULL,3}'", columnar.TypeJSON, 0, 0, "[1,null,3]", ""},
		{"text[]", `ARRAY['a"b', 'c']`, columnar.TypeJSON, 0, 0, `["a\"b","c"]`, ""},
		{"pair", "ROW(1, 'z')", columnar.TypeJSON, 0, 0, `{"x":1,"y":"z"}`, ""},
		{"jsonb", `'{"b": 1.10, "a": [1]}'`, columnar.TypeJSON, 0, 0, `{"a":[1],"b":1.10}`, ""},
		{"int4range", "'[1,5)'", columnar.TypeText, 0, 0, "[1,5)", ""},
	} {
		name := "t" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		exec(t, conn, "CREATE TABLE "+name+" (v "+test.native+")")
		exec(t, conn, "INSERT INTO "+name+" VALUES ("+test.value+"), (NULL)")
		table := databasetest.Describe(t, db, name)
		got, done, err := databasetest.Read(t.Context(), table, feedmill.Query{Sort: sorted(test.kind)})
		if err != nil {
			t.Errorf("%s: %v", test.native, err)
			continue
		}
		warning := ""
		if len(done.Warnings) > 0 {
			warning = done.Warnings[0].Code
		}
		c := got.Columns[0]
		if c.Type != test.kind || c.Precision != test.precision && c.Type == columnar.TypeDecimal || c.Scale != test.scale || warning != test.warning {
			t.Errorf("%s %s is %+v with the warning %q, want %+v", test.native, test.value, c, warning, test)
		}
		if diff := cmp.Diff([][]string{{test.want}, {"<null>"}}, got.Rows); diff != "" {
			t.Errorf("%s %s: %s", test.native, test.value, diff)
		}
		// What is null once it is read is null to filters.
		null := 1
		if test.want == "<null>" {
			null = 2
		}
		for _, f := range []feedmill.Filter{{Op: feedmill.OpIsNull}, {Op: feedmill.OpIsNull, Inverted: true}} {
			got, _, err := databasetest.Read(t.Context(), table, feedmill.Query{Where: []feedmill.Condition{{Name: "v", Filters: []feedmill.Filter{f}}}})
			if want := map[bool]int{false: null, true: 2 - null}[f.Inverted]; err != nil || len(got.Rows) != want {
				t.Errorf("%s %s: %v rows are null, want %d: %v", test.native, test.value, got, want, err)
			}
		}
	}
}

// TestOpenNumericIsReadOnce: decimals without bounds are read once, also where their rows do not fit
// into memory until the type is known.
func TestOpenNumericIsReadOnce(t *testing.T) {
	address := pgtest.New(t)
	conn := connect(t, address)
	exec(t, conn, "CREATE TABLE long AS SELECT n AS id, n + 0.5::numeric AS v, CASE WHEN n % 3 = 0 THEN repeat('x', 250) END AS x, n::float8 AS f, n::bigint * 10 AS i, n % 2 = 0 AS b, date '2026-01-01' + n AS d FROM generate_series(1, 60000) n")
	exec(t, conn, "INSERT INTO long (id, v) VALUES (0, 1234567890123456789012345678901234567890)")
	db := open(t, config(t, address))
	table := databasetest.Describe(t, db, "long")
	got, done, err := databasetest.Read(t.Context(), table, feedmill.Query{})
	if err != nil || done.Rows != 60001 || got.Columns[1].Type != columnar.TypeText {
		t.Fatal(err, done, got.Columns)
	}
	want := [][]string{
		{"1", "1.5", "<null>", "1", "10", "false", "2026-01-02T00:00:00Z"},
		{"3", "3.5", strings.Repeat("x", 250), "3", "30", "false", "2026-01-04T00:00:00Z"},
		{"60000", "60000.5", strings.Repeat("x", 250), "60000", "600000", "true", "2190-04-11T00:00:00Z"},
		{"0", "1234567890123456789012345678901234567890", "<null>", "<null>", "<null>", "<null>", "<null>"},
	}
	if diff := cmp.Diff(want, [][]string{got.Rows[0], got.Rows[2], got.Rows[59999], got.Rows[60000]}); diff != "" {
		t.Error(diff)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	scans := 0
	for scans == 0 && t.Context().Err() == nil { // the server counts once the session has ended
		if err := conn.QueryRow(t.Context(), "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'long'").Scan(&scans); err != nil {
			t.Fatal(err)
		}
	}
	if scans != 1 {
		t.Errorf("the table was read %d times", scans)
	}
}

// sorted puts the null last where a type has an order.
func sorted(kind columnar.Type) []feedmill.Sort {
	if kind == columnar.TypeJSON {
		return nil
	}
	return []feedmill.Sort{{Name: "v"}}
}
