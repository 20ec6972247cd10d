package xml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// many is n texts, one after the other.
func many(n int, text func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(text(i))
	}
	return b.String()
}

// smaller makes a limit smaller for the time of a test.
func smaller[T any](t *testing.T, limit *T, to T) {
	was := *limit
	*limit = to
	t.Cleanup(func() { *limit = was })
}

// The usual limits are what the documentation says.
func TestUsualLimits(t *testing.T) {
	if maxValueBytes != 16<<20 || maxTagBytes != 64<<20 || maxFieldBytes != 16<<20 || maxRecordBytes != 64<<20 {
		t.Error(maxValueBytes, maxTagBytes, maxFieldBytes, maxRecordBytes)
	}
}

func TestLimits(t *testing.T) {
	if !decodetest.Long() {
		smaller(t, &maxValueBytes, 1<<18)
		smaller(t, &maxTagBytes, 1<<19)
	}
	nested := func(n int) string { return strings.Repeat("<a>", n) + strings.Repeat("</a>", n) }
	attributes := func(n int) string {
		return "<a" + many(n, func(i int) string { return fmt.Sprintf(` b%d=""`, i) }) + "/>"
	}
	namespaces := func(n int) string {
		return "<a" + many(n/2, func(i int) string { return fmt.Sprintf(` xmlns:b%d="u"`, i) }) + "><c" +
			many(n-n/2, func(i int) string { return fmt.Sprintf(` xmlns:b%d="v"`, i) }) + "/></a>"
	}
	name := func(n int) string { return "<" + strings.Repeat("n", n) + "/>" }
	prefixed := func(n int) string {
		return `<p:` + strings.Repeat("n", n-2) + ` xmlns:p="u"/>`
	}
	attribute := func(n int) string { return "<a " + strings.Repeat("n", n) + `="1"/>` }
	value := func(n int) string { return `<a b="` + strings.Repeat("v", n) + `"/>` }
	uri := func(n int) string { return `<a xmlns="` + strings.Repeat("u", n) + `"/>` }
	spaces := func(n int) string { return "<a" + strings.Repeat(" ", n-4) + "/>" }
	for _, test := range []struct {
		what     string
		limit    int
		document func(n int) string
		detail   string
	}{
		{"depth", MaxDepth, nested, "elements are nested more than 1000 levels deep"},
		{"attributes", MaxAttributes, attributes, "the element has more than 10000 attributes, the maximum"},
		{"namespaces", MaxNamespaces, namespaces, "more than 1000 namespace declarations apply here"},
		{"element name", MaxNameBytes, name, "is longer than 1024 bytes"},
		{"qualified name", MaxNameBytes, prefixed, "is longer than 1024 bytes"},
		{"attribute name", MaxNameBytes, attribute, "is longer than 1024 bytes"},
		{"value", maxValueBytes, value, fmt.Sprintf("the value of the attribute b is longer than %d bytes", maxValueBytes)},
		{"namespace", MaxNamespaceBytes, uri, "the name of the namespace is longer than 8192 bytes, the maximum"},
		{"tag", maxTagBytes, spaces, fmt.Sprintf("the tag is longer than %d bytes", maxTagBytes)},
	} {
		t.Run(test.what, func(t *testing.T) {
			if err := readAll([]byte(test.document(test.limit))); err != nil {
				t.Errorf("at the limit: %v", err)
			}
			fault, ok := errors.AsType[*Fault](readAll([]byte(test.document(test.limit + 1))))
			if !ok || !strings.Contains(fault.Detail, test.detail) {
				t.Errorf("past the limit: %v, want one with %q", fault, test.detail)
			}
		})
	}
}

// repeated is a document of a beginning, a part that is repeated until there is enough, and an
// end, none of which is ever in memory as a whole.
type repeated struct {
	open  string
	part  func(i int) string
	size  int64
	close string

	pending []byte
	state   int
	n       int
}

func (d *repeated) Read(p []byte) (int, error) {
	for len(d.pending) == 0 {
		switch {
		case d.state == 0:
			d.pending = append(d.pending, d.open...)
			d.state = 1
		case d.state == 1 && d.size > 0:
			d.pending = append(d.pending, d.part(d.n)...)
			d.size -= int64(len(d.pending))
			d.n++
		case d.state == 1:
			d.pending = append(d.pending, d.close...)
			d.state = 2
		default:
			return 0, io.EOF
		}
	}
	n := copy(p, d.pending)
	d.pending = d.pending[:copy(d.pending, d.pending[n:])]
	return n, nil
}

// sameAsNames are tries to take memory that are held off by what holds off names.
var sameAsNames = map[string]bool{"names in names": true, "prefixes": true, "namespaces": true}

