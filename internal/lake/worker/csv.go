package worker

import "bytes"

// csvRows writes rows as RFC 4180 has them, after a header. A null is an empty
// field and an empty text is a pair of quotes, so that both come back.
type csvRows struct {
	names   []string
	columns []*column
}

func (w *csvRows) begin(dst []byte) []byte {
	if len(w.names) == 0 {
		return dst
	}
	for i, name := range w.names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendField(dst, []byte(name))
	}
	return append(dst, '\r', '\n')
}

func (w *csvRows) append(dst []byte, n int) ([]byte, error) {
	for i := range n {
		for k, c := range w.columns {
			if k > 0 {
				dst = append(dst, ',')
			}
			switch {
			case c.null(i):
			case c.kind == kindText:
				dst = appendField(dst, c.text(i))
			default:
				dst = c.appendValue(dst, i)
			}
		}
		dst = append(dst, '\r', '\n')
	}
	return dst, nil
}

func (w *csvRows) end(dst []byte) ([]byte, error) { return dst, nil }

// quoted says which bytes put a field into quotes.
var quoted = [256]bool{',': true, '"': true, '\r': true, '\n': true}

func needsQuotes(text []byte) bool {
	if len(text) == 0 || text[0] == ' ' || text[len(text)-1] == ' ' {
		return true
	}
	for _, b := range text {
		if quoted[b] {
			return true
		}
	}
	return false
}

func appendField(dst, text []byte) []byte {
	if !needsQuotes(text) {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			break
		}
		dst = append(append(dst, text[:i+1]...), '"')
		text = text[i+1:]
	}
	return append(append(dst, text...), '"')
}
