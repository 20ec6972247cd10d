package fetch

import (
	"bytes"
	"encoding/xml"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/feedmill/feedmill/internal/source/rest/find"
)

// A name means the next page if it has one of nextWords and one of pagingWords, such as
// nextPageToken and X-Next-Cursor, or one of tokenWords, such as x-ms-continuation and
// resumptionToken.
var (
	nextWords   = nameSet("next")
	pagingWords = nameSet("page", "pages", "url", "uri", "link", "href", "cursor", "token", "marker", "offset", "start", "records", "results", "range", "batch", "after", "position", "continuation")
	tokenWords  = nameSet("continuation", "resumption")
	// otherWords make another thing of such a name: when the next page may be asked for.
	otherWords = nameSet("date", "time", "at", "expires", "reset", "in")
)

// namesNext reports whether a header or a member names a next page.
func namesNext(name string) bool {
	if moreNames[name] {
		return true
	}
	words := wordsOf(name)
	has := func(set map[string]bool) bool {
		return slices.ContainsFunc(words, func(word string) bool { return set[word] })
	}
	return !has(otherWords) && (has(tokenWords) || has(nextWords) && has(pagingWords))
}

// wordsOf splits a name at its capitals, digits and punctuation.
func wordsOf(name string) (words []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	previous := rune(0)
	for _, r := range name {
		if !unicode.IsLetter(r) || unicode.IsUpper(r) && unicode.IsLower(previous) {
			end()
		}
		if unicode.IsLetter(r) {
			word = append(word, r)
		}
		previous = r
	}
	end()
	return words
}

// signInHeader is the header by which a response says that there are more pages, empty
// where none does.
func signInHeader(status int, h http.Header) string {
	if nextLink(h.Values("Link")) != "" {
		return "the header Link"
	}
	if partial(status, h.Get("Content-Range")) {
		if h.Get("Content-Range") == "" {
			return "the status 206"
		}
		return "the header Content-Range"
	}
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if name == "Link" || !namesNext(name) {
			continue
		}
		text := strings.TrimSpace(h.Get(name))
		switch strings.ToLower(text) {
		case "", "0", "false", "null", "none", "-1":
			continue
		}
		return "the header " + name
	}
	return ""
}

// partial reports whether a response is a part of what there is, by its status and its
// Content-Range, such as "items 0-24/100".
func partial(status int, contentRange string) bool {
	_, span, ok := strings.Cut(contentRange, " ")
	if !ok {
		span = contentRange
	}
	span, total, _ := strings.Cut(span, "/")
	first, last, ok := strings.Cut(span, "-")
	from, errFrom := strconv.ParseInt(strings.TrimSpace(first), 10, 64)
	to, errTo := strconv.ParseInt(strings.TrimSpace(last), 10, 64)
	all, errAll := strconv.ParseInt(strings.TrimSpace(total), 10, 64)
	if ok && errFrom == nil && errTo == nil && errAll == nil {
		return from > 0 || to+1 < all
	}
	return status == http.StatusPartialContent
}

// maxXMLSigns is how deep an element may be that says something of the pages.
const maxXMLSigns = 4

// signInXML is what an XML document says by that there are more pages: a link with
// rel="next", or an element such as resumptionToken. What is in a record says nothing, and
// a document that is not well-formed is refused by whoever reads the records.
func signInXML(doc io.ReaderAt, size int64) (sign string) {
	if !mentionsNext(doc, size) {
		return ""
	}
	_ = walkXML(doc, size, maxXMLSigns, func(path []string, element xml.StartElement, text string) bool {
		name := element.Name.Local
		switch {
		case slices.ContainsFunc(path[:len(path)-1], func(name string) bool { return xmlRecords[name] }):
		case name == "link" && hasNextLink(element):
			sign = `<link rel="next">`
		case namesNext(name) && says(text):
			sign = "<" + name + ">"
		}
		return sign == ""
	})
	return sign
}

// xmlRecords are elements that are records in common formats.
var xmlRecords = nameSet("entry", "item", "record", "row", "url")

// mentionsNext reports whether a document has a word that a next page is named by.
func mentionsNext(doc io.ReaderAt, size int64) bool {
	words := []string{"next", "continuation", "resumption", "truncated", "hasmore", "has_more", "has-more"}
	data := make([]byte, size)
	n, _ := doc.ReadAt(data, 0)
	data = bytes.ToLower(data[:n])
	return slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(data, []byte(word)) })
}

func hasNextLink(element xml.StartElement) bool {
	next, to := false, false
	for _, a := range element.Attr {
		next = next || a.Name.Local == "rel" && slices.ContainsFunc(strings.Fields(a.Value), func(rel string) bool { return strings.EqualFold(rel, "next") })
		to = to || a.Name.Local == "href" && a.Value != ""
	}
	return next && to
}

// says reports whether the text of an element means yes.
func says(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "", "0", "false", "no", "n", "null":
		return false
	}
	return true
}

// walkXML calls fn at the end of every element that is at most so deep, with the names of the
// elements to it and its own text, until it returns false.
func walkXML(doc io.ReaderAt, size int64, deepest int, fn func(path []string, element xml.StartElement, text string) bool) error {
	d := xml.NewDecoder(io.NewSectionReader(doc, 0, size))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // pages are in UTF-8
	d.Strict = false
	var path []string
	var open []xml.StartElement
	var texts []strings.Builder
	for {
		token, err := d.RawToken()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if len(path) == deepest {
				if err := skipXML(d); err != nil {
					return err
				}
				continue
			}
			path, open, texts = append(path, token.Name.Local), append(open, token.Copy()), append(texts, strings.Builder{})
		case xml.CharData:
			if last := len(texts) - 1; last >= 0 && texts[last].Len() < find.MaxToken {
				texts[last].Write(token)
			}
		case xml.EndElement:
			last := len(path) - 1
			if last < 0 {
				return io.ErrUnexpectedEOF
			}
			if !fn(path, open[last], strings.TrimSpace(texts[last].String())) {
				return nil
			}
			path, open, texts = path[:last], open[:last], texts[:last]
		}
	}
}

// skipXML passes over the rest of an element.
func skipXML(d *xml.Decoder) error {
	for depth := 1; depth > 0; {
		token, err := d.RawToken()
		if err != nil {
			return err
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	return nil
}
