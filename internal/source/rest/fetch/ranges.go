package fetch

import (
	"net/http"
	"strconv"
	"strings"
)

// nextRange is the Range header of the page after a response, empty where that was the last:
// what Next-Range says, else what follows the Content-Range, such as "items 0-24/100". bytes
// reports that the response is a part of a file, which has no pages.
func nextRange(h http.Header) (next string, bytes bool) {
	if next = strings.TrimSpace(h.Get("Next-Range")); next != "" {
		return next, false
	}
	r, ok := parseContentRange(h.Get("Content-Range"))
	if !ok || r.total >= 0 && r.last+1 >= r.total {
		return "", false
	}
	if strings.EqualFold(r.unit, "bytes") {
		return "", true
	}
	next = strconv.FormatInt(r.last+1, 10) + "-" + strconv.FormatInt(r.last+1+(r.last-r.first), 10)
	if r.unit != "" {
		next = r.unit + "=" + next
	}
	return next, false
}

// contentRange is which of how many records a response has; total is -1 where that is not known.
type contentRange struct {
	unit               string
	first, last, total int64
}

// maxRange is the largest number of a record.
const maxRange = 1 << 53

// parseContentRange reads a header Content-Range with a span, with or without a unit.
func parseContentRange(text string) (r contentRange, ok bool) {
	unit, span, spaced := strings.Cut(strings.TrimSpace(text), " ")
	if !spaced {
		unit, span = "", unit
	}
	span, total, _ := strings.Cut(span, "/")
	first, last, _ := strings.Cut(span, "-")
	number := func(text string) int64 {
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil || n < 0 || n > maxRange {
			return -1
		}
		return n
	}
	r = contentRange{unit, number(first), number(last), number(total)}
	return r, r.first >= 0 && r.last >= r.first
}
