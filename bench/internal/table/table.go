// Package table makes the data that the benchmarks of feeds read: the same
// bytes every time, of as many as are wanted.
package table

import (
	"bufio"
	"errors"
	"math/rand/v2"
	"os"
)

// Kind is a kind of table.
type Kind struct {
	Name string
	// Format is csv, ndjson, json or xml.
	Format string
	// Check is what SQL selects of the table, which has to be the same whoever
	// has read it: numbers of 64 bits, of which the first counts the rows.
	Check string
	// header and footer stand before the rows and behind them.
	header, footer string
	row            func(dst []byte, random *rand.Rand, id int64) []byte
}

// Amount is how much to make: what is reached first counts, and zero does not.
type Amount struct{ Bytes, Rows int64 }

// Write makes a file and returns what is in it.
func (k Kind) Write(path string, want Amount) (made Amount, err error) {
	f, err := os.Create(path)
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriterSize(f, 1<<20)
	random := rand.New(rand.NewPCG(1, 2))
	for row := []byte(k.header); ; row = k.row(row[:0], random, made.Rows) {
		n, err := out.Write(row)
		if err != nil {
			return made, err
		}
		made.Bytes += int64(n)
		if want.Bytes > 0 && made.Bytes >= want.Bytes || want.Rows > 0 && made.Rows >= want.Rows {
			break
		}
		made.Rows++
	}
	n, err := out.WriteString(k.footer)
	made.Bytes += int64(n)
	return made, errors.Join(err, out.Flush())
}
