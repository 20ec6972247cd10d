package jstext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func BenchmarkAppendJSText(b *testing.B) {
	var items []string
	for i := range 6 {
		items = append(items, fmt.Sprintf(`{"metricId":"m_01h455vb4pex5vsknk08%02d","name":"Büro %d, Umsatz","value":%d.25,"active":true,"previous":null}`, i, i, 1000*i))
	}
	canonical := []byte(`{"id":"evt_01h455vb4pex5vsknk084sn02q","type":"metric.refreshed","timestamp":"2026-11-15T12:00:00.000Z",` +
		`"resourceId":"m_1","data":{"description":"The quick brown fox jumps over the lazy dog, and the dog does not mind it at all.",` +
		`"count":6,"items":[` + strings.Join(items, ",") + `]}}`)
	var spaced bytes.Buffer
	if err := json.Indent(&spaced, canonical, "", "  "); err != nil {
		b.Fatal(err)
	}
	rewritten := strings.NewReplacer("ü", `\u00fc`, `"name"`, `"7"`, ".25", ".250").Replace(spaced.String())
	for _, c := range []struct{ name, src string }{
		{"canonical", string(canonical)},
		{"rewritten", rewritten},
	} {
		b.Run(c.name, func(b *testing.B) {
			src := []byte(c.src)
			dst := make([]byte, 0, 2*len(src))
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Append(dst, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
