package database

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/feedmill/feedmill"
)

// Styles that differ in everything that [SQLStyle] has.
var (
	standard = SQLStyle{Dollar: true, Returns: true, Nested: true, First: []string{"select"}, Denied: []string{"sleep", "read_*"}}
	escaping = SQLStyle{Backslash: true, Strings: true, Hash: true, Conditional: true, Parameters: "?", First: []string{"select"}, Denied: []string{"sleep", "read_*"}}
	brackets = SQLStyle{Brackets: true, Parameters: "?:@$", First: []string{"select"}, Denied: []string{"sleep", "read_*"}}
)

// What hides a call from one database is a call to another.
func TestCheckReadsAsTheDatabaseDoes(t *testing.T) {
	t.Parallel()
	const call = "must not call sleep"
	for _, test := range []struct {
		sql                          string
		standard, escaping, brackets string // part of the refusal, empty where the SQL is accepted
	}{
		{"SELECT sleep", "", "", ""},
		{"SELECT SLEEP (1)", "must not call sleep", call, call},
		{"SELECT read_all(1)", "must not call read_all", "must not call read_all", "must not call read_all"},
		{"SELECT asleep(1), my_read_all(2)", "", "", ""},
		{"SELECT \"sleep\"(1)", call, "", call},
		{"SELECT `sleep` /* ( */ (1)", call, call, call},
		{"SELECT [sleep](1)", "", "", call},
		{"SELECT 'sleep(1)'", "", "", ""},
		{"SELECT 'a''sleep(1)'", "", "", ""},
		{`SELECT 'a\', sleep(1), 'b'`, call, "text without an end", call},
		{`SELECT 'a\'', sleep(1) -- '`, "", call, ""},
		{`SELECT E'a\'', sleep(1) -- '`, call, call, ""},
		{`SELECT 🙂e'a\', sleep(1) -- '`, call, "", call},
		{"SELECT $$ sleep(1) $$", "", call, "must not contain parameters"},
		{"SELECT $a$ $$ sleep(1) $a$", "", call, "must not contain parameters"},
		{"SELECT a$$, sleep(1), b$$", call, call, call},
		{"SELECT 1 -- \r, sleep(1)", call, "", ""},
		{"SELECT 1 -- \r '\n, sleep(1) -- '", "", call, call},
		{"SELECT 1 --sleep(1)", "", call, ""},
		{"SELECT 1 --\x7f'\n, sleep(1) -- '", call, "U+007F", call},
		{"SELECT 1 # sleep(1)", call, "", call},
		{"SELECT 1 /* /* */ , sleep(1) -- */", "", call, call},
		{"SELECT 1 /*! , 2 */", "", "comments that the server runs", ""},
		{"SELECT sleep\u00a0(1)", "U+00A0", "U+00A0", "U+00A0"},
		{"SELECT sleep\u2060(1)", "U+2060", "U+2060", "U+2060"},
		{"SELECT 1::text", "", "", "must not contain parameters"},
		{"SELECT ?", "", "must not contain parameters", "must not contain parameters"},
		{`SELECT U&"sl\0065ep"(1)`, "Unicode escapes", "", ""},
	} {
		for i, style := range []SQLStyle{standard, escaping, brackets} {
			want := []string{test.standard, test.escaping, test.brackets}[i]
			text, err := style.Check(test.sql)
			failure, _ := errors.AsType[*feedmill.SourceFailure](err)
			switch {
			case want == "" && err == nil && text == test.sql:
			case want != "" && failure != nil && failure.Type == ProblemSQL && strings.Contains(failure.Detail, want) && strings.Contains(failure.Detail, "(line "):
			default:
				t.Errorf("%q in style %d: %q %v, want %q", test.sql, i, text, err, want)
			}
		}
	}
}

func TestCheckCutsTheEndOfTheStatement(t *testing.T) {
	t.Parallel()
	text, err := standard.Check("SELECT ';' AS a /* ; */ ; -- done;\n")
	if err != nil || text != "SELECT ';' AS a /* ; */ " {
		t.Errorf("%q %v", text, err)
	}
	_, err = standard.Check("SELECT 'ä',\n  (1;")
	if err == nil || !strings.Contains(err.Error(), "(line 2, column 5)") {
		t.Error(err)
	}
}

// FuzzSQLCheck checks that what is accepted is a part of what was given.
func FuzzSQLCheck(f *testing.F) {
	for _, sql := range []string{"SELECT 1", "SELECT $a$;$a$; -- x", "SELECT [a], `b`, \"c\" FROM (SELECT '\\'')", "SELECT /* /* */ 1 */ #\r\n2"} {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		for _, style := range []SQLStyle{standard, escaping, brackets} {
			text, err := style.Check(sql)
			if err == nil && (!strings.HasPrefix(sql, text) || !utf8.ValidString(text) || strings.TrimSpace(text) == "") {
				t.Errorf("%q of %q", text, sql)
			}
		}
	})
}
