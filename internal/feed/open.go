package feed

import (
	"context"
	"errors"
	"io"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/model"
)

// uploadSpec is how the data is read, as the feed's record has it.
func uploadSpec(u feedmill.Upload) []byte {
	types := "auto"
	if u.Text {
		types = "text"
	}
	text, err := json.Marshal(struct {
		Format  string `json:"format"`
		Types   string `json:"types"`
		Path    string `json:"path,omitzero"`
		Explode string `json:"explode,omitzero"`
	}{u.Format, types, u.Path, u.Explode})
	if err != nil {
		panic(err) // parameters are valid UTF-8
	}
	return text
}

// table is data that can be read, and what must be closed after it.
type table struct {
	model.Table
	io.Closer
}

// openTable finds the records of the data in its format.
func openTable(ctx context.Context, data decode.Source, u feedmill.Upload, temp string) (table, error) {
	options := decode.JSONOptions{Path: u.Path, Explode: u.Explode, Temp: temp}
	open := decode.OpenJSON
	switch u.Format {
	case "ndjson":
		open = decode.OpenNDJSON
		fallthrough
	case "json":
		json, err := open(ctx, data, options)
		return table{json, json}, err
	}
	text, err := decode.OpenText(ctx, data, temp)
	if err != nil {
		return table{}, err
	}
	csv, err := decode.OpenCSV(ctx, text, decode.CSVOptions{Delimiter: delimiterOf(u.Format)})
	if err != nil {
		return table{}, errors.Join(err, text.Close())
	}
	return table{csv, text}, nil
}

// delimiterOf is what stands between the fields of a format, or 0 where the
// data says so.
func delimiterOf(format string) byte {
	if format == "tsv" {
		return '\t'
	}
	return 0
}

// openArriving is openTable for data that is not yet there in full.
func openArriving(ctx context.Context, data decode.Arriving, u feedmill.Upload, temp string) (table, error) {
	switch u.Format {
	case "json":
		return table{}, decode.ErrArriving
	case "ndjson":
		json, err := decode.OpenNDJSON(ctx, data, decode.JSONOptions{Path: u.Path, Explode: u.Explode, Temp: temp})
		return table{json, json}, err
	}
	csv, err := decode.OpenArrivingCSV(data, decode.CSVOptions{Delimiter: delimiterOf(u.Format)})
	return table{csv, io.NopCloser(nil)}, err
}
