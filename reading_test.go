package feedmill

import (
	"slices"
	"testing"
)

func TestFormats(t *testing.T) {
	formats := Formats{
		{Name: "json", MediaTypes: []string{"application/json", "text/json"}, Suffix: "+json", Extensions: []string{".json"}, Parameters: []string{"path", "explode"}, Readable: true},
		{Name: "csv", MediaTypes: []string{"text/csv", "*+csv"}, Extensions: []string{".csv"}, Readable: true},
		{Name: "xml", MediaTypes: []string{"text/xml"}, Suffix: "+xml", Extensions: []string{".xml"}, Parameters: []string{"path"}},
	}
	for _, test := range []struct {
		name string
		find func(string) (Format, bool)
		by   string
		want string
	}{
		{"name", formats.Named, "csv", "csv"},
		{"name of one that is only known", formats.Named, "xml", "xml"},
		{"no name", formats.Named, "", ""},
		{"media type", formats.OfMediaType, "text/json", "json"},
		{"media type by its end", formats.OfMediaType, "application/x+csv", "csv"},
		{"media type by no end", formats.OfMediaType, "application/x+json", ""},
		{"media type of one that is only known", formats.OfMediaType, "text/xml", ""},
		{"suffix", formats.OfSuffix, "application/hal+json", "json"},
		{"suffix of one that is only known", formats.OfSuffix, "application/atom+xml", ""},
		{"no suffix", formats.OfSuffix, "text/csv", ""},
		{"extension", formats.OfExtension, ".JSON", "json"},
		{"extension of one that is only known", formats.OfExtension, ".xml", ""},
		{"no extension", formats.OfExtension, "", ""},
	} {
		if got, ok := test.find(test.by); got.Name != test.want || ok != (test.want != "") {
			t.Errorf("%s: %q is %q, %v", test.name, test.by, got.Name, ok)
		}
	}
	if got := formats.Readable().Names(); !slices.Equal(got, []string{"json", "csv"}) {
		t.Errorf("readable are %q", got)
	}
	if got := formats.Parameters(); !slices.Equal(got, []string{"path", "explode"}) {
		t.Errorf("parameters are %q", got)
	}
}
