package feedmill

import (
	"encoding/json"
	"reflect"
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

func TestFindingsSurviveTheirText(t *testing.T) {
	findings := Findings{
		Delimiter: Finding{";", ByFound}, Header: LineFinding{Finding{"3", BySet}}, Nulls: SetOr("NULL", Finding{"-", ByFound}),
		Decimal: Found(",", true), Dates: Found("dmy", false), Timezone: SetOr("", Finding{"UTC", ByAssumed}),
	}
	text, err := json.Marshal(findings)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"delimiter":{"value":";","by":"found"},"header":{"value":3,"by":"set"},"nulls":{"value":"NULL","by":"set"},` +
		`"decimal":{"value":",","by":"found"},"dates":{"value":"dmy","by":"assumed"},"timezone":{"value":"UTC","by":"assumed"}}`
	if string(text) != want {
		t.Errorf("%s, want\n%s", text, want)
	}
	var again Findings
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, findings) {
		t.Errorf("%+v, %v", again, err)
	}
	if findings.IsZero() || !(Findings{}).IsZero() || !findings.Quote.IsZero() || findings.Quote.Known() || !findings.Dates.Known() {
		t.Error("what is found and what is not is not told apart")
	}
	if got, want := findings.Set(), (ReadingOptions{Header: "3", Nulls: "NULL"}); got != want {
		t.Errorf("%+v was set, want %+v", got, want)
	}
	none := LineFinding{Finding{"none", ByFound}}
	if text, err := json.Marshal(none); err != nil || string(text) != `{"value":"none","by":"found"}` {
		t.Errorf("%s, %v", text, err)
	}
	for _, text := range []string{`{"delimiter":1}`, `{"delimiter":{"by":"set"}}`} {
		if err := json.Unmarshal([]byte(text), &again); err == nil {
			t.Errorf("%s is a finding", text)
		}
	}
}

func TestReadingOptions(t *testing.T) {
	var o ReadingOptions
	for _, name := range ReadingOptionNames {
		*o.Option(name) = name
	}
	if want := (ReadingOptions{"delimiter", "quote", "encoding", "header", "nulls", "decimal", "dates", "timezone", "footer", "table", "context"}); o != want {
		t.Errorf("%+v", o)
	}
	if o.Option("sheet") != nil {
		t.Error("there is an option that is none")
	}
}
