package feed

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// TestTypedRows holds that rows which have types already become versions, are
// appended and merged, and widen what the feed has, without being cells anywhere.
func TestTypedRows(t *testing.T) {
	s, f := newShelf(t), newTypedFeed()

	s.source.columns = columns("id integer", "amount integer", "Id text")
	s.source.run([]any{1, 10, "a"}, []any{2, nil, "b"})
	s.source.run([]any{3, -5, nil})
	o := s.fetch(t, f)[0]
	s.want(t, f, o, "renamed-column Id_2 1", `
		c1 id integer; c2 amount integer; c3 Id_2 text; 
		{"id":1,"amount":10,"Id_2":"a"}
		{"id":2,"amount":null,"Id_2":"b"}
		{"id":3,"amount":-5,"Id_2":null}
	`)
	if r := o.Refresh; r.RowsIn != 3 || r.RowsStored != 3 || r.Pages != 2 || o.Reshaped {
		t.Errorf("%+v", o)
	}

	f.Mode = feedmill.ModeAppend
	s.source.columns = columns("id integer", "amount decimal(5,2)", "Id text")
	s.source.run([]any{4, 725, "d"})
	o = s.fetch(t, f)[0]
	s.want(t, f, o, "renamed-column Id_2 1, widened-column amount 1", `
		c1 id integer; c2 amount decimal(21,2); c3 Id_2 text; 
		{"id":1,"amount":10.00,"Id_2":"a"}
		{"id":2,"amount":null,"Id_2":"b"}
		{"id":3,"amount":-5.00,"Id_2":null}
		{"id":4,"amount":7.25,"Id_2":"d"}
	`)
	if !o.Reshaped || o.Refresh.RowsIn != 1 || f.RowCount != 4 {
		t.Errorf("%+v", o)
	}

	f.Mode, f.Key = feedmill.ModeMerge, []string{"id"}
	s.source.columns = columns("note text", "amount text", "id integer")
	s.source.run([]any{"new", "n/a", 5}, []any{nil, "2", 2}, []any{"last", "2.5", 2})
	s.want(t, f, s.fetch(t, f)[0], "widened-column amount 1, missing-column Id_2 3, added-column note 1, duplicate-keys id 1", `
		c1 id integer; c2 amount text; c3 Id_2 text; c4 note text; 
		{"id":1,"amount":"10.00","Id_2":"a","note":null}
		{"id":3,"amount":"-5.00","Id_2":null,"note":null}
		{"id":4,"amount":"7.25","Id_2":"d","note":null}
		{"id":5,"amount":"n/a","Id_2":null,"note":"new"}
		{"id":2,"amount":"2.5","Id_2":null,"note":"last"}
	`)

	// Everything is fetched anew, and is narrower than what the feed had.
	f.Position = nil
	narrow := func() {
		s.source.columns = columns("id integer", "amount integer", "Id text", "note text")
		s.source.run([]any{7, 70, nil, nil})
	}
	narrow()
	s.want(t, f, s.fetch(t, f)[0], "renamed-column Id_2 1", `
		c1 id integer; c2 amount text; c3 Id_2 text; c4 note text; 
		{"id":7,"amount":"70","Id_2":null,"note":null}
	`)
	files := s.files(t)
	f.Position = nil
	narrow()
	if o := s.fetch(t, f)[0]; o.Version != nil || o.Error != nil || len(s.files(t)) != len(files) {
		t.Errorf("the same again is %+v, and there are %v", o, s.files(t))
	}
	// Nothing new is no version.
	s.source.run()
	if o := s.fetch(t, f)[0]; o.Version != nil || o.Error != nil || len(s.files(t)) != len(files) {
		t.Errorf("nothing is %+v, and there are %v", o, s.files(t))
	}
}

// TestTypedRowsOfSeveralFeeds holds that feeds of one source each have a version
// of their own, and that one which cannot keeps the others from nothing.
func TestTypedRowsOfSeveralFeeds(t *testing.T) {
	s, all, byID, byNone := newShelf(t), newTypedFeed(), newTypedFeed(), newTypedFeed()
	byID.Key, byNone.Key = []string{"id"}, []string{"none"}
	s.source.columns = columns("id integer")
	s.source.run([]any{1}, []any{2})
	s.source.run([]any{1})
	outcomes := s.fetch(t, all, byID, byNone)
	if all.RowCount != 3 || byID.RowCount != 2 || byNone.Version != 0 || len(s.files(t)) != 2 {
		t.Errorf("%d, %d and %d rows in %v", all.RowCount, byID.RowCount, byNone.RowCount, s.files(t))
	}
	if e := outcomes[2].Error; e == nil || e.Type != "/problems/no-key-column" || outcomes[2].Position != nil {
		t.Errorf("%+v", outcomes[2])
	}
}

// TestTypedRowsThatBreakOff holds that nothing is left of rows that do not come
// to their end.
func TestTypedRowsThatBreakOff(t *testing.T) {
	s, f := newShelf(t), newTypedFeed()
	s.source.columns = columns("id integer")
	s.source.run([]any{1})
	s.source.fault = &feedmill.SourceFailure{Type: "source-auth", Title: "No", Detail: "It broke off.", AuthRequired: true, RetryAfter: time.Minute}
	o := s.fetch(t, f)[0]
	if o.Version != nil || o.Error == nil || o.Error.Type != "/problems/source-auth" || !o.AuthRequired || o.RetryAfter != time.Minute {
		t.Errorf("%+v", o)
	}
	claim := feedmill.Claim{Source: feedmill.Source{Type: feedmill.FeedQuery}, Feeds: []feedmill.Feed{*f}}
	s.source.run([]any{1})
	s.source.fault = errors.New("a fault of the service")
	if _, err := s.Run(t.Context(), claim); !errors.Is(err, s.source.fault) {
		t.Errorf("failed with %v", err)
	}
	// What is written is of the columns that were said.
	s.source.fault, s.source.runs[0][0].Type = nil, columnar.TypeDate
	if _, err := s.Run(t.Context(), claim); err == nil {
		t.Error("rows of another type were taken")
	}
	if n, err := s.Blobs.Sweep(t.Context(), time.Now().Add(time.Hour)); n != 0 || err != nil || len(s.files(t)) != 0 {
		t.Errorf("%d drafts and %v were left, %v", n, s.files(t), err)
	}
}

func TestTypedRowsArePreviewed(t *testing.T) {
	s := newShelf(t)
	s.source.columns = columns("id integer")
	for range 3 {
		s.source.run(slices.Repeat([][]any{{0}}, previewRows-1)...)
	}
	p, err := s.PreviewFetched(t.Context(), "", feedmill.FetchedFeed{Type: feedmill.FeedQuery})
	if err != nil {
		t.Fatal(err)
	}
	if p.RowCount != 2*(previewRows-1) || strings.Count(string(p.Rows), `{"id":0}`) != previewRows || len(p.Trace) != 1 || string(p.Spec) != "{}" {
		t.Errorf("%+v", p)
	}
	if len(s.files(t)) != 0 {
		t.Errorf("there are %v", s.files(t))
	}
}
