package worker

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// TestParquetOfDuckDB holds that files which DuckDB writes are read as DuckDB reads them.
func TestParquetOfDuckDB(t *testing.T) {
	folder := t.TempDir()
	db, err := open(wire.Hello{Folder: folder, Threads: 1, Memory: 256 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer db.close()
	const stamp = "strftime(%s, '%%Y-%%m-%%dT%%H:%%M:%%S.%%fZ')"
	for i, test := range []struct {
		kind, values string
		want         columnar.Type
		// shown is how DuckDB writes a value as our test does, the value itself by default.
		shown string
	}{
		{"BOOLEAN", "true, false", columnar.TypeBoolean, "%s::INTEGER"},
		{"TINYINT", "-128, 127", columnar.TypeInteger, ""},
		{"SMALLINT", "-32768, 32767", columnar.TypeInteger, ""},
		{"INTEGER", "-2147483648, 2147483647", columnar.TypeInteger, ""},
		{"BIGINT", "-9223372036854775808, 9223372036854775807", columnar.TypeInteger, ""},
		{"UTINYINT", "0, 255", columnar.TypeInteger, ""},
		{"USMALLINT", "0, 65535", columnar.TypeInteger, ""},
		{"UINTEGER", "0, 4294967295", columnar.TypeInteger, ""},
		{"UBIGINT", "0, 18446744073709551615", columnar.TypeDecimal, ""},
		{"FLOAT", "0.5, -1.25", columnar.TypeNumber, ""},
		{"DOUBLE", "0.1, -1.25", columnar.TypeNumber, ""},
		{"DECIMAL(4,1)", "-999.9, 0.1", columnar.TypeDecimal, ""},
		{"DECIMAL(9,2)", "-1234567.89, 0.01", columnar.TypeDecimal, ""},
		{"DECIMAL(18,4)", "-12345678901234.5678, 0.0001", columnar.TypeDecimal, ""},
		{"DECIMAL(38,10)", "-1234567890123456789012345678.0123456789, 0.0000000001", columnar.TypeDecimal, ""},
		{"VARCHAR", "'', 'Zoë', 'a b'", columnar.TypeText, ""},
		{"BLOB", "'\\x00\\xFF', ''", columnar.TypeText, "base64(%s)"},
		{"UUID", "'550e8400-e29b-41d4-a716-446655440000'", columnar.TypeText, ""},
		{"ENUM ('a', 'b')", "'a', 'b'", columnar.TypeText, ""},
		{"DATE", "'0001-01-01', '9999-12-31', '1970-01-01'", columnar.TypeDate, ""},
		{"TIME", "'00:00:00', '23:59:59.999999'", columnar.TypeText, ""},
		{"TIMESTAMP_S", "'1969-12-31 23:59:59', '2026-11-15 12:00:00'", columnar.TypeTimestamp, stamp},
		{"TIMESTAMP_MS", "'1969-12-31 23:59:59.999'", columnar.TypeTimestamp, stamp},
		{"TIMESTAMP", "'0001-01-01 00:00:00.000001', '9999-12-31 23:59:59.999999'", columnar.TypeTimestamp, stamp},
		{"TIMESTAMP_NS", "'1969-12-31 23:59:59.999999'", columnar.TypeTimestamp, "strftime(%s::TIMESTAMP, '%%Y-%%m-%%dT%%H:%%M:%%S.%%fZ')"},
		{"TIMESTAMPTZ", "'2026-11-15 12:00:00+02'", columnar.TypeTimestamp, stamp},
		{"INTERVAL", "INTERVAL '14 months 3 days', INTERVAL '1500 milliseconds'", columnar.TypeText, "CASE %s WHEN INTERVAL '14 months 3 days' THEN 'P14M3D' WHEN INTERVAL '1500 milliseconds' THEN 'PT1.5S' END"},
		{"JSON", "'{\"a\":[1,2]}', '7'", columnar.TypeJSON, ""},
		{"INTEGER[]", "[1, NULL, 3], []", columnar.TypeJSON, "to_json(%s)"},
		{"VARCHAR[][]", "[['a'], NULL, []]", columnar.TypeJSON, "to_json(%s)"},
		{"STRUCT(a INTEGER, b VARCHAR[])", "{'a': 1, 'b': ['x']}, {'a': NULL, 'b': NULL}", columnar.TypeJSON, "to_json(%s)"},
		{"MAP(VARCHAR, INTEGER)", "MAP {'a': 1, 'b': NULL}, MAP {}", columnar.TypeJSON, "to_json(%s)"},
		{"STRUCT(e ENUM ('x', 'y'), d DATE, n DECIMAL(5,2))", "{'e': 'x', 'd': DATE '2026-11-15', 'n': 1.25}", columnar.TypeJSON, "to_json(%s)"},
	} {
		for k, options := range []string{"", ", COMPRESSION zstd, PARQUET_VERSION v2, ROW_GROUP_SIZE 2048", ", COMPRESSION gzip", ", COMPRESSION brotli", ", COMPRESSION lz4_raw", ", COMPRESSION uncompressed"} {
			name := filepath.Join(folder, fmt.Sprintf("%d-%d", i, k))
			rows := fmt.Sprintf("SELECT r, c FROM (SELECT unnest([%s, NULL]::%s[]) AS c), range(40) AS n(r) ORDER BY ALL", test.values, test.kind)
			shown := "c"
			if test.shown != "" {
				shown = fmt.Sprintf(test.shown, "c")
			}
			for _, sql := range []string{
				fmt.Sprintf("COPY (%s) TO '%s.parquet' (FORMAT parquet%s)", rows, name, options),
				fmt.Sprintf(`COPY (SELECT coalesce((%s)::VARCHAR, '∅') FROM '%s.parquet') TO '%s.csv' (FORMAT csv, HEADER false, DELIMITER '|', QUOTE '', ESCAPE '')`, strings.ReplaceAll(shown, "\n", " "), name, name),
			} {
				if err := db.exec(sql); err != nil {
					t.Fatalf("%s: %v", test.kind, err)
				}
			}
			want, err := os.ReadFile(name + ".csv")
			if err != nil {
				t.Fatal(err)
			}
			got, kind := readTyped(t, name+".parquet")
			if kind != test.want || got != string(want) {
				t.Errorf("%s%s is %s:\n%.300s\nwant %s:\n%.300s", test.kind, options, kind, got, test.want, want)
			}
		}
	}
}

// readTyped is the values of the second column of a file, a line each, and its type.
func readTyped(t *testing.T, name string) (string, columnar.Type) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	table, err := decode.OpenTyped(t.Context(), "parquet", strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	var out strings.Builder
	for run, err := range table.Runs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range run[1].Len {
			out.WriteString(shownCell(&run[1], i) + "\n")
		}
	}
	if warnings := table.Warnings(table.Columns()); len(warnings) > 0 {
		t.Errorf("%s: %v", name, warnings)
	}
	return out.String(), table.Columns()[1].Type
}

func shownCell(v *columnar.Vector, i int) string {
	switch {
	case v.Null(i):
		return "∅"
	case v.Wide != nil:
		return v.Wide[i].Decimal(v.Scale)
	case v.Type == columnar.TypeDecimal:
		return columnar.Int128Of(v.Ints[i]).Decimal(v.Scale)
	case v.Type == columnar.TypeDate:
		return time.Unix(v.Ints[i]*24*3600, 0).UTC().Format(time.DateOnly)
	case v.Type == columnar.TypeTimestamp:
		return time.UnixMicro(v.Ints[i]).UTC().Format("2006-01-02T15:04:05.000000Z")
	case v.Ints != nil:
		return strconv.FormatInt(v.Ints[i], 10)
	case v.Floats != nil:
		return strconv.FormatFloat(v.Floats[i], 'g', -1, 64)
	}
	return string(v.Text(i))
}
