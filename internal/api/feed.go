package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/columnar"
)

type feedView struct {
	ID            feedmill.ID        `json:"id"`
	Name          string             `json:"name"`
	Description   string             `json:"description"`
	TableName     *string            `json:"tableName"`
	Type          feedmill.FeedType  `json:"type"`
	State         feedmill.FeedState `json:"state"`
	Stale         bool               `json:"stale"`
	Columns       []columnView       `json:"columns"`
	RowCount      int64              `json:"rowCount"`
	ByteSize      int64              `json:"byteSize"`
	Version       int64              `json:"version"`
	ContentHash   string             `json:"contentHash"`
	Mode          feedmill.FeedMode  `json:"mode"`
	Key           []string           `json:"key"`
	SchemaPolicy  string             `json:"schemaPolicy"`
	Keep          keepView           `json:"keep"`
	Schedule      *client.Schedule   `json:"schedule"`
	ExpectEvery   *string            `json:"expectEvery"`
	Expect        *expectView        `json:"expect"`
	NextRefreshAt timestamp          `json:"nextRefreshAt"`
	LastRefresh   *refreshView       `json:"lastRefresh"`
	LastSuccessAt timestamp          `json:"lastSuccessAt"`
	// Failures are those in a row.
	Failures        int            `json:"failures"`
	PausedReason    *string        `json:"pausedReason"`
	RecentRefreshes []string       `json:"recentRefreshes"`
	LastError       *feedErrorView `json:"lastError"`
	Warnings        []warningView  `json:"warnings"`
	Source          jsontext.Value `json:"source"`
	SourceLabel     *string        `json:"sourceLabel"`
	Rules           int            `json:"rules"`
	CreatedAt       timestamp      `json:"createdAt"`
	UpdatedAt       timestamp      `json:"updatedAt"`
	// Table is only in the record of one feed.
	Table *client.Table `json:"table,omitzero"`
}

func viewSchedule(s feedmill.Schedule) *client.Schedule {
	switch {
	case s.Cron != "":
		return &client.Schedule{Cron: s.Cron, Timezone: cmp.Or(s.Timezone, "UTC")}
	case s.Every > 0:
		return &client.Schedule{Every: feedmill.FormatDuration(s.Every)}
	}
	return nil
}

type feedErrorView struct {
	Type   string    `json:"type"`
	Title  string    `json:"title"`
	Detail string    `json:"detail"`
	At     timestamp `json:"at"`
	// Source is what the source said, null where it is not about that.
	Source *sourceAnswerView `json:"source"`
}

// sourceAnswerView is a request to a source that failed, and the answer.
type sourceAnswerView struct {
	Status  *int              `json:"status"`
	Request sourceRequestView `json:"request"`
	Excerpt string            `json:"excerpt"`
}

// sourceRequestView is a request without its secrets. Of headers there are only
// the names.
type sourceRequestView struct {
	Method  string   `json:"method"`
	URL     string   `json:"url"`
	Headers []string `json:"headers"`
	Body    *string  `json:"body"`
}

func viewSourceAnswer(a *feedmill.SourceAnswer) *sourceAnswerView {
	if a == nil {
		return nil
	}
	return &sourceAnswerView{orNull(a.Status), *viewSourceRequest(&a.Request), valid(a.Excerpt)}
}

func viewSourceRequest(r *feedmill.SourceRequest) *sourceRequestView {
	if r == nil {
		return nil
	}
	return &sourceRequestView{r.Method, valid(r.URL), slices.Concat([]string{}, r.Headers), orNull(valid(r.Body))}
}

func viewFeed(f feedmill.Feed) feedView {
	v := feedView{
		ID: f.ID, Name: f.Name, Description: f.Description, TableName: orNull(f.TableName), Type: f.Type, State: f.State, Stale: f.Stale,
		Columns: viewColumns(f.Columns), RowCount: f.RowCount, ByteSize: f.ByteSize, Version: f.Version, ContentHash: f.ContentHash,
		Mode: f.Mode, Key: slices.Concat([]string{}, f.Key), Keep: viewKeep(f.Keep), Schedule: viewSchedule(f.Schedule), NextRefreshAt: timestamp(f.NextRefreshAt),
		SchemaPolicy: string(cmp.Or(f.Expects.Schema, feedmill.SchemaWiden)), ExpectEvery: viewEvery(f.Expects.Every), Expect: viewExpect(f.Expects.Rows),
		LastError: viewFeedError(f.LastError), Warnings: viewWarnings(f.Warnings), Source: viewSource(f.Spec, f.Found),
		CreatedAt: timestamp(f.CreatedAt), UpdatedAt: timestamp(f.UpdatedAt),
		LastSuccessAt: timestamp(f.SucceededAt), Failures: f.Failures, PausedReason: orNull(f.PausedReason()), RecentRefreshes: f.RecentRefreshes(),
		SourceLabel: orNull(f.SourceLabel()), Rules: f.Rules.Number(),
	}
	if f.LastRefresh != nil {
		r := viewRefresh(*f.LastRefresh)
		if f.LastRefresh.State == feedmill.RefreshRunning && r.Progress == nil && f.RowCount > 0 && f.Mode == feedmill.ModeReplace {
			// It is as long as the one before, until it proves to be longer.
			r.Progress = new(min(float64(f.LastRefresh.RowsIn)/float64(f.RowCount), mostEstimated))
		}
		v.LastRefresh = &r
	}
	return v
}

