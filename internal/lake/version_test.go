package lake

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// memory is a store that keeps what was put whole.
type memory map[string][]byte

func (m memory) Put(_ context.Context, name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	m[name] = b.Bytes()
	return nil
}

func (m memory) Lease(context.Context, string) (feedmill.FileLease, error) {
	return feedmill.FileLease{}, errors.ErrUnsupported
}

func (m memory) LeaseHead(context.Context, string, int64, []int, int64) (feedmill.FileLease, bool, error) {
	return feedmill.FileLease{}, false, errors.ErrUnsupported
}

func numbers(blocks ...[]int64) iter.Seq2[[]columnar.Vector, error] {
	return func(yield func([]columnar.Vector, error) bool) {
		for _, b := range blocks {
			if !yield([]columnar.Vector{{Type: columnar.TypeInteger, Len: len(b), Ints: b}}, nil) {
				return
			}
		}
	}
}

var oneColumn = []feedmill.Column{{Name: "n", Type: columnar.TypeInteger}}

func TestVersionSaysWhatWasWritten(t *testing.T) {
	blobs := make(memory)
	v, err := Write(t.Context(), blobs, "a", feedmill.TypedTable{Columns: oneColumn, Runs: numbers([]int64{1, 2}, nil, []int64{3})})
	if err != nil {
		t.Fatal(err)
	}
	if v.Files[0].Name != "a" || v.Rows != 3 || v.Bytes != int64(len(blobs["a"])) {
		t.Errorf("%+v of %d bytes", v, len(blobs["a"]))
	}
	same, err := Write(t.Context(), blobs, "b", feedmill.TypedTable{Columns: oneColumn, Runs: numbers([]int64{1}, []int64{2, 3})})
	if err != nil || same.ContentHash != v.ContentHash {
		t.Errorf("the same rows have the hash %s, not %s, %v", same.ContentHash, v.ContentHash, err)
	}
	other, err := Write(t.Context(), blobs, "c", feedmill.TypedTable{Columns: oneColumn, Runs: numbers([]int64{1, 3, 2})})
	if err != nil || other.ContentHash == v.ContentHash {
		t.Errorf("other rows have the same hash, %v", err)
	}
}

func TestNothingIsKeptOfBlocksThatFail(t *testing.T) {
	blobs := make(memory)
	broken := errors.New("broken")
	_, err := Write(t.Context(), blobs, "a", feedmill.TypedTable{Columns: oneColumn, Runs: func(yield func([]columnar.Vector, error) bool) {
		for block := range numbers([]int64{1}) {
			if !yield(block, nil) {
				return
			}
		}
		yield(nil, broken)
	}})
	if !errors.Is(err, broken) || len(blobs) != 0 {
		t.Errorf("%v, kept %d", err, len(blobs))
	}
	_, err = Write(t.Context(), blobs, "a", feedmill.TypedTable{Columns: oneColumn, Runs: func(yield func([]columnar.Vector, error) bool) {
		yield([]columnar.Vector{{Type: columnar.TypeText}}, nil)
	}})
	if err == nil || len(blobs) != 0 {
		t.Errorf("%v, kept %d", err, len(blobs))
	}
}
