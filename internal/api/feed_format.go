package api

import (
	"cmp"
	"fmt"
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
	// text says that the rows are text, which is sent compressed to who takes that.
	text bool
}

// outputFormats has the formats, of which the first is for those who do not mind.
var outputFormats = []outputFormat{
	{name: "json", contentType: "application/json", types: []string{"application/json"}, paged: true, text: true},
	{name: "ndjson", contentType: "application/x-ndjson", types: []string{"application/x-ndjson", "application/ndjson", "application/jsonl"}, text: true},
	{name: "csv", contentType: "text/csv; charset=utf-8; header=present", types: []string{"text/csv"}, extension: ".csv", text: true},
	{name: "xlsx", contentType: workbookType, types: []string{workbookType}, extension: ".xlsx"},
	{name: "parquet", contentType: "application/vnd.apache.parquet", types: []string{"application/vnd.apache.parquet"}, extension: ".parquet"},
	{name: "arrow", contentType: "application/vnd.apache.arrow.stream", types: []string{"application/vnd.apache.arrow.stream"}, extension: ".arrows"},
}

const (
	outputNames  = "json, ndjson, csv, xlsx, parquet or arrow"
	workbookType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
)

// excelCSV is CSV that a spreadsheet opens: it begins with a mark by which the
// encoding is known, and no text in it is taken for a formula.
const excelCSV = "csv-excel"

// outputFormat is the one that the parameters or else the Accept header ask for.
// Where the client takes none of them, the answer says so.
func (c *call) outputFormat() (outputFormat, *answer) {
	f, refusal := c.namedFormat()
	c.checkStyles()
	if c.query["csv"] == "excel" {
		if c.query["format"] == "" || f.name == "csv" {
			f = outputFormats[slices.IndexFunc(outputFormats, func(f outputFormat) bool { return f.name == "csv" })]
			f.name, refusal = excelCSV, nil
		} else {
			c.fault(feedmill.Fault{Parameter: "csv", Detail: "csv applies only to format=csv."})
		}
	}
	if c.query["numbers"] == "text" {
		if f.name != "json" && f.name != "ndjson" {
			c.fault(feedmill.Fault{Parameter: "numbers", Detail: "numbers applies only to JSON and NDJSON. Set format=json or format=ndjson, or omit numbers."})
		} else if refusal == nil {
			f.name += textSuffix
		}
	}
	return f, refusal
}

// textSuffix follows the name of a format with integers and decimals as strings.
const textSuffix = "-text"

// checkStyles checks the parameters csv and numbers by themselves, for any format.
func (c *call) checkStyles() {
	if text, given := c.query["csv"]; given && text != "exact" && text != "excel" {
		c.fault(feedmill.Fault{Parameter: "csv", Detail: "csv must be exact or excel."})
	}
	if text, given := c.query["numbers"]; given && text != "text" {
		c.fault(feedmill.Fault{Parameter: "numbers", Detail: fmt.Sprintf("numbers must be text; got %.20q. Omit it to get JSON numbers.", text)})
	}
}

func (c *call) namedFormat() (outputFormat, *answer) {
	if name, given := c.query["format"]; given {
		for _, f := range outputFormats {
			if f.name == name {
				return f, nil
			}
		}
		c.fault(feedmill.Fault{Parameter: "format", Detail: "format must be " + outputNames + "."})
		return outputFormats[0], nil
	}
	accept := strings.Join(c.r.Header.Values("Accept"), ",")
	if strings.TrimSpace(accept) == "" {
		return outputFormats[0], nil
	}
	if f, ok := acceptedFormat(accept); ok {
		return f, nil
	}
	p := problem{
		Type: "/problems/not-acceptable", Title: "The response format is not supported", Status: http.StatusNotAcceptable,
		Detail: "Accept one of application/json, application/x-ndjson, text/csv, " + workbookType + ", application/vnd.apache.parquet and application/vnd.apache.arrow.stream, or set the format parameter.",
		Errors: []problemFault{{Header: "Accept", Detail: "Accept does not list a supported format."}}, Instance: instance(c.r),
	}
	a := p.answer()
	a.set("Vary", "Accept")
	return outputFormats[0], &a
}

// acceptedFormat is the format that an Accept header wants most, and of those that
// it wants alike the one that it names first.
func acceptedFormat(accept string) (best outputFormat, ok bool) {
	ranges := mediaRanges(accept)
	quality, place := 0.0, 0
	for _, f := range outputFormats {
		if q, at := f.wanted(ranges); q > quality || q > 0 && q == quality && at < place {
			best, quality, place = f, q, at
		}
	}
	return best, quality > 0
}

// wanted is how much a format is wanted, and the place of the media range that
// says so: of those that take it, the one that names it most closely (RFC 9110,
// section 12.5.1).
func (f *outputFormat) wanted(ranges []mediaRange) (quality float64, place int) {
	closest := -1
	for i, r := range ranges {
		if !slices.ContainsFunc(f.types, func(t string) bool { return covers(r.media, t) }) {
			continue
		}
		closeness := 2 - strings.Count(r.media, "*")
		if closeness > closest || closeness == closest && r.quality > quality {
			closest, quality, place = closeness, r.quality, i
		}
	}
	return quality, place
}

// mediaRange is a media type of an Accept header, or several of them.
type mediaRange struct {
	media   string
	quality float64
}

// mediaRanges are those of an Accept header, in its order. What is no media
// range is left out.
func mediaRanges(accept string) (all []mediaRange) {
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
		all = append(all, mediaRange{media, quality})
	}
	return all
}

// acceptedTypes are the media types of an Accept header that are wanted, the
// best first.
func acceptedTypes(accept string) []string {
	all := slices.DeleteFunc(mediaRanges(accept), func(r mediaRange) bool { return !(r.quality > 0) })
	slices.SortStableFunc(all, func(a, b mediaRange) int { return cmp.Compare(b.quality, a.quality) })
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = r.media
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
