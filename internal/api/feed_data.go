package api

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

const (
	// defaultRows is how many rows a page of JSON has; a file has all.
	defaultRows = 1000
	// chunkTimeout is how long a client may take to fetch a part of the rows.
	chunkTimeout = 30 * time.Second
	chunkBytes   = 64 << 10
)

// readFeedData answers the rows of a feed, as its query parameters ask for them.
func (s *Server) readFeedData(c *call) (answer, error) {
	number := c.versionNumber("version")
	return s.answerRows(c, func() (feedmill.Feed, feedmill.FeedVersion, error) { return s.feedVersion(c, number) })
}

// answerRows answers the rows of a version that is found once the parameters are right.
func (s *Server) answerRows(c *call, find func() (feedmill.Feed, feedmill.FeedVersion, error)) (answer, error) {
	q := c.readQueryParameters()
	format, refusal := c.outputFormat()
	counted := c.boolParameter("count")
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	if refusal != nil {
		return *refusal, nil
	}
	if _, given := c.query["limit"]; !given && format.paged {
		q.Limit = defaultRows
	}
	f, v, err := find()
	if err != nil {
		return answer{}, err
	}
	if err := s.Feeds.CheckQuery(c.ctx(), v, q, format.name, c.query["cursor"]); err != nil {
		return answer{}, inSentences(err)
	}
	a := answer{status: http.StatusOK, contentType: format.contentType}
	coding := c.coding(format)
	etag := c.rowsTag(v, format, q)
	a.set("ETag", etag)
	a.set("Vary", "Accept")
	a.set("Cache-Control", "private, no-cache")
	if matchesTag(c.r.Header.Values("If-None-Match"), etag) {
		a.status, a.contentType = http.StatusNotModified, ""
		return a, nil
	}
	if format.extension != "" {
		a.set("Content-Disposition", attachment(f.Name, format.extension))
	}
	if counted {
		total, err := s.Feeds.CountRows(c.ctx(), v, q)
		if err != nil {
			return answer{}, inSentences(err)
		}
		a.set("X-Total-Count", strconv.FormatInt(total, 10))
	}
	if c.wholeFile(v, q, format) {
		a.set("Accept-Ranges", "bytes")
		file, err := s.Feeds.ParquetFile(c.ctx(), c.who.Workspace, v, q, strings.Trim(etag, `"`), c.wantsParts())
		if err != nil {
			return answer{}, inSentences(err)
		}
		if file != nil {
			return c.answerFile(a, file, etag)
		}
	}
	a.coded(coding)
	if c.r.Method == http.MethodHead {
		if err := s.Feeds.CheckFiles(c.ctx(), v); err != nil {
			return answer{}, err
		}
		// Rows that are streamed have no length, which is not a length of 0.
		a.stream = func(context.Context, http.ResponseWriter) {}
		return a, nil
	}
	return s.sendRows(c, a, v, q, format, coding)
}

// sendRows begins to read, and answers with the rows as they come.
func (s *Server) sendRows(c *call, a answer, v feedmill.FeedVersion, q feedmill.Query, format outputFormat, coding string) (answer, error) {
	rows, err := s.Feeds.Rows(c.ctx(), v, q, format.name, c.query["cursor"])
	if err != nil {
		return answer{}, inSentences(err)
	}
	if rows.Next != "" {
		next := c.r.URL.Query()
		next.Set("cursor", rows.Next)
		next.Del("offset")
		if v.Since == nil {
			next.Set("version", strconv.FormatInt(v.Number, 10))
		} else {
			next.Set("to", strconv.FormatInt(v.Number, 10))
		}
		a.set("Link", fmt.Sprintf("<%s?%s>; rel=\"next\"", c.r.URL.EscapedPath(), next.Encode()))
	}
	a.stream = func(_ context.Context, w http.ResponseWriter) { s.streamRows(c, rows, w, coding) }
	return a, nil
}

// streamRows sends rows as they come. Where they break off so does the
// connection, so that nobody takes the part for the whole.
func (s *Server) streamRows(c *call, rows feedmill.FeedRows, w http.ResponseWriter, coding string) {
	defer rows.Close()
	c.begun()
	control := http.NewResponseController(w)
	out := compress(deadlined{w, func() {
		control.SetWriteDeadline(time.Now().Add(chunkTimeout)) // a recorder in a test has none
	}}, coding)
	buf := make([]byte, chunkBytes)
	for {
		n, err := rows.Read(buf)
		if n > 0 {
			if _, err := out.Write(buf[:n]); err != nil {
				return // the client went away
			}
		}
		if err == io.EOF { // and not an error that wraps it
			_ = out.Close() // where that fails the client went away
			return
		}
		if err != nil {
			if c.r.Context().Err() == nil {
				s.Log.LogAttrs(c.ctx(), slog.LevelError, "reading a feed failed", slog.String("requestId", c.requestID), slog.String("error", err.Error()))
			}
			panic(http.ErrAbortHandler)
		}
	}
}

