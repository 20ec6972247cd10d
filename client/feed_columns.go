package client

import (
	"context"
	"net/http"

	"github.com/feedmill/feedmill"
)

// ColumnChange is what is to be different about a column.
type ColumnChange struct {
	// ID says which column it is or, with data that is uploaded, SourceName does.
	ID          string        `json:"id,omitzero"`
	SourceName  string        `json:"sourceName,omitzero"`
	Name        Field[string] `json:"name,omitzero"`
	Type        Field[string] `json:"type,omitzero"`
	Format      Field[string] `json:"format,omitzero"`
	Description Field[string] `json:"description,omitzero"`
	Hidden      Field[bool]   `json:"hidden,omitzero"`
	// Position is the place that the column moves to, from 1.
	Position Field[int] `json:"position,omitzero"`
	// OnMisfit is fail, null or reject.
	OnMisfit Field[string] `json:"onMisfit,omitzero"`
}

// ChangeColumns changes columns of a feed. Types of an upload are changed at once, and
// those of other feeds with the next refresh.
func (c *Client) ChangeColumns(ctx context.Context, feed string, changes []ColumnChange) (DataFeed, error) {
	return ask[DataFeed](ctx, c.unhurried(), http.MethodPatch, feedPath(feed)+"/columns", changes)
}

// ColumnTrials reports what changes of columns would do to the stored values.
type ColumnTrials struct {
	// Version is the version that was checked, and RowCount its number of rows.
	Version  int64         `json:"version"`
	RowCount int64         `json:"rowCount"`
	Changes  []ColumnTrial `json:"changes"`
}

// ColumnTrial is the trial of one change. All its values fit where Misfits is 0.
type ColumnTrial struct {
	ID      string `json:"id"`
	Misfits int64  `json:"misfits"`
	// Distinct counts the different misfits; it is a lower bound unless DistinctExact.
	Distinct      int64           `json:"distinct"`
	DistinctExact bool            `json:"distinctExact"`
	Examples      []MisfitExample `json:"examples"`
}

// MisfitExample is a value that does not fit, and the rows that have it.
type MisfitExample struct {
	Value    string `json:"value"`
	Rows     int64  `json:"rows"`
	FirstRow int64  `json:"firstRow"`
}

// TryColumns checks changes of columns against every stored value. It changes nothing.
func (c *Client) TryColumns(ctx context.Context, feed string, changes []ColumnChange) (ColumnTrials, error) {
	type tried struct {
		DryRun ColumnTrials `json:"dryRun"`
	}
	out, err := ask[tried](ctx, c.unhurried(), http.MethodPatch, feedPath(feed)+"/columns?dryRun=true", changes)
	return out.DryRun, err
}

// Column is the column of a feed with that name or id, nil where there is none.
func (f *DataFeed) Column(name string) *feedmill.Column {
	for i := range f.Columns {
		if f.Columns[i].Name == name {
			return &f.Columns[i]
		}
	}
	for i := range f.Columns {
		if f.Columns[i].ID == name {
			return &f.Columns[i]
		}
	}
	return nil
}
