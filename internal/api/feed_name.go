package api

import (
	"mime"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// defaultFeedName is what an upload is called that has no name of its own.
const defaultFeedName = "Uploaded data"

// checkNameParameter notes a name that is none.
func (c *call) checkNameParameter() {
	if name, ok := c.query["name"]; ok {
		if detail := wrongName(name); detail != "" {
			c.fault(feedmill.Fault{Parameter: "name", Detail: detail})
		}
	}
}

// uploadName is what an upload is called: what the parameter says, else the name
// of its file, else [defaultFeedName].
func uploadName(c *call, disposition string) string {
	if name, ok := c.query["name"]; ok {
		return name
	}
	name := fileName(disposition)
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if strictjson.IsControl(r) {
			return -1
		}
		return r
	}, name))
	if utf8.RuneCountInString(name) > feedmill.MaxNameLen {
		name = string([]rune(name)[:feedmill.MaxNameLen])
	}
	if name == "" {
		return defaultFeedName
	}
	return name
}

// wrongName says what is wrong with the name of a resource; nothing is the empty answer.
func wrongName(name string) string {
	return strictjson.WrongName(name, feedmill.MaxNameLen)
}

// fileName is the last part of the path that a Content-Disposition header
// names (RFC 6266), whatever separates the parts. A header that cannot be read
// names nothing.
func fileName(disposition string) string {
	_, params, err := mime.ParseMediaType(disposition)
	if err != nil {
		return ""
	}
	name := params["filename"]
	if latin, ok := latinFileName(disposition); ok {
		name = latin
	}
	name = valid(name)
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	if name == "." || name == ".." {
		return ""
	}
	return name
}

// latinFileName reads a filename* in ISO-8859-1, which mime does not know.
func latinFileName(disposition string) (string, bool) {
	const begin = "filename*=iso-8859-1'"
	at := strings.Index(strings.ToLower(disposition), begin)
	if at < 0 {
		return "", false
	}
	_, text, ok := strings.Cut(disposition[at+len(begin):], "'")
	if !ok {
		return "", false
	}
	text, _, _ = strings.Cut(text, ";")
	raw, err := url.PathUnescape(strings.TrimSpace(text))
	if err != nil {
		return "", false
	}
	runes := make([]rune, len(raw))
	for i := range len(raw) {
		runes[i] = rune(raw[i])
	}
	return string(runes), true
}
