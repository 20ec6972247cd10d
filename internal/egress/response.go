package egress

import (
	"bytes"
	"io"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/feedmill/feedmill"
)

// answerOf converts a response of net/http.
func answerOf(resp *http.Response) feedmill.HTTPAnswer {
	a := feedmill.HTTPAnswer{Status: resp.StatusCode, Body: resp.Body}
	for name, values := range resp.Header {
		for _, value := range values {
			a.Header = append(a.Header, [2]string{name, value})
		}
	}
	slices.SortStableFunc(a.Header, func(x, y [2]string) int { return strings.Compare(x[0], y[0]) })
	return a
}

// parseAnswer parses a response that is complete and has no unusual features, as nearly all
// responses are, and returns its length. For other responses it returns 0; net/http parses
// those.
func parseAnswer(b []byte) (a feedmill.HTTPAnswer, size int) {
	const end = "\r\n\r\n"
	length := bytes.Index(b, []byte(end))
	if length < 0 {
		return a, 0
	}
	line, fields, _ := strings.Cut(string(b[:length]), "\r\n")
	size = length + len(end)
	status, ok := parseStatusLine(line)
	if !ok {
		return a, 0
	}
	body := -1
	if status == http.StatusNoContent || status == http.StatusNotModified {
		body = 0
	}
	a = feedmill.HTTPAnswer{Status: status, Header: make([][2]string, 0, strings.Count(fields, "\r\n")+1), Body: http.NoBody}
	for fields != "" {
		line, fields, _ = strings.Cut(fields, "\r\n")
		name, value, ok := strings.Cut(line, ":")
		value = strings.Trim(value, " \t")
		if !ok || !httpguts.ValidHeaderFieldName(name) || !isPlain(value) {
			return a, 0
		}
		name = textproto.CanonicalMIMEHeaderKey(name)
		switch name {
		case "Connection", "Pragma", "Trailer", "Transfer-Encoding", "Upgrade":
			return a, 0
		case "Content-Length":
			n, err := strconv.ParseUint(value, 10, 31)
			if err != nil || body >= 0 {
				return a, 0
			}
			body = int(n)
		}
		a.Header = append(a.Header, [2]string{name, value})
	}
	if body < 0 || len(b)-size < body {
		return a, 0
	}
	if body > 0 {
		a.Body = io.NopCloser(bytes.NewReader(bytes.Clone(b[size : size+body])))
	}
	return a, size + body
}

// parseStatusLine returns the status of a first line without unusual features.
func parseStatusLine(line string) (status int, ok bool) {
	const version = "HTTP/1.1 "
	if len(line) < len(version)+3 || line[:len(version)] != version || !isPlain(line) {
		return 0, false
	}
	code, reason := line[len(version):len(version)+3], line[len(version)+3:]
	n, err := strconv.ParseUint(code, 10, 16)
	return int(n), err == nil && n >= 200 && (reason == "" || reason[0] == ' ')
}
