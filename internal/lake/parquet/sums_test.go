package parquet

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// TestFlippedBits holds that a file is verified as it was written, by the sums of its
// chunks, and that no bit of it can be another.
func TestFlippedBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := write(t, drawTable(t), Options{GroupRows: 100})
		sums := sumsOf(t, file)
		parts := partsOf(t, file)
		if parts == nil {
			t.Fatal("the footer does not have sums of the whole file")
		}
		if err := Verify(bytes.NewReader(file), int64(len(file)), sums); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			flip(t, file, sums, rand.IntN(8*len(file)))
		}
	})
	small := write(t, table{columns: []feedmill.Column{{Name: "n", Type: columnar.TypeInteger}}, blocks: [][]columnar.Vector{
		{{Type: columnar.TypeInteger, Len: 3, Ints: []int64{1, 2, 3}}},
	}}, Options{})
	sums := sumsOf(t, small)
	for bit := range 8 * len(small) {
		flip(t, small, sums, bit)
	}
	for size := range len(small) {
		if err := Verify(bytes.NewReader(small[:size]), int64(size), sums); !errors.Is(err, ErrDamaged) {
			t.Fatalf("%d of %d bytes: %v", size, len(small), err)
		}
	}
}

// TestFilesOfOtherWriters holds that files without sums of chunks are verified too.
func TestFilesOfOtherWriters(t *testing.T) {
	file := write(t, table{columns: []feedmill.Column{{Name: "n", Type: columnar.TypeInteger}}}, Options{})
	file = bytes.Replace(file, []byte(sumsKey), []byte("x"+sumsKey[1:]), 1)
	sums := sumsOf(t, file)
	if partsOf(t, file) != nil {
		t.Fatal("the file has sums of chunks")
	}
	if err := Verify(bytes.NewReader(file), int64(len(file)), sums); err != nil {
		t.Fatal(err)
	}
	for bit := range 8 * len(file) {
		flip(t, file, sums, bit)
	}
}

func flip(t rapid.TB, file []byte, sums feedmill.FileSums, bit int) {
	t.Helper()
	damaged := slices.Clone(file)
	damaged[bit/8] ^= 1 << (bit % 8)
	if err := Verify(bytes.NewReader(damaged), int64(len(file)), sums); !errors.Is(err, ErrDamaged) {
		t.Fatalf("the bit %d of %d bytes: %v", bit, len(file), err)
	}
}

func sumsOf(t rapid.TB, file []byte) feedmill.FileSums {
	t.Helper()
	sums, err := Sum(bytes.NewReader(file), int64(len(file)), bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if whole := sha256.Sum256(file); sums.SHA256 != hex.EncodeToString(whole[:]) {
		t.Fatal("the sum is not that of the file")
	}
	return sums
}

func partsOf(t rapid.TB, file []byte) []part {
	t.Helper()
	end, err := footer(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	parts, err := summedParts(end, int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return parts
}
