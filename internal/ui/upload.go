package ui

import (
	"errors"
	"io"
	"math"
	"mime/multipart"
	"net/http"
	"path"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// uploadPage is where a file becomes a feed, or the next version of one.
type uploadPage struct {
	// Feed is the one that gets new data; nil for a new feed.
	Feed  *client.DataFeed
	Error string
}

func showNewFeed(v *visit) error { return v.render(http.StatusOK, "new", "New feed", nil) }

func showUpload(v *visit) error {
	return v.render(http.StatusOK, "upload", "Upload a file", uploadPage{})
}

func showUploadAgain(v *visit) error {
	f, err := v.api.DataFeed(v.r.Context(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, "upload", "Upload again", uploadPage{Feed: &f})
}

// receiveUpload makes a feed of a file that a form sends. The file goes through as
// it comes.
func receiveUpload(v *visit) error {
	u, err := readUpload(v)
	if err == nil {
		var f client.DataFeed
		if f, err = v.api.CreateDataFeed(v.r.Context(), u); err == nil {
			return v.redirect(feedPagePath(f.ID) + "?did=made")
		}
	}
	if detail, ok := refused(err); ok {
		return v.render(http.StatusUnprocessableEntity, "upload", "Upload a file", uploadPage{Error: detail})
	}
	return err
}

// receiveUploadAgain gives a feed new data.
func receiveUploadAgain(v *visit) error {
	id := v.r.PathValue("id")
	f, err := v.api.DataFeed(v.r.Context(), id)
	if err != nil {
		return err
	}
	u, err := readUpload(v)
	if err == nil {
		if _, err = v.api.ReplaceData(v.r.Context(), id, u); err == nil {
			return v.redirect(feedPagePath(id) + "?did=uploaded")
		}
	}
	if detail, ok := refused(err); ok {
		return v.render(http.StatusUnprocessableEntity, "upload", "Upload again", uploadPage{Feed: &f, Error: detail})
	}
	return err
}

// errNoFile says that the form has no file.
var errNoFile = &client.Problem{Status: http.StatusBadRequest, Detail: "Choose a file first."}

// readUpload reads a form up to its file, which is its last field.
func readUpload(v *visit) (client.Upload, error) {
	var u client.Upload
	if err := v.wantForm(uploadedType, math.MaxInt64); err != nil {
		return u, err
	}
	body := &uploadBody{ReadCloser: v.r.Body, left: uploadFields}
	v.r.Body, v.over.uploads = body, true
	v.readWithin(formTime)
	parts, err := v.r.MultipartReader()
	if err != nil {
		return u, errNoFile
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return u, errNoFile
		}
		if err != nil {
			return u, err
		}
		if part.FormName() == "file" {
			body.file = true
			return withFile(u, part)
		}
		text, err := io.ReadAll(io.LimitReader(part, 4096))
		if err != nil {
			return u, err
		}
		switch value := strings.TrimSpace(string(text)); part.FormName() {
		case "once":
			v.over.once = value
		case "name":
			u.Name = value
		case "mode":
			u.Mode = feedmill.FeedMode(value)
		case "key":
			for name := range strings.SplitSeq(value, ",") {
				if name = strings.TrimSpace(name); name != "" {
					u.Key = append(u.Key, name)
				}
			}
		}
	}
}

func withFile(u client.Upload, part *multipart.Part) (client.Upload, error) {
	if part.FileName() == "" {
		return u, errNoFile
	}
	u.Data, u.FileName = part, part.FileName()
	u.Format = formatOf(part.FileName())
	return u, nil
}

// formatOf is the format that the name of a file says; csv where it says none. What
// is packed is unpacked by its content.
func formatOf(name string) string {
	name = strings.ToLower(name)
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	ext := strings.TrimPrefix(path.Ext(name), ".")
	switch ext {
	case "zip":
		return ""
	case "jsonl":
		return "ndjson"
	case "tab":
		return "tsv"
	case "tsv", "xlsx", "xlsm", "xlsb", "xls", "ods", "json", "ndjson", "xml", "parquet", "arrow":
		return ext
	}
	return "csv"
}
