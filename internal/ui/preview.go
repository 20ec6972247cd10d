package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// unavailable is what the API says of a source that gives no answer.
func unavailable(err error) (string, bool) {
	p, ok := errors.AsType[*client.Problem](err)
	if !ok || p.Status != 502 && p.Status != 503 && p.Status != 504 {
		return "", false
	}
	return p.Detail, true
}

// objectRows are the rows of a preview, which has an object for each, in the order of
// the columns and with the digits that numbers have.
func objectRows(rows []json.RawMessage, columns []feedmill.Column) [][]gridCell {
	all := make([][]gridCell, 0, len(rows))
	for _, row := range rows {
		in := json.NewDecoder(bytes.NewReader(row))
		in.UseNumber()
		var object map[string]any
		if in.Decode(&object) != nil {
			continue
		}
		cells := make([]gridCell, len(columns))
		for i, c := range columns {
			value := object[c.Name]
			cells[i] = gridCell{Null: value == nil, Numeric: numeric(string(c.Type))}
			switch value := value.(type) {
			case nil:
			case string:
				cells[i].Text = clip(value)
			case json.Number, bool:
				cells[i].Text = fmt.Sprint(value)
			default:
				text, _ := json.Marshal(value)
				cells[i].Text = clip(string(text))
			}
		}
		all = append(all, cells)
	}
	return all
}

// whereOf says in a few words where a connection leads.
func whereOf(config json.RawMessage) string {
	var c struct {
		Host     string `json:"host"`
		Port     any    `json:"port"`
		Database string `json:"database"`
		Path     string `json:"path"`
	}
	_ = json.Unmarshal(config, &c)
	if c.Path != "" {
		return c.Path
	}
	text := c.Host
	if c.Port != nil {
		text += fmt.Sprintf(":%v", c.Port)
	}
	return strings.TrimSuffix(text+"/"+c.Database, "/")
}
