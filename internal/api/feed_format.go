package api

import (
	"cmp"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
)

// outputFormat is a form in which rows are answered.
type outputFormat struct {
	name        string
	contentType string
	// types are the media types by which it is asked for.
	types []string
	// extension is that of a file in the format, empty for what is no file.
	extension string
	// paged says that rows come in pages unless more are asked for.
	paged bool
}

// outputFormats has the formats, of which the first is for those who do not mind.
var outputFormats = []outputFormat{
	{name: "json", contentType: "application/json", types: []string{"application/json"}, paged: true},
	{name: "ndjson", contentType: "application/x-ndjson", types: []string{"application/x-ndjson", "application/ndjson", "application/jsonl"}},
	{name: "csv", contentType: "text/csv; charset=utf-8; header=present", types: []string{"text/csv"}, extension: ".csv"},
	{name: "parquet", contentType: "application/vnd.apache.parquet", types: []string{"application/vnd.apache.parquet"}, extension: ".parquet"},
	{name: "arrow", contentType: "application/vnd.apache.arrow.stream", types: []string{"application/vnd.apache.arrow.stream"}, extension: ".arrows"},
}

const outputNames = "json, ndjson, csv, parquet or arrow"

// outputFormat is the one that the parameter or else the Accept header asks for.
// Where the client takes none of them, the answer says so.
func (c *call) outputFormat() (outputFormat, *answer) {
	if name, given := c.query["format"]; given {
		for _, f := range outputFormats {
			if f.name == name {
				return f, nil
			}
		}
		detail := "This must be " + outputNames + "."
		if name == "xlsx" {
			detail = "xlsx cannot be written yet; there are " + outputNames + "."
		}
		c.fault(feedmill.Fault{Parameter: "format", Detail: detail})
		return outputFormats[0], nil
	}
	accept := strings.Join(c.r.Header.Values("Accept"), ",")
	if strings.TrimSpace(accept) == "" {
		return outputFormats[0], nil
	}
	for _, media := range acceptedTypes(accept) {
		for _, f := range outputFormats {
			if slices.ContainsFunc(f.types, func(t string) bool { return covers(media, t) }) {
				return f, nil
			}
		}
	}
	p := problem{
		Type: "/problems/not-acceptable", Title: "There is no answer in this form", Status: http.StatusNotAcceptable,
		Detail: "Accept one of application/json, application/x-ndjson, text/csv, application/vnd.apache.parquet and application/vnd.apache.arrow.stream, or name a format with the parameter format.",
		Errors: []problemFault{{Header: "Accept", Detail: "None of these can be answered."}}, Instance: c.r.URL.Path,
	}
	a := p.answer()
	a.set("Vary", "Accept")
	return outputFormats[0], &a
}

// acceptedTypes are the media types of an Accept header that are wanted, the
// best first.
func acceptedTypes(accept string) []string {
	type wanted struct {
		media   string
		quality float64
	}
	var all []wanted
	for part := range strings.SplitSeq(accept, ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		quality := 1.0
		if text, ok := params["q"]; ok {
			if quality, err = strconv.ParseFloat(text, 64); err != nil {
				continue
			}
		}
		if quality > 0 {
			all = append(all, wanted{media, quality})
		}
	}
	slices.SortStableFunc(all, func(a, b wanted) int { return cmp.Compare(b.quality, a.quality) })
	names := make([]string, len(all))
	for i, w := range all {
		names[i] = w.media
	}
	return names
}

// covers reports whether a media range takes a media type.
func covers(wanted, media string) bool {
	if wanted == "*/*" || wanted == media {
		return true
	}
	prefix, ok := strings.CutSuffix(wanted, "*")
	return ok && strings.HasSuffix(prefix, "/") && strings.HasPrefix(media, prefix)
}
