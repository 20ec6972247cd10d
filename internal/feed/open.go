package feed

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode"
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

// table is data that can be read.
type table struct{ decode.Table }

// openTable finds the records of the data in its format.
func openTable(ctx context.Context, data decode.Source, u feedmill.Upload, temp string) (table, error) {
	opened, err := decode.Open(ctx, u.Format, data, readOptions(u, temp))
	return table{opened}, err
}

// openArriving is openTable for data that is not yet there in full.
func openArriving(ctx context.Context, data decode.Arriving, u feedmill.Upload, temp string) (table, error) {
	opened, err := decode.OpenArriving(ctx, u.Format, data, readOptions(u, temp))
	return table{opened}, err
}

// readOptions say how the data of an upload is read.
func readOptions(u feedmill.Upload, temp string) decode.Options {
	return decode.Options{Path: u.Path, Explode: u.Explode, Temp: temp}
}
