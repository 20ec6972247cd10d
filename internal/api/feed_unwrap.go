package api

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// wrapperTypes are what files are sent as that are around data.
var wrapperTypes = []string{"application/zip", "application/gzip", "application/zstd", "application/x-zip-compressed", "application/x-gzip", "application/x-zstd"}

func isWrapper(mediaType string) bool { return slices.Contains(wrapperTypes, mediaType) }

// rememberedEntry is the file of a zip archive that earlier data of a feed was in.
func rememberedEntry(f feedmill.Feed) string {
	var spec struct{ Entry string }
	_ = json.Unmarshal(f.Spec, &spec) // where there is none
	return spec.Entry
}

// unwrap hands do the data that is in the file of an upload, once its format is known. Guess says that the
// request did not say what it is.
func (s *Server) unwrap(c *call, u feedmill.Upload, fileName string, guess bool, do func(context.Context, feedmill.Upload) (answer, error)) (answer, error) {
	asked, given := c.query["entry"]
	if given {
		u.Entry = asked
	}
	data, err := s.Feeds.Unwrap(c.ctx(), u.Body, fileName, u.Entry, s.MaxUpload)
	if err != nil {
		return answer{}, inSentences(dataError(err))
	}
	defer data.Close()
	u.Body = data
	if data.Wrapper != "zip" {
		u.Entry = ""
		if given {
			c.fault(feedmill.Fault{Parameter: "entry", Detail: "entry applies only to ZIP archives, and the data is not a ZIP archive."})
		}
	}
	if guess && (data.Wrapper != "" || u.Format == "") {
		if err := s.uploads.guess(&u, data); err != nil {
			return answer{}, c.withFault(err)
		}
	}
	s.uploads.checkParameters(c, u.Format)
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	a, err := do(c.ctx(), u)
	return a, inSentences(err)
}

// guess finds the format of data that was in a file: by how the name of the data ends, else by how
// it begins.
func (f *uploadFormats) guess(u *feedmill.Upload, data feedmill.Unwrapped) error {
	if format, ok := f.known.OfExtension(path.Ext(data.Name)); ok {
		u.Format = format.Name
		return nil
	}
	if u.Format != "" {
		return nil
	}
	if u.Format = data.Format; u.Format == "" {
		return feedmill.Invalid("Specify the format of the data.", feedmill.Fault{
			Parameter: "format", Detail: "The format could not be detected from the file's name or content. Set format to " + f.names + ".",
		})
	}
	return nil
}

// isArchiveName reports whether the name of a file says that there is another one in it.
func isArchiveName(name string) bool {
	return slices.Contains([]string{".zip", ".gz", ".gzip", ".zst", ".zstd"}, strings.ToLower(path.Ext(name)))
}
