package fetch

import (
	"io"
	"strconv"

	"github.com/feedmill/feedmill/internal/source/rest/find"
)

// The names by which sources say how many records there are in all. What is called total
// alone may be an amount of money, and counts beside a word of pages.
var (
	totalNames = nameSet("total_items", "totalItems", "total_count", "totalCount", "total_results", "totalResults", "total_records", "totalRecords", "itemCount")
	pageWords  = nameSet("limit", "offset", "page", "per_page", "perPage", "page_size", "pageSize", "startAt", "maxResults", "skip", "current_page", "last_page")
)

// signOfTotal is the name by which a document says that there are more records than it has,
// empty where it does not.
func signOfTotal(doc io.ReaderAt, size int64) string {
	d := find.OpenDocument(doc, size)
	if d.PeekKind() != '{' {
		return ""
	}
	name, total, err := totalIn(d, "")
	if name == "" || err != nil {
		return ""
	}
	data := make([]byte, size)
	n, _ := doc.ReadAt(data, 0)
	if records := elements(longestList(data[:n])); records == 0 || total <= records {
		return ""
	}
	return name
}

// totalIn is the number of all records that the object which comes next has, or one in it
// that is about the pages.
func totalIn(d find.Document, before string) (sign string, total int64, err error) {
	if err := d.Bracket(); err != nil {
		return "", 0, err
	}
	var bare int64
	paged := false
	for d.PeekKind() != '}' {
		raw, err := d.Name()
		if err != nil {
			return "", 0, err
		}
		name, kind := string(raw), d.PeekKind()
		paged = paged || pageWords[name]
		switch {
		case kind == '0' && (totalNames[name] || name == "total"):
			value, err := d.ReadValue()
			if err != nil {
				return "", 0, err
			}
			switch n, err := strconv.ParseInt(string(value), 10, 64); {
			case err != nil: // What has a fraction counts nothing.
			case name == "total":
				bare = n
			default:
				sign, total = before+name, n
			}
		case kind == '{' && before == "" && moreHolders[name]:
			inner, n, err := totalIn(d, name+".")
			if err != nil {
				return "", 0, err
			}
			if inner != "" {
				sign, total = inner, n
			}
		default:
			if err := d.SkipValue(); err != nil {
				return "", 0, err
			}
		}
	}
	if sign == "" && paged && bare > 0 {
		sign, total = before+"total", bare
	}
	return sign, total, d.Bracket()
}

// elements is how many elements the text of an array has.
func elements(list []byte) (n int64) {
	d := &find.Skimmer{Data: list}
	if d.Bracket() != nil {
		return 0
	}
	for d.PeekKind() != ']' {
		if d.SkipValue() != nil {
			return 0
		}
		n++
	}
	return n
}

// signOfToken is the name of a token at the top of a document that nothing can be meant by
// but the next page: a cursor, or an offset that is a text, where nothing else says whether
// there is one. Some sources give a cursor for later on the last page, too, and say has_more.
func signOfToken(doc io.ReaderAt, size int64) (sign string) {
	d := find.OpenDocument(doc, size)
	if d.PeekKind() != '{' || d.Bracket() != nil {
		return ""
	}
	for d.PeekKind() != '}' {
		raw, err := d.Name()
		if err != nil {
			return ""
		}
		name, kind := string(raw), d.PeekKind()
		value, err := d.ReadValue()
		switch {
		case err != nil || moreNames[name]:
			return ""
		case kind == '"' && len(value) > len(`""`) && (name == "cursor" || name == "offset"):
			sign = name
		}
	}
	return sign
}
