package feed

import (
	"context"
	"io"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode"
)

// Unwrap takes the data of an upload out of the file that it came in. It may have limit bytes. A zip archive is
// written to disk for that, as long as there is room.
func (m *Mill) Unwrap(ctx context.Context, body io.Reader, fileName, entry string, limit int64) (feedmill.Unwrapped, error) {
	return decode.Unwrap(ctx, &aboveFloor{Reader: body, mill: m}, decode.Wrapped{FileName: fileName, Entry: entry, Limit: limit, Temp: m.Temp})
}

// aboveFloor is a body that is read as long as the disk has room.
type aboveFloor struct {
	io.Reader
	mill *Mill
}

func (a *aboveFloor) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if full := a.mill.Room.Disk.Take(int64(n)); full != nil {
		return 0, full
	}
	return n, err
}
