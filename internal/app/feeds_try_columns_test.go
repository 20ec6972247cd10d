package app

import (
	"strings"
	"testing"
)

// tried is what tests read of a trial of columns.
type tried struct {
	DryRun struct {
		Version, RowCount int64
		Changes           []struct {
			ID                string
			Misfits, Distinct int64
			Examples          []struct {
				Value          string
				Rows, FirstRow int64
			}
		}
	}
}

// TestTryColumns checks new types against all values, of an upload and of its stored rows, and
// changes nothing.
func TestTryColumns(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "", "text/csv", "id,weight\n1,1.5\n2,later\n3,2\n4,unknown\n5,later\n")
	other := s.upload(t, "", "text/csv", "id,weight\n1,x\n")
	path := "/data_feeds/" + f.ID + "/columns"
	body := `[{"id":"c2","type":"decimal","name":"kg"},{"id":"c1","description":"number"}]`
	check := func() {
		t.Helper()
		var got tried
		r := s.send(t, request{method: "PATCH", path: path + "?dryRun=true", body: body})
		r.data(t, &got)
		c := got.DryRun.Changes
		if got.DryRun.RowCount != 5 || len(c) != 2 || c[0].Misfits != 3 || c[0].Distinct != 2 || len(c[0].Examples) != 2 || c[0].Examples[0].Value != "later" ||
			c[0].Examples[0].Rows != 2 || c[0].Examples[0].FirstRow != 2 || c[0].Examples[1].FirstRow != 4 || c[1].Misfits != 0 {
			t.Errorf("%+v", got)
		}
	}
	check()
	// Nothing has changed, and nothing was left out: the change itself is still refused.
	if got := s.send(t, request{method: "PATCH", path: path, body: body}); got.status != 422 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID}); !strings.Contains(got.body, `"name":"weight"`) || !strings.Contains(got.body, `"version":1,`) {
		t.Errorf("%s", got.body)
	}
	if got := s.send(t, request{method: "PATCH", path: "/data_feeds/" + other.ID + "/columns?dryRun=maybe", body: body}); got.status != 400 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := s.send(t, request{method: "PATCH", path: path, body: strings.Replace(body, `"name":"kg"`, `"onMisfit":"null"`, 1)}); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
	check() // of the original, which still has the texts
}

// TestChecksOfFeed reads what came of the checks of a feed and of its refreshes.
func TestChecksOfFeed(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "", "text/csv", "id,note\n1,a\n2,b\n3,\n4,d\n")
	s.upload(t, "", "text/csv", "id,note\n1,a\n")
	path := "/data_feeds/" + f.ID
	type check struct {
		Check, Column string
		Passed        *bool
		Found, Before int64
		Results       []struct {
			RefreshID string
			Passed    bool
			Found     int64
		}
	}
	read := func() map[string]check {
		t.Helper()
		var got struct {
			Version int64
			Checks  []check
		}
		s.send(t, request{method: "GET", path: path + "/checks"}).data(t, &got)
		by := make(map[string]check)
		for _, c := range got.Checks {
			by[c.Check+c.Column] = c
		}
		return by
	}
	if got := read(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	s.send(t, request{method: "PATCH", path: path, body: `{"expect":{"minRows":3,"maxDrop":0.25,"notNull":["id","note"],"unique":["id"]},"expectEvery":"1d"}`})
	if got := read(); !*got["minRows"].Passed || got["minRows"].Found != 4 || !*got["notNullid"].Passed || *got["notNullnote"].Passed || got["notNullnote"].Found != 1 || !*got["expectEvery"].Passed {
		t.Errorf("%+v", got)
	}
	s.sendData(t, "PUT", path+"/data", "text/csv", "id,note\n1,a\n1,b\n2,c\n")
	s.sendData(t, "PUT", path+"/data", "text/csv", "id,note\n1,a\n2,b\n3,c\n")
	s.sendData(t, "PUT", path+"/data?accept=true", "text/csv", "id,note\n1,a\n")
	got := read()
	if r := got["uniqueid"].Results; len(r) != 2 || r[0].Passed || r[0].Found != 1 || !r[1].Passed {
		t.Errorf("%+v", got)
	}
	if c := got["maxDrop"]; *c.Passed || c.Found != 1 || c.Before != 3 || len(c.Results) != 2 || !c.Results[0].Passed {
		t.Errorf("%+v", c)
	}
}
