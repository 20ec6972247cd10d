package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
)

// listRejects answers the rows that a refresh did not store: a page of them or, for
// those who want lines, all.
func (s *Server) listRejects(c *call) (answer, error) {
	limit := c.pageLimit()
	from := c.rejectsCursor()
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	r, err := s.refresh(c)
	if err != nil {
		return answer{}, err
	}
	rows, err := s.Feeds.Rejects(c.ctx(), r)
	if err != nil {
		return answer{}, err
	}
	if strings.Contains(c.r.Header.Get("Accept"), "ndjson") {
		a := answer{status: http.StatusOK, contentType: "application/x-ndjson"}
		a.set("Vary", "Accept")
		a.stream = func(_ context.Context, w http.ResponseWriter) {
			s.streamRows(c, feedmill.FeedRows{ReadCloser: rows}, w, "")
		}
		if c.r.Method == http.MethodHead {
			return a, rows.Close()
		}
		return a, nil
	}
	defer rows.Close()
	if _, err := io.CopyN(io.Discard, rows, from); err != nil && !errors.Is(err, io.EOF) {
		return answer{}, err
	}
	return rejectsPage(c, bufio.NewReader(rows), from, limit)
}

// rejectsPage is a page of lines from a place on.
func rejectsPage(c *call, lines *bufio.Reader, from int64, limit int) (answer, error) {
	body := []byte{'['}
	for range limit {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			break
		}
		if err != nil {
			return answer{}, err
		}
		if from += int64(len(line)); len(body) > 1 {
			body = append(body, ',')
		}
		body = append(body, bytes.TrimSpace(line)...)
	}
	a := answer{status: http.StatusOK, contentType: "application/json", body: append(body, ']')}
	a.set("Vary", "Accept")
	if _, err := lines.Peek(1); err == nil {
		next := c.r.URL.Query()
		next.Set("cursor", base64.RawURLEncoding.EncodeToString(strconv.AppendInt(nil, from, 10)))
		a.set("Link", fmt.Sprintf("<%s?%s>; rel=\"next\"", c.r.URL.EscapedPath(), next.Encode()))
	}
	return a, nil
}

// rejectsCursor is where the page before ended.
func (c *call) rejectsCursor() int64 {
	text, given := c.query["cursor"]
	if !given {
		return 0
	}
	plain, err := base64.RawURLEncoding.DecodeString(text)
	n, bad := strconv.ParseInt(string(plain), 10, 64)
	if err != nil || bad != nil || n < 0 {
		c.fault(feedmill.Fault{Parameter: "cursor", Detail: "cursor is not valid. Use the cursor from the previous page's Link header."})
	}
	return n
}
