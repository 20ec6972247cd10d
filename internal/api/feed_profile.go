package api

import (
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

type profileView struct {
	Version  int64               `json:"version"`
	RowCount int64               `json:"rowCount"`
	Columns  []columnProfileView `json:"columns"`
}

type columnProfileView struct {
	ID            string             `json:"id"`
	Name          string             `json:"name"`
	Type          columnar.Type      `json:"type"`
	Nulls         int64              `json:"nulls"`
	Distinct      int64              `json:"distinct"`
	DistinctExact bool               `json:"distinctExact"`
	Min           jsontext.Value     `json:"min"`
	Max           jsontext.Value     `json:"max"`
	Mean          jsontext.Value     `json:"mean"`
	Quantiles     *quantilesView     `json:"quantiles"`
	Histogram     []binView          `json:"histogram"`
	Top           []profileValueView `json:"top"`
	MaxLength     *int64             `json:"maxLength"`
}

type quantilesView struct {
	P25 jsontext.Value `json:"p25"`
	P50 jsontext.Value `json:"p50"`
	P75 jsontext.Value `json:"p75"`
}

type binView struct {
	From  jsontext.Value `json:"from"`
	To    jsontext.Value `json:"to"`
	Count int64          `json:"count"`
}

type profileValueView struct {
	Value jsontext.Value `json:"value"`
	Count int64          `json:"count"`
}

// viewProfile is a profile with the names that columns have now, without those that are
// hidden.
func viewProfile(v feedmill.FeedVersion, p feedmill.FeedProfile) profileView {
	view := profileView{Version: v.Number, RowCount: p.RowCount, Columns: []columnProfileView{}}
	for _, column := range feedmill.ShownColumns(v.Columns) {
		at := slices.IndexFunc(p.Columns, func(c feedmill.ColumnProfile) bool { return c.ID == column.ID })
		if column.Hidden || at < 0 {
			continue
		}
		c := &p.Columns[at]
		shown := columnProfileView{
			ID: c.ID, Name: column.Name, Type: column.Type, Nulls: c.Nulls, Distinct: c.Distinct, DistinctExact: c.DistinctExact,
			Min: jsonOrNull(c.Min), Max: jsonOrNull(c.Max), Mean: jsonOrNull(c.Mean), Histogram: []binView{}, Top: []profileValueView{}, MaxLength: c.MaxLength,
		}
		if q := c.Quantiles; q != nil {
			shown.Quantiles = &quantilesView{jsonOrNull(q.P25), jsonOrNull(q.P50), jsonOrNull(q.P75)}
		}
		for _, bin := range c.Histogram {
			shown.Histogram = append(shown.Histogram, binView{jsonOrNull(bin.From), jsonOrNull(bin.To), bin.Count})
		}
		for _, top := range c.Top {
			shown.Top = append(shown.Top, profileValueView{jsonOrNull(top.Value), top.Count})
		}
		view.Columns = append(view.Columns, shown)
	}
	return view
}

func jsonOrNull(raw []byte) jsontext.Value {
	if len(raw) == 0 {
		return jsontext.Value("null")
	}
	return raw
}

// readProfile answers what the values of a version are like.
func (s *Server) readProfile(c *call) (answer, error) {
	q := c.readQueryParameters()
	number := c.versionNumber("version")
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	f, v, err := s.feedVersion(c, number)
	if err != nil {
		return answer{}, err
	}
	p, err := s.Feeds.Profile(c.ctx(), c.who.Workspace, v, q)
	if err != nil {
		return answer{}, inSentences(err)
	}
	return jsonAnswer(http.StatusOK, resource{resourceMeta{feedURL(f.ID) + "/profile"}, viewProfile(v, p)}), nil
}
