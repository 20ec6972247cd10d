package api

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// changeColumns changes columns of a feed.
func (s *Server) changeColumns(c *call) (answer, error) {
	id, err := feedmill.ParseID(feedmill.PrefixDataFeed, c.r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	v, err := c.readJSON()
	if err != nil {
		return answer{}, err
	}
	if v.Kind != '[' {
		return answer{}, c.malformed("", "The body must be an array of changes, each with the ID of a column.")
	}
	changes := readColumnChanges(&v, "id", c.faults.Note)
	dryRun := c.boolParameter("dryRun")
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	if dryRun {
		return s.tryColumns(c, id, changes)
	}
	if c.audited != nil {
		c.audited.Fields = []string{"columns"}
	}
	f, err := s.Feeds.ChangeColumns(c.ctx(), c.who.Workspace, id, changes)
	if err != nil {
		return answer{}, inSentences(err)
	}
	return foundFeed(f), nil
}

// triedFeed is a feed with the new labels of its columns, and what a trial found.
type triedFeed struct {
	feedView `json:",inline"`
	DryRun   client.ColumnTrials `json:"dryRun"`
}

// tryColumns checks changes of columns against the stored values and changes nothing.
func (s *Server) tryColumns(c *call, id feedmill.ID, changes []feedmill.ColumnChange) (answer, error) {
	f, trials, err := s.Feeds.TryColumns(c.ctx(), c.who.Workspace, id, changes)
	if err != nil {
		return answer{}, inSentences(err)
	}
	tried := client.ColumnTrials{Version: f.Version, RowCount: f.RowCount, Changes: make([]client.ColumnTrial, len(trials))}
	for i, t := range trials {
		view := client.ColumnTrial{ID: t.ID, Misfits: t.Misfits, Distinct: t.Distinct, DistinctExact: t.DistinctExact, Examples: []client.MisfitExample{}}
		for _, e := range t.Examples {
			view.Examples = append(view.Examples, client.MisfitExample(e))
		}
		tried.Changes[i] = view
	}
	return jsonAnswer(http.StatusOK, resource{resourceMeta{feedURL(f.ID)}, triedFeed{viewFeed(f), tried}}), nil
}

// readColumnChanges reads changes of columns, each of which is found by a member: id, or
// sourceName.
func readColumnChanges(list *strictjson.Value, by string, note strictjson.Note) (changes []feedmill.ColumnChange) {
	if len(list.Items) == 0 || len(list.Items) > feedmill.MaxColumnChanges {
		note("", fmt.Sprintf("The array must have 1 to %d elements; it has %d.", feedmill.MaxColumnChanges, len(list.Items)))
		return nil
	}
	for _, item := range strictjson.Elements(list, "", note) {
		if o, ok := item.Object(); ok {
			changes = append(changes, readColumnChange(o, by))
		}
	}
	return changes
}

func readColumnChange(o *strictjson.Object, by string) feedmill.ColumnChange {
	change := feedmill.ReadColumnChange(o)
	which := map[string]*string{"id": &change.ID, "sourceName": &change.SourceName}[by]
	if f, ok := o.Need(by); ok {
		*which, _ = f.Text()
	}
	o.RefuseUnknown()
	return change
}

// columnsParameter reads the changes of columns that come with data.
func (c *call) columnsParameter() (changes []feedmill.ColumnChange) {
	text, given := c.query["columns"]
	if !given {
		return nil
	}
	note := func(pointer, detail string) bool {
		if pointer != "" {
			detail = "At " + pointer + ": " + detail
		}
		c.fault(feedmill.Fault{Parameter: "columns", Detail: detail})
		return len(c.faults.List) < feedmill.MaxFaults
	}
	v, ok := strictjson.Read([]byte(text), strictjson.Part{}, note)
	if !ok {
		return nil
	}
	if v.Kind != '[' {
		note("", `columns must be a JSON array such as [{"sourceName":"zip","type":"text"}].`)
		return nil
	}
	changes = readColumnChanges(&v, "sourceName", note)
	for i := range changes {
		changes[i].Place = feedmill.Fault{Parameter: "columns"}
	}
	return slices.Clip(changes)
}
