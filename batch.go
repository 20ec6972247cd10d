package feedmill

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/feedmill/feedmill/internal/jstext"
)

// Batch sends the events of a webhook as arrays. The zero value sends each event alone.
type Batch struct {
	// MaxEvents is the maximum number of events in an array.
	MaxEvents int
	// MaxWait is how long an event waits for others before the array is sent.
	MaxWait time.Duration
}

// Limits and defaults of batches.
const (
	MinBatchEvents   = 2
	MaxBatchEvents   = 100
	MaxBatchWait     = 60 * time.Second
	DefaultBatchWait = time.Second
	MaxBatchBytes    = 1 << 20
)

// IsZero reports whether each event is sent alone.
func (b Batch) IsZero() bool { return b == Batch{} }

// BatchID identifies an array by the ids of its deliveries, in their order.
func BatchID(deliveries []ID) string {
	sum := sha256.New()
	for i, id := range deliveries {
		if i > 0 {
			sum.Write([]byte{','})
		}
		sum.Write([]byte(id))
	}
	return "batch_" + hex.EncodeToString(sum.Sum(nil)[:16])
}

// Element is the body as an element of an array. Plain text becomes a string.
func (b Body) Element() []byte {
	if b.ContentType == "" || b.ContentType == ContentJSON {
		return b.Bytes
	}
	return jstext.AppendString(nil, string(b.Bytes))
}

// BatchBody is the array of as many of the elements as fit, at least of the first one.
func BatchBody(elements [][]byte) (body []byte, fits int) {
	size := len("[")
	for ; fits < len(elements); fits++ {
		if size += len(elements[fits]) + len(","); size > MaxBatchBytes && fits > 0 {
			break
		}
	}
	body = append(make([]byte, 0, size), '[')
	for i, e := range elements[:fits] {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, e...)
	}
	return append(body, ']'), fits
}