// viewSource is how data is fetched and read, with what was found.
func viewSource(spec []byte, found feedmill.Findings) jsontext.Value {
	if found.IsZero() || len(spec) < 2 {
		return spec
	}
	reading, err := json.Marshal(found)
	if err != nil {
		panic(err) // findings are texts
	}
	end := bytes.LastIndexByte(spec, '}')
	whole := bytes.TrimRight(slices.Clone(spec[:end]), " \t\r\n")
	if whole[len(whole)-1] != '{' {
		whole = append(whole, ',')
	}
	return append(append(append(whole, `"reading":`...), reading...), '}')
}

func viewFeedError(e *feedmill.FeedError) *feedErrorView {
	if e == nil {
		return nil
	}
	return &feedErrorView{e.Type, e.Title, sentence(e.Detail), timestamp(e.At), viewSourceAnswer(e.Source)}
}

// columnView is a column. Its format is null where there is none to speak of.
type columnView struct {
	ID          string        `json:"id"`
	Name        string        `json:"name"`
	SourceName  string        `json:"sourceName"`
	Description string        `json:"description"`
	Type        columnar.Type `json:"type"`
	Format      *string       `json:"format"`
	Nullable    bool          `json:"nullable"`
	Hidden      bool          `json:"hidden"`
	Retype      columnar.Type `json:"retype,omitzero"`
}

func viewColumns(columns []feedmill.Column) []columnView {
	views := make([]columnView, len(columns))
	for i, c := range feedmill.ShownColumns(columns) {
		views[i] = columnView{ID: c.ID, Name: c.Name, SourceName: c.SourceName, Description: c.Description, Type: c.Type, Nullable: c.Nullable, Hidden: c.Hidden, Retype: c.Retype}
		if c.Format != "" {
			views[i].Format = &c.Format
		}
	}
	return views
}

// warningView is something about the data that its owner should know of. What is
// not about a column, or about no row in particular, has null for it.
type warningView struct {
	Code     string             `json:"code"`
	Column   *string            `json:"column"`
	Count    int64              `json:"count"`
	FirstRow *int64             `json:"firstRow"`
	Examples []feedmill.Example `json:"examples"`
	Detail   string             `json:"detail"`
}

func viewWarnings(warnings []feedmill.Warning) []warningView {
	views := make([]warningView, len(warnings))
	for i, w := range warnings {
		views[i] = warningView{Code: w.Code, Count: w.Count, Examples: slices.Concat([]feedmill.Example{}, w.Examples), Detail: sentence(w.Detail)}
		if w.Column != "" {
			views[i].Column = &w.Column
		}
		if w.FirstRow > 0 {
			views[i].FirstRow = &w.FirstRow
		}
	}
	return views
}

func feedURL(id feedmill.ID) string { return "/data_feeds/" + string(id) }

func feedAnswer(status int, f feedmill.Feed) answer {
	return jsonAnswer(status, resource{resourceMeta{feedURL(f.ID)}, viewFeed(f)})
}

// feed finds the one that the path names.
func (s *Server) feed(c *call) (feedmill.Feed, error) {
	id, err := feedmill.ParseID(feedmill.PrefixDataFeed, c.r.PathValue("id"))
	if err != nil {
		return feedmill.Feed{}, err
	}
	return s.Store.Feed(c.ctx(), c.who.Workspace, id)
}

func (s *Server) getFeed(c *call) (answer, error) {
	f, err := s.feed(c)
	if err != nil {
		return answer{}, err
	}
	upstream, err := s.Feeds.UpstreamWarnings(c.ctx(), f)
	if err != nil {
		return answer{}, err
	}
	f.Warnings = slices.Concat(f.Warnings, upstream)
	view := viewFeed(f)
	t, err := s.Feeds.StoredTable(c.ctx(), f.Workspace, f.ID)
	if err == nil {
		view.Table = &client.Table{Namespace: string(f.Workspace), Name: f.TableName, Version: t.Version, MetadataLocation: s.Feeds.MetadataLocation(t.Metadata)}
	} else if !errors.Is(err, feedmill.ErrNotFound) {
		return answer{}, err
	}
	return jsonAnswer(http.StatusOK, resource{resourceMeta{feedURL(f.ID)}, view}), nil
}

func (s *Server) deleteFeed(c *call) (answer, error) {
	id, err := feedmill.ParseID(feedmill.PrefixDataFeed, c.r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	force := c.boolParameter("force")
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	if err := s.Feeds.Delete(c.ctx(), c.who.Workspace, id, force); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusNoContent}, nil
}
