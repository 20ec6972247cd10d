package postgres

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/feedmill/feedmill/internal/share"
	"github.com/feedmill/feedmill/internal/source/database"
)

// A row waits before a byte of it is passed on, however the messages before it are cut.
func TestAnnouncedRows(t *testing.T) {
	message := func(size int) []byte {
		m := binary.BigEndian.AppendUint32([]byte{'D'}, uint32(size+lengthBytes))
		return append(m, bytes.Repeat([]byte{'D'}, min(size, 100))...) // which is not looked at
	}
	for name, cut := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader, "bytes": iotest.OneByteReader,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slots := share.NewSlots(1, 1, 10)
				giveBack, err := slots.Take(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				gate, _ := database.NewRowGate(share.WithLargeRows(t.Context(), slots))
				defer gate.Close()
				m := &meter{}
				m.restart(gate)
				data := append(append(message(7), message(0)...), message(20<<20)...)
				r := &announced{Reader: cut(bytes.NewReader(data)), meter: m}
				var got bytes.Buffer
				done := make(chan error, 1)
				go func() {
					_, err := io.Copy(&got, r)
					done <- err
				}()
				synctest.Wait()
				if before := len(message(7)) + len(message(0)) + headBytes; got.Len() >= before {
					t.Errorf("%d bytes were passed on of the %d before the row", got.Len(), before)
				}
				giveBack()
				if err := <-done; err != nil || !bytes.Equal(got.Bytes(), data) {
					t.Errorf("%d bytes, %v", got.Len(), err)
				}
			})
		})
	}
}
