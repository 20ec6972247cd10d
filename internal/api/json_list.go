package api

import (
	"fmt"
	"net/http"
)

const (
	// maxPageBytes is the maximum size of a page of a list. A page with one record may
	// be larger.
	maxPageBytes = 8 << 20
	// listStep is how many records of a list are read from the store at a time, so that
	// those of a page of large records are not in memory together.
	listStep = 64
)

// jsonList is a page of a list, rendered record by record.
type jsonList struct {
	body []byte
	n    int
}

// add renders a record, and returns false where the page has no room for it.
func (l *jsonList) add(v any) bool {
	item, err := render(v)
	if err != nil {
		panic(fmt.Errorf("rendering a record of a list: %w", err))
	}
	if l.n > 0 && len(l.body)+len(item)+len(",]") > maxPageBytes {
		return false
	}
	l.body = append(l.body, "[,"[min(l.n, 1)])
	l.body = append(l.body, item...)
	l.n++
	return true
}

// answer is the response with the page.
func (l *jsonList) answer() answer {
	if l.n == 0 {
		l.body = append(l.body, '[')
	}
	return answer{status: http.StatusOK, contentType: "application/json", body: append(l.body, ']')}
}