// versionNumber reads which version a parameter asks for; 0 where it does not.
func (c *call) versionNumber(parameter string) int64 {
	text, given := c.query[parameter]
	if !given {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		c.fault(feedmill.Fault{Parameter: parameter, Detail: parameter + " must be a version number of at least 1."})
	}
	return n
}

// feedVersion finds the feed that the path names, and a version of it.
func (s *Server) feedVersion(c *call, number int64) (feedmill.Feed, feedmill.FeedVersion, error) {
	f, err := s.feed(c)
	if err != nil {
		return f, feedmill.FeedVersion{}, err
	}
	v, err := s.versionOf(c, f, number)
	return f, v, err
}

// versionOf finds a version of a feed; 0 is the current one.
func (s *Server) versionOf(c *call, f feedmill.Feed, number int64) (feedmill.FeedVersion, error) {
	if number == 0 {
		number = f.Version
	}
	if number == 0 {
		return feedmill.FeedVersion{}, &feedmill.Error{Kind: feedmill.ErrNotFound, Type: "no-data", Detail: "The feed has no data yet."}
	}
	v, err := s.Store.FeedVersion(c.ctx(), c.who.Workspace, f.ID, number)
	if errors.Is(err, feedmill.ErrNotFound) || err == nil && !v.Kept(now()) {
		err = noVersion()
	}
	return v, err
}

// parquetLayout changes with the bytes of Parquet files, so that nobody joins parts of files
// that two releases wrote from the same rows, and files of an earlier release are not served.
const parquetLayout = 2

// rowsTag is the same for the same bytes: it is of the version and what its
// columns are called, the format and all that was asked for, and for a query that depends on
// the time of the minute. It is the same in every
// content coding: parts of rows that are coded are not to be had, so nobody can put
// together what does not belong together.
func (c *call) rowsTag(v feedmill.FeedVersion, format outputFormat, q feedmill.Query) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d %s %s %d", v.Feed, v.Number, v.ContentHash, format.name, q.Limit)
	for i := range v.Columns {
		c := &v.Columns[i]
		fmt.Fprintf(h, " %q %s %t %d", c.Name, c.Type, c.Hidden, c.Position)
	}
	if old := v.Since; old != nil {
		fmt.Fprintf(h, " since %d %s", old.Number, old.ContentHash)
		for i := range old.Columns {
			fmt.Fprintf(h, " %q", old.Columns[i].Name)
		}
	}
	if format.name == "parquet" {
		// The bytes of a file depend on how the rows lie, and on the release that wrote it.
		fmt.Fprintf(h, " %d %q", parquetLayout, v.FileNames())
	}
	if q.Relative() {
		fmt.Fprintf(h, " %d", now().Unix()/60)
	}
	for _, name := range []string{"fields", "sort", "cursor", "offset", "count"} {
		fmt.Fprintf(h, " %q", c.query[name])
	}
	for _, filter := range c.repeated["filter"] {
		fmt.Fprintf(h, " %q", filter)
	}
	return `"` + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:18]) + `"`
}

// matchesTag reports whether the client has what the tag stands for
// (RFC 9110, section 13.1.2).
func matchesTag(given []string, etag string) bool {
	for tag := range strings.SplitSeq(strings.Join(given, ","), ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}

// dataExtensions are how the names of files with data end. A feed is often
// called what its file was.
var dataExtensions = []string{
	".csv", ".tsv", ".tab", ".txt", ".json", ".ndjson", ".jsonl", ".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".xml", ".parquet", ".arrow", ".arrows",
}

// attachment names the file that an answer is saved as: the feed's name, with
// the extension in place of that of other data, and no folder.
func attachment(name, extension string) string {
	if ext := path.Ext(name); len(ext) < len(name) && slices.Contains(dataExtensions, strings.ToLower(ext)) {
		name = strings.TrimSuffix(name, ext)
	}
	name = strings.NewReplacer("/", "-", "\\", "-").Replace(name)
	if text := mime.FormatMediaType("attachment", map[string]string{"filename": name + extension}); text != "" {
		return text
	}
	return `attachment; filename*=utf-8''` + url.PathEscape(name+extension)
}
