package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// Upload is data that is to become a table.
type Upload struct {
	// Data is read to its end. Where it can seek, as a file can, it is sent
	// again from where it was if the connection breaks.
	Data io.Reader
	// Format is csv, tsv, json, ndjson, xlsx, xlsm, xlsb, xls, ods, xml, parquet or arrow. It may be empty
	// where Data is a zip archive: the names of the files in it say it.
	Format string
	// Entry names the file of a zip archive that is meant, where it has several.
	Entry string
	// Name is what the feed is called; FileName counts where it is empty.
	Name, FileName string
	// Path leads to the records, with a JSONPath in JSON and names such as
	// /feed/entry in XML, or to a part of a sheet such as B3:H200; Explode is the
	// path below a record to elements that become rows.
	Path, Explode string
	// Sheet is the number of a worksheet, from 1; 0 is the first.
	Sheet int
	// Text leaves every column text, exactly as it stands in the data.
	Text bool
	// ReadingOptions say how the data is written, where what the server finds
	// is not what was meant.
	feedmill.ReadingOptions
	// Mode says what becomes of the rows that are there; empty leaves it to the
	// feed, which replaces them unless it was made to do otherwise. Key names the
	// columns that rows are merged by.
	Mode feedmill.FeedMode
	Key  []string
	// Columns are changes to the columns that are found, by their SourceName.
	Columns []ColumnChange
	// Preview is the id of a handle, in place of Data: what was previewed is not sent
	// again. All other fields count as if it were.
	Preview string
	// ContentEncoding says how Data is compressed: gzip or zstd.
	ContentEncoding string
}

