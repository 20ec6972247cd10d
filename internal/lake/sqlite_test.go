package lake

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill/internal/query/sqlite"
)

// Rows arrive in whatever parts the frames have.
func TestCellWriter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream := binary.NativeEndian.AppendUint64(nil, 2)
		var want []string
		for i := range rapid.IntRange(0, 8).Draw(t, "rows") {
			text := strings.Repeat("x", rapid.SampledFrom([]int{0, 1, 100, 70_000, 1_200_000}).Draw(t, "length"))
			stream = binary.NativeEndian.AppendUint64(append(stream, sqlite.ClassInteger), uint64(i))
			stream = append(binary.NativeEndian.AppendUint32(append(stream, sqlite.ClassText), uint32(len(text))), text...)
			want = append(want, fmt.Sprint(i, len(text)))
		}
		var got []string
		w := &cellWriter{row: func(row []sqlite.Cell) error {
			got = append(got, fmt.Sprint(row[0].Int, len(row[1].Text)))
			return nil
		}}
		for rest := stream; len(rest) > 0; {
			n := min(rapid.SampledFrom([]int{1, 3, 8, 1000, 256 << 10, 1 << 20}).Draw(t, "part"), len(rest))
			if len(rest) > 10_000 {
				n = max(n, 1000)
			}
			part := append([]byte{}, rest[:n]...)
			if _, err := w.Write(part); err != nil {
				t.Fatal(err)
			}
			clear(part) // it is the caller's again
			rest = rest[n:]
		}
		if strings.Join(got, ",") != strings.Join(want, ",") || len(w.pending) > 0 {
			t.Fatalf("%v became %v, %d left", want, got, len(w.pending))
		}
	})
}
