package ui

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/feedmill/feedmill"
)

// previewedRows is how many rows of a preview the page has, and previewedText how many
// characters of a value.
const previewedRows, previewedText = 5, 60

// firstRows are the first rows of a preview as texts, with the digits that they have.
func firstRows(p feedmill.FeedPreview) (rows [][]string) {
	d := json.NewDecoder(bytes.NewReader(p.Rows))
	d.UseNumber()
	var all []map[string]any
	if d.Decode(&all) != nil {
		return nil
	}
	for _, record := range all[:min(len(all), previewedRows)] {
		row := make([]string, len(p.Columns))
		for i, c := range p.Columns {
			switch v := record[c.Name].(type) {
			case nil:
			case map[string]any, []any:
				text, _ := json.Marshal(v)
				row[i] = string(text)
			default:
				row[i] = fmt.Sprint(v)
			}
			if text := []rune(row[i]); len(text) > previewedText {
				row[i] = string(text[:previewedText]) + "…"
			}
		}
		rows = append(rows, row)
	}
	return rows
}
