package json

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// cellsOf are the texts of the column of one document each.
func cellsOf(t *testing.T, rules feedmill.Rules, values ...string) (cells []string) {
	t.Helper()
	var lines strings.Builder
	for _, v := range values {
		lines.WriteString(`{"v":` + v + "}\n")
	}
	table, err := OpenLines(t.Context(), strings.NewReader(lines.String()), Options{Rules: rules, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	for _, row := range decodetest.Rows(t, table) {
		cells = append(cells, row[0])
	}
	return cells
}

// TestNamesInOrder has objects in arrays, whose members are in the order of their names.
func TestNamesInOrder(t *testing.T) {
	for value, want := range map[string]string{
		`[{"b":1,"a":2}]`: `[{"a":2,"b":1}]`,
		`[{"a":1,"b":{"d":[{"z":1,"y":{}}],"c":""}}]`:     `[{"a":1,"b":{"c":"","d":[{"y":{},"z":1}]}}]`,
		`[ { "b" : 1.50 , "a" : "x, }\" \\" } , [] , 2 ]`: `[{"a":"x, }\" \\","b":1.5},[],2]`,
		`[{"b":1,"a":2,"b":3}]`:                           `[{"a":2,"b":3}]`,
		`[{"b":1,"\u0061":2}]`:                            `[{"a":2,"b":1}]`,
		`[{"\u0062":1,"c":2,"a":null}]`:                   `[{"a":null,"b":1,"c":2}]`,
		`["\u00e9\/\ud83d\ude00","é/😀"]`:                  `["é/😀","é/😀"]`,
		`["\u0022\u005C\u000a\u001F","\"\\\n\u001f"]`:     `["\"\\\n\u001f","\"\\\n\u001f"]`,
		`[{"\/":"\\u0061"}]`:                              `[{"/":"\\u0061"}]`,
		`[{"é":1,"e":2,"":3}]`:                            `[{"":3,"e":2,"é":1}]`,
		`[true,null,-1e5]`:                                `[true,null,-100000]`,
		`[1.50,1.5,1.500e0,15e-1,0.15E+1]`:                `[1.5,1.5,1.5,1.5,1.5]`,
		`[1e2,100,100.0,1.0e2,-1E+02]`:                    `[100,100,100,100,-100]`,
		`[0.0,0,-0.0,0e5,0.10]`:                           `[0,0,-0,0,0.1]`,
		`[1e9,12e5,1.2e-9,1e400,1.0e-999999999999]`:       `[1000000000,1200000,0.0000000012,1e400,1.0e-999999999999]`,
		`[{"b":"x","a":1e9}]`:                             `[{"a":1000000000,"b":"x"}]`,
		"[1e39,1e40,1" + strings.Repeat("0", 39) + ",1" + strings.Repeat("0", 40) + ",-0.0001e-36]": "[1" + strings.Repeat("0", 39) + ",1e40,1" + strings.Repeat("0", 39) + ",1e40,-1e-40]",
		"[" + strings.Repeat("1234567890", 5) + "]":                                                 "[" + strings.Repeat("1234567890", 5) + "]",
		`["a\/b","a/b"]`:         `["a/b","a/b"]`,
		`["1.50",{"1.50":1.50}]`: `["1.50",{"1.50":1.5}]`,
	} {
		if got := cellsOf(t, 2, value)[0]; got != want {
			t.Errorf("%s is %s, want %s", value, got, want)
		}
	}
	if got := cellsOf(t, 1, `[{"b":1.50,"a":2}]`)[0]; got != `[{"b":1.50,"a":2}]` {
		t.Errorf("version 1 of the rules reads %s", got)
	}
}

// TestGrownCells has cells that are longer than in the data, in more rows than one run has and beside columns that come later.
func TestGrownCells(t *testing.T) {
	numbers := strings.TrimSuffix(strings.Repeat("1e39,", 4_000), ",")
	grown := strings.ReplaceAll(numbers, "1e39", "1"+strings.Repeat("0", 39))
	var lines strings.Builder
	for i := range 30 {
		fmt.Fprintf(&lines, `{"v":[%d,%s],"w":[1e3],"c%d":[{"b":1,"a":1e2}]}`+"\n", i, numbers, i/10)
	}
	table, err := OpenLines(t.Context(), strings.NewReader(lines.String()), Options{Rules: 2, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	rows := decodetest.Rows(t, table)
	for i, row := range rows {
		if row[0] != fmt.Sprintf("[%d,%s]", i, grown) || row[1] != "[1000]" || row[2+i/10] != `[{"a":100,"b":1}]` {
			t.Fatalf("row %d is %.50s… %s %s", i, row[0], row[1], row[2:])
		}
	}
	if len(rows) != 30 {
		t.Errorf("%d rows are read", len(rows))
	}
}

// TestNamesInOrderLaw compares with another program: what it reads is the same, and what it writes, whose names are in order, is
// the same text.
func TestNamesInOrderLaw(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var value func(depth int) string
	value = func(depth int) string {
		switch kind := random.IntN(7); {
		case depth > 4 || kind < 3:
			return []string{"1", `"x{,]"`, "null", "2.5", `""`, "-0.1", `"\u00e9\/\n\u0022"`, `"\ud83d\ude00\\u0061"`}[random.IntN(8)]
		case kind < 5:
			var elements []string
			for range random.IntN(4) {
				elements = append(elements, value(depth+1))
			}
			return "[" + strings.Join(elements, ", ") + "]"
		}
		var members []string
		for _, k := range random.Perm(12)[:random.IntN(12)] {
			members = append(members, fmt.Sprintf("%q : %s", strings.Repeat(string(rune('a'+k%4)), k/4+1), value(depth+1)))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	var values []string
	for range decodetest.LongOr(1000, 50_000) {
		values = append(values, "["+value(0)+"]")
	}
	for i, got := range cellsOf(t, 2, values...) {
		decoder := stdjson.NewDecoder(strings.NewReader(values[i]))
		decoder.UseNumber()
		var v any
		var want bytes.Buffer
		encoder := stdjson.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		if err := decoder.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if err := encoder.Encode(v); err != nil {
			t.Fatal(err)
		}
		if got != strings.TrimSpace(want.String()) {
			t.Fatalf("%s is\n%s, want\n%s", values[i], got, want.String())
		}
	}
}

// TestNumbersLaw compares with exact arithmetic: a number is of the same value, no longer than may be, and the same text as the
// value written in another way.
func TestNumbersLaw(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	digits := func(most int) string {
		var b strings.Builder
		for range 1 + random.IntN(most) {
			b.WriteByte("0001234567890"[random.IntN(13)])
		}
		return b.String()
	}
	for range decodetest.LongOr(20_000, 2_000_000) {
		number := strings.TrimLeft(digits(25), "0")
		if number == "" {
			number = "0"
		}
		if random.IntN(3) == 0 {
			number = "-" + number
		}
		other, exponent := number, 0
		if random.IntN(2) == 0 {
			fraction := digits(25)
			number += "." + fraction
			other, exponent = other+fraction, -len(fraction)
		}
		if random.IntN(2) == 0 {
			e := random.IntN(120) - 60
			number += fmt.Sprintf([]string{"e%d", "E%+03d"}[random.IntN(2)], e)
			exponent += e
		}
		zeros := random.IntN(5)
		other, negative := strings.CutPrefix(other+strings.Repeat("0", zeros), "-")
		if other = strings.TrimLeft(other, "0"); other == "" {
			other = "0"
		}
		if negative {
			other = "-" + other
		}
		other = fmt.Sprintf("%se%d", other, exponent-zeros)
		got := string(appendNumber(nil, []byte(number)))
		want, _ := new(big.Rat).SetString(number)
		have, ok := new(big.Rat).SetString(got)
		if !ok || have.Cmp(want) != 0 || len(got) > max(len(number), maxPlain+1) || !stdjson.Valid([]byte(got)) {
			t.Fatalf("%s is %s", number, got)
		}
		if again := string(appendNumber(nil, []byte(got))); again != got {
			t.Fatalf("%s is %s, and %s after that", number, got, again)
		}
		if same := string(appendNumber(nil, []byte(other))); same != got {
			t.Fatalf("%s is %s, and %s is %s", number, got, other, same)
		}
	}
}
