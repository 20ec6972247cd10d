package json

import (
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

func TestArrivingLines(t *testing.T) {
	small := Options{blockBytes: usualBlockBytes / 32, readBytes: usualReadBytes / 32}
	data := decodetest.Lines("{\"a\":%d,\"b\":\"é\"}\n", 4<<15) + `{"c":1}`
	want, err := OpenLines(t.Context(), strings.NewReader(data), Options{})
	if err != nil {
		t.Fatal(err)
	}
	wanted := decodetest.Rows(t, want)
	for _, part := range []int{1 << 12, 30_003} {
		src := decodetest.NewGrowing(data)
		wait := src.Arrive(part)
		got, err := OpenLines(t.Context(), src, small)
		if err != nil {
			t.Fatal(err)
		}
		if rows := decodetest.Rows(t, got); !slices.EqualFunc(rows, wanted, slices.Equal) {
			t.Errorf("in parts of %d: %d rows of %d", part, len(rows), len(wanted))
		}
		wait()
		if !slices.Equal(got.Names(), want.Names()) {
			t.Errorf("in parts of %d: columns %q", part, got.Names())
		}
	}
}

func TestArrivalThatBreaksOff(t *testing.T) {
	src := decodetest.NewGrowing(decodetest.Lines("{\"a\":%d}\n", 6<<15))
	src.Grow(4 << 15)
	small := Options{blockBytes: usualBlockBytes / 32, readBytes: usualReadBytes / 32}
	table, err := OpenLines(t.Context(), src, small)
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	err = table.Each(t.Context(), 2, func(*columnar.Cells) error {
		once.Do(func() { src.Fail(io.ErrUnexpectedEOF) })
		return nil
	})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	if _, err := OpenLines(t.Context(), src, Options{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("opened again: %v", err)
	}
}
