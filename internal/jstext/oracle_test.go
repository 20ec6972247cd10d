package jstext

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// failer is what a test and a property have in common.
type failer interface {
	Fatalf(format string, args ...any)
}

// oracleText is the canonical text by another way: a tree of maps and slices
// out of encoding/json, and exact arithmetic for the numbers. held is false
// where JavaScript cannot hold one of them.
func oracleText(t failer, src []byte) (text string, held bool) {
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	held = true
	text = oracleValue(t, d, &held)
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		t.Fatalf("%q is not one value: %v", src, err)
	}
	return text, held
}

func oracleValue(t failer, d *json.Decoder, held *bool) string {
	token, err := d.Token()
	if err != nil {
		t.Fatalf("oracle: %v", err)
	}
	switch v := token.(type) {
	case string:
		return oracleString(v)
	case json.Number:
		text, ok := oracleNumber(string(v))
		*held = *held && ok
		return text
	case json.Delim:
		var parts, keys []string
		values := make(map[string]string)
		for d.More() {
			if v == '[' {
				parts = append(parts, oracleValue(t, d, held))
				continue
			}
			key, _ := d.Token()
			keys = append(keys, key.(string))
			values[key.(string)] = oracleValue(t, d, held)
		}
		if _, err := d.Token(); err != nil {
			t.Fatalf("oracle: %v", err)
		}
		if v == '[' {
			return "[" + strings.Join(parts, ",") + "]"
		}
		slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(oracleRank(a), oracleRank(b)) })
		for _, key := range keys {
			parts = append(parts, oracleString(key)+":"+values[key])
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return strings.ReplaceAll(fmt.Sprint(token), "<nil>", "null")
}

func oracleRank(key string) uint64 {
	n, err := strconv.ParseUint(key, 10, 32)
	if err != nil || n > 1<<32-2 || strconv.FormatUint(n, 10) != key {
		return 1 << 32
	}
	return n
}

func oracleString(s string) string {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	var b strings.Builder
	for _, r := range s {
		if e, ok := short[r]; ok {
			b.WriteString(e)
		} else if r < 0x20 {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

func oracleNumber(written string) (text string, held bool) {
	f, err := strconv.ParseFloat(written, 64)
	mantissa, _, _ := strings.Cut(strings.ToLower(written), "e")
	if zero := !strings.ContainsAny(mantissa, "123456789"); zero {
		return "0", true
	}
	if err != nil || f == 0 {
		return written, false
	}
	print := strconv.FormatFloat(f, 'f', -1, 64)
	if abs := max(f, -f); abs < 1e-6 || abs >= 1e21 {
		print = strconv.FormatFloat(f, 'e', -1, 64)
		print = regexp.MustCompile(`e([+-])0`).ReplaceAllString(print, "e$1")
	}
	a, _ := new(big.Rat).SetString(written)
	b, _ := new(big.Rat).SetString(print)
	if a.Cmp(b) != 0 {
		return written, false
	}
	return print, true
}

// genJSON makes JSON texts that are rarely canonical: white space, needless
// escapes, keys that are array indices or look like them, numbers near every
