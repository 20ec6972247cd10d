package ui

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// comparePage is what is different between two versions of a feed.
type comparePage struct {
	Head     feedHead
	From, To int64
	Versions []client.FeedVersion
	Columns  []feedmill.Column
	Rows     []comparedRow
	Total    int64
	Error    string
	Download string
}

// comparedRow is a row that came, went or has other values.
type comparedRow struct {
	Change string
	Cells  []comparedCell
}

// comparedCell is a value, with what it was before where that was something else.
type comparedCell struct {
	gridCell
	Before  *gridCell
	Changed bool
}

// shownChanges is how many rows the page of a comparison has.
const shownChanges = 200

func showCompare(v *visit) error {
	head, err := headOf(v, "versions")
	if err != nil {
		return err
	}
	p := comparePage{Head: head}
	p.To, _ = strconv.ParseInt(v.r.URL.Query().Get("to"), 10, 64)
	p.From, _ = strconv.ParseInt(v.r.URL.Query().Get("from"), 10, 64)
	v.api.PageSize = listedRecords
	for version, err := range v.api.FeedVersions(v.r.Context(), head.ID) {
		if err != nil {
			return err
		}
		if p.Versions = append(p.Versions, version); len(p.Versions) == listedRecords {
			break
		}
	}
	if p.To == 0 {
		p.To = head.Version
	}
	if p.From == 0 {
		p.From = max(p.To-1, 1)
	}
	for _, c := range head.Columns {
		if !c.Hidden {
			p.Columns = append(p.Columns, c)
		}
	}
	p.Download = "/data_feeds/" + head.ID + "/changes?format=csv&from=" + strconv.FormatInt(p.From, 10) + "&to=" + strconv.FormatInt(p.To, 10)
	if err := p.read(v); err != nil {
		return err
	}
	return v.render(http.StatusOK, "feed_compare", head.Name, p)
}

// read reads the first rows that are different.
func (p *comparePage) read(v *visit) error {
	rows, err := v.api.FeedChanges(v.r.Context(), p.Head.ID, p.From, p.To, client.RowQuery{Format: "ndjson", Limit: shownChanges, Count: true})
	if detail, ok := refused(err); ok {
		p.Error = detail
		return nil
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	p.Total = rows.Total
	text, err := io.ReadAll(rows)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(text) {
		p.Rows = append(p.Rows, p.row(line))
	}
	return nil
}

// row lays a row out beside what it was.
func (p *comparePage) row(line []byte) comparedRow {
	var parsed struct {
		Change string          `json:"_change"`
		Before json.RawMessage `json:"_before"`
	}
	_ = json.Unmarshal(line, &parsed)
	r := comparedRow{Change: parsed.Change}
	now := objectRows([]json.RawMessage{line}, p.Columns)
	before := objectRows([]json.RawMessage{parsed.Before}, p.Columns)
	if len(now) == 0 {
		return r
	}
	for i, cell := range now[0] {
		c := comparedCell{gridCell: cell}
		if parsed.Change == "update" && len(before) == 1 && before[0][i] != cell {
			c.Before, c.Changed = &before[0][i], true
		}
		r.Cells = append(r.Cells, c)
	}
	return r
}
