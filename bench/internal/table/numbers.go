package table

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

const (
	numericColumns = 12
	wideColumns    = 102
)

// Numeric is a table of whole numbers and decimals alone, as CSV.
var Numeric = Kind{
	Name: "numeric", Format: "csv",
	Check:  "count(*)::BIGINT, sum(c0)::BIGINT, sum(c1)::BIGINT, sum(CAST(c2 * 100 AS BIGINT))::BIGINT, sum(c9)::BIGINT",
	header: header(numericColumns),
	row: func(dst []byte, random *rand.Rand, id int64) []byte {
		dst = strconv.AppendInt(dst, id, 10)
		for i := 1; i < numericColumns; i++ {
			x := random.Uint64()
			dst = append(dst, ',')
			switch i % 4 {
			case 1:
				dst = strconv.AppendInt(dst, int64(x%1000), 10)
			case 2:
				dst = appendCents(dst, int(x%10_000_000))
			case 3:
				dst = strconv.AppendInt(dst, int64(x%2_000_000)-1_000_000, 10)
			case 0:
				dst = appendTenths(dst, int(x%100_000))
			}
		}
		return append(dst, '\n')
	},
}

// Wide is a table of many columns, as CSV.
var Wide = Kind{
	Name: "wide", Format: "csv",
	Check:  "count(*)::BIGINT, sum(c0)::BIGINT, sum(c5)::BIGINT, sum(CAST(c1 * 100 AS BIGINT))::BIGINT, sum(hash(c2) % 1000003)::BIGINT, count(c4)::BIGINT",
	header: header(wideColumns),
	row: func(dst []byte, random *rand.Rand, id int64) []byte {
		dst = strconv.AppendInt(dst, id, 10)
		for i := 1; i < wideColumns; i++ {
			x := random.Uint64()
			dst = append(dst, ',')
			switch i % 5 {
			case 0:
				dst = strconv.AppendInt(dst, int64(x%1_000_000), 10)
			case 1:
				dst = appendCents(dst, int(x%1_000_000))
			case 2:
				dst = append(dst, cities[x%6]...)
			case 3:
				dst = appendDay(dst, int(x%336))
			case 4:
				if x%3 > 0 {
					dst = strconv.AppendInt(dst, int64(x%50), 10)
				}
			}
		}
		return append(dst, '\n')
	},
}

// header names columns c0, c1 and so on.
func header(columns int) string {
	names := make([]string, columns)
	for i := range names {
		names[i] = "c" + strconv.Itoa(i)
	}
	return strings.Join(names, ",") + "\n"
}

func appendPadded(dst []byte, n, width int) []byte {
	for least := pow10(width - 1); width > 1 && n < least; width-- {
		dst = append(dst, '0')
		least /= 10
	}
	return strconv.AppendInt(dst, int64(n), 10)
}

func pow10(n int) int {
	p := 1
	for range n {
		p *= 10
	}
	return p
}

func appendCents(dst []byte, cents int) []byte {
	dst = strconv.AppendInt(dst, int64(cents/100), 10)
	return appendPadded(append(dst, '.'), cents%100, 2)
}

func appendTenths(dst []byte, tenths int) []byte {
	dst = strconv.AppendInt(dst, int64(tenths/10), 10)
	return append(dst, '.', '0'+byte(tenths%10))
}

// appendDay writes a day of a year whose months all have 28.
func appendDay(dst []byte, day int) []byte {
	dst = appendPadded(append(dst, "2026-"...), day/28+1, 2)
	return appendPadded(append(dst, '-'), day%28+1, 2)
}

func appendTime(dst []byte, day, second int) []byte {
	dst = appendPadded(append(appendDay(dst, day), ' '), second/3600, 2)
	dst = appendPadded(append(dst, ':'), second/60%60, 2)
	return appendPadded(append(dst, ':'), second%60, 2)
}

// appendQuoted writes text as CSV has it, in quotes where it needs them.
func appendQuoted(dst []byte, text string) []byte {
	if !strings.ContainsAny(text, "\",\n") {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(text, `"`, `""`)...)
	return append(dst, '"')
}
