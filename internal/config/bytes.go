package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Bytes is a number of bytes, which people write with a unit.
type Bytes int64

// units are those that numbers of bytes have, the longest name first.
var units = []struct {
	name string
	size int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"B", 1},
	{"", 1},
}

// ParseBytes reads a whole number of bytes, such as 1048576 or 1MiB.
func ParseBytes(text string) (Bytes, error) {
	for _, unit := range units {
		digits, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/unit.size {
			break
		}
		return Bytes(n * unit.size), nil
	}
	return 0, errors.New("must be a number of bytes, such as 1073741824 or 1GiB")
}

// String writes it as ParseBytes reads it, with the largest unit that divides it.
func (b Bytes) String() string {
	for i := 3; i >= 0; i-- {
		if unit := units[i]; b != 0 && int64(b)%unit.size == 0 {
			return strconv.FormatInt(int64(b)/unit.size, 10) + unit.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}
