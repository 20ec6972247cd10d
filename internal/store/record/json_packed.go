package record

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// PackedText is the field of a value that is kept as compressed JSON text.
type PackedText[T any] struct{ of *T }

// PackedJSON is the field of what v points at, for long lists whose parts are
// much alike.
func PackedJSON[T any](v *T) PackedText[T] { return PackedText[T]{v} }

// packer and unpacker are shared: each call of them is by itself.
var (
	packer = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
	})
	unpacker = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	})
)

// Value makes the text.
func (t PackedText[T]) Value() (driver.Value, error) {
	text, err := json.Marshal(t.of)
	if err != nil {
		return nil, err
	}
	z, err := packer()
	if err != nil {
		return nil, err
	}
	return z.EncodeAll(text, nil), nil
}

// Scan reads the text.
func (t PackedText[T]) Scan(from any) error {
	packed, ok := from.([]byte)
	if !ok {
		return fmt.Errorf("compressed JSON text is a %T", from)
	}
	z, err := unpacker()
	if err != nil {
		return err
	}
	text, err := z.DecodeAll(packed, nil)
	if err != nil {
		return fmt.Errorf("compressed JSON text: %w", err)
	}
	return JSON(t.of).Scan(text)
}
