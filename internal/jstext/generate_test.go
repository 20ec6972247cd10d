package jstext

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func genJSON() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string { return drawJSON(t, 4) })
}

func drawJSON(t *rapid.T, depth int) string {
	space := rapid.SampledFrom([]string{"", "", "", " ", "\n\t", "\r "}).Draw(t, "space")
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	if depth == 0 {
		kind %= 4
	}
	var b strings.Builder
	switch kind {
	case 0:
		return space + rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "literal")
	case 1:
		return space + drawString(t) + space
	case 2, 3:
		return space + drawNumber(t) + space
	case 4, 5:
		for range rapid.IntRange(0, 4).Draw(t, "values") {
			b.WriteString("," + drawJSON(t, depth-1))
		}
		return space + "[" + strings.TrimPrefix(b.String(), ",") + space + "]"
	default:
		seen := make(map[string]bool)
		for range rapid.SampledFrom([]int{0, 1, 2, 3, 4, 5, 30}).Draw(t, "members") {
			key := rapid.OneOf(
				rapid.Custom(drawString),
				rapid.Map(rapid.Uint64Range(0, 20), func(n uint64) string { return fmt.Sprintf(`"%d"`, n) }),
				rapid.Map(rapid.Uint64Range(1<<32-3, 1<<32+3), func(n uint64) string { return fmt.Sprintf(`"%d"`, n) }),
				rapid.SampledFrom([]string{`"01"`, `"-1"`, `"1.5"`, `"\u0037"`, `"__proto__"`, `"toJSON"`, `"length"`}),
			).Draw(t, "key")
			var plain string
			if err := json.Unmarshal([]byte(key), &plain); err != nil {
				t.Fatal(err)
			}
			if !seen[plain] {
				seen[plain] = true
				b.WriteString("," + space + key + space + ":" + drawJSON(t, depth-1))
			}
		}
		return space + "{" + strings.TrimPrefix(b.String(), ",") + space + "}" + space
	}
}

func drawString(t *rapid.T) string {
	var b strings.Builder
	for range rapid.IntRange(0, 6).Draw(t, "runes") {
		b.WriteString(rapid.OneOf(
			rapid.StringMatching(`[ -!#-\[\]-~]{1,12}`),
			rapid.SampledFrom([]string{`\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`, "\x7f", "é", "\u2028", "\u2029", "😀", `\ud83d\uDE00`}),
			rapid.Map(rapid.Rune(), func(r rune) string {
				if r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError {
					return fmt.Sprintf(`\u%04X`, r)
				}
				return string(r)
			}),
			rapid.Map(rapid.Uint16Range(0, 0xd7ff), func(c uint16) string { return fmt.Sprintf(`\u%04x`, c) }),
		).Draw(t, "piece"))
	}
	return `"` + b.String() + `"`
}

func drawNumber(t *rapid.T) string {
	return rapid.OneOf(
		rapid.StringMatching(`-?(0|[1-9][0-9]{0,22})(\.[0-9]{1,22})?([eE][+-]?[0-9]{1,3})?`),
		rapid.StringMatching(`-?(0|[1-9][0-9]{0,4})(\.[0-9]{1,4})?`),
		rapid.StringMatching(`-?0\.0{0,10}[0-9]{0,3}(0|5)e-?[0-9]`),
		rapid.Map(rapid.Float64(), func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }),
		rapid.Map(rapid.Float64(), func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }),
		rapid.Map(rapid.Uint64(), func(n uint64) string { return strconv.FormatUint(n, 10) }),
		rapid.SampledFrom([]string{"-0", "-0.0e3", "1e21", "1e-7", "9007199254740993", "1e400", "5e-324", "1E999999999", "1e-999999999"}),
	).Draw(t, "number")
}
