package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/feedmill/feedmill/internal/decode"
)

// The command line knows the formats that the server reads, and their files.
func TestUploadFormats(t *testing.T) {
	readable := decode.Formats().Readable()
	if !slices.Equal(uploadFormats, readable.Names()) {
		t.Errorf("the server reads %q, the command line knows %q", readable.Names(), uploadFormats)
	}
	extensions := make(map[string]string)
	for _, format := range readable {
		for _, extension := range format.Extensions {
			extensions[extension] = format.Name
		}
	}
	if !maps.Equal(formatOf, extensions) {
		t.Errorf("the server tells files by %v, the command line by %v", extensions, formatOf)
	}
}
