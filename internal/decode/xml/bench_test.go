package xml

import (
	"bytes"
	stdxml "encoding/xml"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"
)

// benchDocuments are documents of several megabytes of the shapes that are usual.
var benchDocuments = []struct {
	name  string
	write func(w *bytes.Buffer, n int)
	open  string
	close string
}{
	{"sheet", func(w *bytes.Buffer, n int) {
		fmt.Fprintf(w, `<row r="%d" spans="1:6">`, n)
		for c := range 6 {
			switch c {
			case 0:
				fmt.Fprintf(w, `<c r="A%d" t="s"><v>%d</v></c>`, n, n*7%1000)
			case 4:
				fmt.Fprintf(w, `<c r="E%d" s="4"/>`, n)
			default:
				fmt.Fprintf(w, `<c r="%c%d" s="3"><v>%d.%d</v></c>`, 'A'+c, n, n*31%10000, n%100)
			}
		}
		w.WriteString(`</row>`)
	}, `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`, `</sheetData></worksheet>`},
	{"records", func(w *bytes.Buffer, n int) {
		fmt.Fprintf(w, "  <order>\n    <id>%d</id>\n    <customer>\n      <name>Anna Müller %d</name>\n      <city>Köln</city>\n    </customer>\n"+
			"    <total currency=\"EUR\">%d.50</total>\n    <placed>2024-05-%02dT10:20:30Z</placed>\n    <note>Left at the &quot;front&quot; door &amp; signed</note>\n  </order>\n", n, n%999, n%5000, n%28+1)
	}, "<?xml version=\"1.0\"?>\n<orders>\n", "</orders>"},
	{"attributes", func(w *bytes.Buffer, n int) {
		fmt.Fprintf(w, "  <row Id=\"%d\" PostTypeId=\"1\" CreationDate=\"2008-07-31T21:42:52.667\" Score=\"%d\" ViewCount=\"%d\" Body=\"&lt;p&gt;I want to convert a decimal to a double.&lt;/p&gt;\" OwnerUserId=\"%d\" Tags=\"c#|floating-point\" />\r\n", n, n%50, n%9999, n%777)
	}, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n<posts>\r\n", "</posts>"},
	{"prefixes", func(w *bytes.Buffer, n int) {
		fmt.Fprintf(w, `<entry><m:properties xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><d:ID m:type="Edm.Int32">%d</d:ID><d:Name>Bread %d</d:Name><d:Description m:null="true" /><d:Price m:type="Edm.Decimal">%d.50</d:Price></m:properties></entry>`, n, n, n%99)
	}, `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices">`, `</feed>`},
	{"prose", func(w *bytes.Buffer, n int) {
		fmt.Fprintf(w, "<p>%s <b>%d</b> %s</p>\n", strings.Repeat("The quick brown fox jumps over the lazy dog. ", 12), n, strings.Repeat("Съешь ещё этих мягких французских булок. ", 3))
	}, `<article>`, `</article>`},
}

func benchDocument(index int) []byte {
	d := benchDocuments[index]
	var w bytes.Buffer
	w.WriteString(d.open)
	for n := 1; w.Len() < 4<<20; n++ {
		d.write(&w, n)
	}
	w.WriteString(d.close)
	return w.Bytes()
}

func BenchmarkReader(b *testing.B) {
	for i, d := range benchDocuments {
		document := benchDocument(i)
		source := bytes.NewReader(document)
		b.Run(d.name+"/own", func(b *testing.B) {
			b.SetBytes(int64(len(document)))
			b.ReportAllocs()
			r := NewReader(source)
			defer reportCPU(b, len(document))()
			for b.Loop() {
				source.Reset(document)
				r.Reset(source)
				for {
					_, err := r.Next()
					if err == io.EOF {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		b.Run(d.name+"/std-RawToken", func(b *testing.B) { benchStd(b, document, (*stdxml.Decoder).RawToken) })
		b.Run(d.name+"/std-Token", func(b *testing.B) { benchStd(b, document, (*stdxml.Decoder).Token) })
	}
}

// reportCPU measures the megabytes for each second of processor time, which says more than
// those for each second where the machine does other work as well.
func reportCPU(b *testing.B, size int) (done func()) {
	start := cpuTime(b)
	return func() {
		b.ReportMetric(float64(size)*float64(b.N)/1e6/(cpuTime(b)-start).Seconds(), "MB/cpu-s")
	}
}

func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// benchStd measures encoding/xml in one of its two ways.
func benchStd(b *testing.B, document []byte, next func(*stdxml.Decoder) (stdxml.Token, error)) {
	b.SetBytes(int64(len(document)))
	b.ReportAllocs()
	defer reportCPU(b, len(document))()
	for b.Loop() {
		decoder := stdxml.NewDecoder(bytes.NewReader(document))
		for {
			_, err := next(decoder)
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
