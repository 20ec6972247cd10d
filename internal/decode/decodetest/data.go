package decodetest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf16"
)

// Lines repeats a line with numbers until there are so many bytes.
func Lines(format string, size int) string {
	var out strings.Builder
	for i := 0; out.Len() < size; i++ {
		fmt.Fprintf(&out, format, i)
	}
	return out.String()
}

// InUTF16 is a text in UTF-16.
func InUTF16(order binary.AppendByteOrder, text string) []byte {
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

// MixedTable is a table of twelve columns of many types, with nulls, leading zeros
// and line ends inside of quotes, of about so many bytes.
func MixedTable(size int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	var out bytes.Buffer
	out.WriteString("id,customer,zip,amount,quantity,paid,day,at,city,note,score,code\n")
	cities := []string{"Paris", "Lyon", "Köln", "San Francisco", "Łódź"}
	for id := 1; out.Len() < size; id++ {
		score := ""
		if id%7 != 0 {
			score = fmt.Sprintf("%.4f", random.Float64()*100)
		}
		note := "ordered by telephone"
		if id%20 == 0 {
			note = "\"first line\nsecond, \"\"quoted\"\" line\""
		}
		fmt.Fprintf(&out, "%d,customer-%d,%05d,%d.%02d,%d,%t,2026-%02d-%02d,2026-%02d-%02d %02d:%02d:%02d,%s,%s,%s,%c%d\n",
			id, random.IntN(100_000), random.IntN(100_000), random.IntN(10_000), random.IntN(100), random.IntN(50), id%3 == 0,
			1+random.IntN(12), 1+random.IntN(28), 1+random.IntN(12), 1+random.IntN(28), random.IntN(24), random.IntN(60), random.IntN(60),
			cities[random.IntN(len(cities))], note, score, 'A'+rune(random.IntN(26)), random.IntN(1000))
	}
	return out.Bytes()
}

// Records writes flat records of mixed types, as exports of orders have
// them, each followed by a separator.
func Records(size int, separator string) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	status := []string{"paid", "open", "cancelled", "refunded"}
	var b bytes.Buffer
	for id := 0; b.Len() < size; id++ {
		if id > 0 {
			b.WriteString(separator)
		}
		fmt.Fprintf(&b, `{"id":%d,"customer":"C%06d","status":%q,"placed_at":"2026-%02d-%02dT10:%02d:00Z","total":%d.%02d,"currency":"EUR","paid":%t,"discount":null,"note":"deliver to the back door, ring twice","email":"user%d@example.com"}`,
			id, random.IntN(1e6), status[random.IntN(4)], 1+random.IntN(12), 1+random.IntN(28), random.IntN(60),
			random.IntN(10000), random.IntN(100), random.IntN(2) == 0, random.IntN(1e5))
	}
	return b.Bytes()
}