// PreviewHandle stands for the data of a preview until it expires.
type PreviewHandle struct {
	ID        string    `json:"id"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// DataPreview is what would become of data.
type DataPreview struct {
	Columns  []feedmill.Column  `json:"columns"`
	RowCount int64              `json:"rowCount"`
	Warnings []feedmill.Warning `json:"warnings"`
	// Source says how the data is read, with what was found in "reading".
	Source json.RawMessage `json:"source"`
	// Rows are the first 100, an object each.
	Rows []json.RawMessage `json:"rows"`
	// Trace is what was asked for, of data that was fetched.
	Trace []TracedRequest `json:"trace"`
	// Candidates are where the records of a document may be, the place that was taken first.
	Candidates []feedmill.RecordCandidate `json:"candidates"`
	// Handle stands for data that was sent, as the Preview of an Upload; nil where it is
	// not held.
	Handle *PreviewHandle `json:"handle"`
	// Complete says that all of the data was read.
	Complete bool `json:"complete"`
	// Compare is what is different from the feed of [Comparing]; nil without it.
	Compare *PreviewComparison `json:"compare"`
}

// PreviewComparison is what is different in a preview from the current version of a feed.
type PreviewComparison struct {
	Version int64 `json:"version"`
	// Inserted, Updated and Deleted are nil where the rows were not all compared.
	Inserted *int64 `json:"inserted"`
	Updated  *int64 `json:"updated"`
	Deleted  *int64 `json:"deleted"`
	Columns  struct {
		Added   []string `json:"added"`
		Removed []string `json:"removed"`
		Changed []string `json:"changed"`
	} `json:"columns"`
}

// Comparing has a preview take what its definition leaves out, and its secrets, from a feed,
// and compare with it.
func Comparing(feed string) CallOption { return parameter("compare=" + url.QueryEscape(feed)) }

// CreateDataFeed makes a feed of data.
func (c *Client) CreateDataFeed(ctx context.Context, u Upload, opts ...CallOption) (DataFeed, error) {
	var out one[DataFeed]
	err := c.upload(ctx, http.MethodPost, "/data_feeds", url.Values{"type": {string(feedmill.FeedUpload)}}, u, &out, opts...)
	return out.Data, err
}

// PreviewDataFeed says what would become of data. Nothing is kept of it. Mode
// and Key do not count.
func (c *Client) PreviewDataFeed(ctx context.Context, u Upload, opts ...CallOption) (DataPreview, error) {
	var out one[DataPreview]
	u.Mode, u.Key = "", nil
	err := c.upload(ctx, http.MethodPost, "/data_feeds/preview", url.Values{"type": {string(feedmill.FeedUpload)}}, u, &out, opts...)
	return out.Data, err
}

// ReplaceData gives a feed new data, in place of what it has unless Mode or the
// feed says otherwise. Name and FileName do not count. With [AcceptUnexpected] it takes rows that
// are not what is expected of the feed.
func (c *Client) ReplaceData(ctx context.Context, feed string, u Upload, opts ...CallOption) (DataFeed, error) {
	var out one[DataFeed]
	u.Name, u.FileName = "", ""
	err := c.upload(ctx, http.MethodPut, feedPath(feed)+"/data", url.Values{}, u, &out, opts...)
	return out.Data, err
}

// upload sends data. It may take as long as it takes; the context ends it.
func (c *Client) upload(ctx context.Context, method, path string, query url.Values, u Upload, out any, opts ...CallOption) error {
	for name, value := range map[string]string{
		"format": u.Format, "name": u.Name, "path": u.Path, "explode": u.Explode, "entry": u.Entry, "mode": string(u.Mode), "preview": u.Preview, "key": columnList(u.Key),
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	for _, name := range feedmill.ReadingOptionNames {
		if value := *u.Option(name); value != "" {
			query.Set(name, value)
		}
	}
	if u.Text {
		query.Set("types", "text")
	}
	if u.Sheet > 0 {
		query.Set("sheet", strconv.Itoa(u.Sheet))
	}
	if len(u.Columns) > 0 {
		text, err := json.Marshal(u.Columns)
		if err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
		query.Set("columns", string(text))
	}
	r := request{method: method, path: path + "?" + query.Encode(), contentType: "application/octet-stream", once: rand.Text()}
	if u.Format == "" {
		r.contentType = "application/zip"
	}
	// What the server refuses by the header alone need not be sent at all.
	r.header = map[string]string{"Expect": "100-continue"}
	if u.FileName != "" {
		r.header["Content-Disposition"] = mime.FormatMediaType("attachment", map[string]string{"filename": u.FileName})
	}
	if u.ContentEncoding != "" {
		r.header["Content-Encoding"] = u.ContentEncoding
	}
	if u.Preview != "" {
		u.Data, r.contentType, r.header = strings.NewReader(""), "", nil
	}
	if err := r.sendFrom(u.Data); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	_, err := c.unhurried().exchange(ctx, r, out, opts...)
	return err
}

// columnList names columns as the API's parameters do, each in quotes, so that
// a name may be anything.
func columnList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return strings.Join(quoted, ",")
}

// sendFrom makes data the body of a request: again for every try where it can
// seek, and else for one.
func (r *request) sendFrom(data io.Reader) error {
	seeker, ok := data.(io.Seeker)
	if !ok {
		r.single, r.open = true, func() (io.Reader, error) { return data, nil }
		return nil
	}
	begin, err := seeker.Seek(0, io.SeekCurrent)
	if err != nil { // a pipe has the method and cannot
		r.single, r.open = true, func() (io.Reader, error) { return data, nil }
		return nil
	}
	end, err := seeker.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	r.size = end - begin
	r.open = func() (io.Reader, error) {
		_, err := seeker.Seek(begin, io.SeekStart)
		return data, err
	}
	_, err = seeker.Seek(begin, io.SeekStart)
	return err
}

// unhurried is the client without a limit on how long a request may take.
func (c *Client) unhurried() *Client {
	patient := *c
	patient.HTTP = &http.Client{Transport: c.HTTP.Transport, CheckRedirect: c.HTTP.CheckRedirect, Jar: c.HTTP.Jar}
	return &patient
}