// TestFlatMemory reads documents that try to take much memory.
func TestFlatMemory(t *testing.T) {
	// names is what documents have besides that have ever new names, and limit what
	// those may take that need no more memory however long they are.
	size, names, limit := int64(6<<20), int64(0), uint64(4<<20)
	if !decodetest.Long() {
		size, names, limit = 3<<19, 1<<19, 1<<20
		smaller(t, &maxValueBytes, 1<<20)
	}
	block := strings.Repeat("x", 64<<10)
	fixed := func(text string) func(int) string { return func(int) string { return text } }
	attributes := many(9000, func(i int) string { return fmt.Sprintf(` a%d="%d"`, i, i) })
	for _, test := range []struct {
		name     string
		document repeated
		limit    uint64
		refused  string
	}{
		{"text without markup", repeated{open: "<a>", part: fixed(block), close: "</a>"}, limit, ""},
		{"white space", repeated{open: "<a>", part: fixed(strings.Repeat(" ", 1000)), close: "</a>"}, limit, ""},
		{"white space outside", repeated{open: "\n", part: fixed(strings.Repeat("\n", 1000)), close: "<a/>"}, limit, ""},
		{"references", repeated{open: "<a>", part: fixed("&amp;&#x10FFFF;"), close: "</a>"}, limit, ""},
		{"brackets", repeated{open: "<a>", part: fixed("]]"), close: "</a>"}, limit, ""},
		{"one CDATA section", repeated{open: "<a><![CDATA[", part: fixed(block), close: "]]></a>"}, limit, ""},
		{"CDATA sections", repeated{open: "<a>", part: fixed("<![CDATA[]]>"), close: "</a>"}, limit, ""},
		{"one comment", repeated{open: "<a><!--", part: fixed(block), close: "--></a>"}, limit, ""},
		{"comments", repeated{open: "<a>", part: fixed("<!---->"), close: "</a>"}, limit, ""},
		{"one instruction", repeated{open: "<a><?p ", part: fixed(block), close: "?></a>"}, limit, ""},
		{"carriage returns", repeated{open: "<a>", part: fixed("\r\n"), close: "</a>"}, limit, ""},
		{"names", repeated{open: "<a>", part: func(i int) string { return fmt.Sprintf("<n%d/>", i) }, size: names, close: "</a>"}, 24 << 20, ""},
		{"names in names", repeated{open: "<a>", part: func(i int) string {
			if i%20_000 == 0 {
				return fmt.Sprintf("<d%d>", i)
			}
			return fmt.Sprintf("<n%d/>", i)
		}, size: names}, 40 << 20, "is not closed"},
		{"long names", repeated{open: "<a>", part: func(i int) string { return fmt.Sprintf("<%s%d/>", block[:1000], i) }, close: "</a>"}, 24 << 20, ""},
		{"names of attributes", repeated{open: "<a>", part: func(i int) string { return fmt.Sprintf(`<b n%d=""/>`, i) }, size: names, close: "</a>"}, 24 << 20, ""},
		{"prefixes", repeated{open: "<a>", part: func(i int) string { return fmt.Sprintf(`<p%d:b xmlns:p%[1]d="u"/>`, i) }, size: names, close: "</a>"}, 24 << 20, ""},
		{"namespaces", repeated{open: "<a>", part: func(i int) string { return fmt.Sprintf(`<b xmlns="u%d"/>`, i) }, size: names, close: "</a>"}, 24 << 20, ""},
		{"elements with many attributes", repeated{open: "<a>", part: func(i int) string { return fmt.Sprintf(`<b%d%s/>`, i, attributes) }, close: "</a>"}, 24 << 20, ""},
		{"billion laughs", repeated{open: `<!DOCTYPE a [<!ENTITY l "lol">`, part: func(i int) string { return fmt.Sprintf(`<!ENTITY l%d "&l;&l;">`, i) }, close: "]><a/>"}, limit, "remove the <!DOCTYPE"},
		{"document type", repeated{open: `<!DOCTYPE a SYSTEM "`, part: fixed(block), close: `"><a/>`}, limit, "is longer than 65536 bytes"},
		{"depth", repeated{open: "<a>", part: fixed("<a>"), close: ""}, limit, "more than 1000 levels deep"},
		{"attributes", repeated{open: "<a", part: func(i int) string { return fmt.Sprintf(` a%d=""`, i) }, close: "/>"}, 16 << 20, "more than 10000 attributes"},
		{"one value", repeated{open: `<a b="`, part: fixed(block), size: int64(maxValueBytes), close: `"/>`}, 8 * uint64(maxValueBytes), "is longer than"},
		{"one name", repeated{open: `<a`, part: fixed(block), close: `/>`}, limit, "is longer than"},
		{"one reference", repeated{open: `<a>&`, part: fixed(block), close: `;</a>`}, limit, "is longer than"},
		{"one number", repeated{open: `<a>&#`, part: fixed("0000"), close: `65;</a>`}, limit, "is longer than"},
		{"one instruction's name", repeated{open: `<?`, part: fixed(block), close: `?><a/>`}, limit, "is longer than"},
		{"one XML declaration", repeated{open: `<?xml `, part: fixed("    "), close: `version="1.0"?><a/>`}, limit, "is not closed"},
	} {
		if sameAsNames[test.name] && !decodetest.Long() {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			test.document.size += size
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			r := NewReader(&test.document)
			most := uint64(0)
			for n := 0; ; n++ {
				_, err := r.Next()
				if n&0x7ffff == 0 || err != nil {
					runtime.GC()
					runtime.ReadMemStats(&after)
					most = max(most, after.HeapAlloc-min(before.HeapAlloc, after.HeapAlloc))
				}
				if err == nil {
					continue
				}
				if test.refused == "" && err != io.EOF || test.refused != "" && !strings.Contains(err.Error(), test.refused) {
					t.Errorf("error %v, want one with %q", err, test.refused)
				}
				break
			}
			if most > test.limit {
				t.Errorf("takes %d KiB, want at most %d", most>>10, test.limit>>10)
			}
			runtime.KeepAlive(r)
		})
	}
}

// TestNoAllocations reads the elements of a document without allocating anything for them.
func TestNoAllocations(t *testing.T) {
	for i, d := range benchDocuments {
		document := benchDocument(i)
		r := NewReader(bytes.NewReader(document))
		for range 1000 {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
		if allocations := testing.AllocsPerRun(10_000, func() {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}); allocations > 0 {
			t.Errorf("%s: %v allocations a token", d.name, allocations)
		}
	}
}
