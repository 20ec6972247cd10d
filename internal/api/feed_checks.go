package api

import (
	"net/http"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// checkedRefreshes is how many refreshes the results of a check are of.
const checkedRefreshes = 30

// checkExpectEvery is the name of the check of how old the data is.
const checkExpectEvery = "expectEvery"

// checkView is [client.Check] as it is written.
type checkView struct {
	Check   string                `json:"check"`
	Column  *string               `json:"column"`
	Passed  *bool                 `json:"passed"`
	Found   int64                 `json:"found"`
	Before  int64                 `json:"before"`
	Missing bool                  `json:"missing"`
	Results []client.RefreshCheck `json:"results"`
}

type checksView struct {
	Version *int64      `json:"version"`
	Checks  []checkView `json:"checks"`
}

// readChecks checks the current version of a feed, and finds what came of the checks of its
// last refreshes.
func (s *Server) readChecks(c *call) (answer, error) {
	f, err := s.feed(c)
	if err != nil {
		return answer{}, err
	}
	refreshes, err := s.Store.Refreshes(c.ctx(), c.who.Workspace, f.ID, feedmill.Page{Limit: checkedRefreshes})
	if err != nil {
		return answer{}, err
	}
	current, err := s.Feeds.Checks(c.ctx(), f)
	if err != nil {
		return answer{}, inSentences(err)
	}
	return jsonAnswer(http.StatusOK, resource{resourceMeta{feedURL(f.ID) + "/checks"}, viewChecks(f, current, refreshes)}), nil
}

func viewChecks(f feedmill.Feed, current []feedmill.CheckResult, refreshes []feedmill.Refresh) checksView {
	view := checksView{Version: orNull(f.Version), Checks: []checkView{}}
	for _, expected := range expectedChecks(f.Expects.Rows) {
		check := checkView{Check: expected.Check, Column: orNull(expected.Column), Results: []client.RefreshCheck{}}
		same := func(r feedmill.CheckResult) bool { return r.Check == expected.Check && r.Column == expected.Column }
		if at := slices.IndexFunc(current, same); at >= 0 {
			r := current[at]
			check.Passed, check.Found, check.Before, check.Missing = &r.Passed, r.Found, r.Before, r.Missing
		}
		for _, refresh := range slices.Backward(refreshes) {
			if at := slices.IndexFunc(refresh.Checks, same); at >= 0 {
				r := refresh.Checks[at]
				check.Results = append(check.Results, client.RefreshCheck{RefreshID: string(refresh.ID), At: refresh.EndedAt.UTC(), Passed: r.Passed, Found: r.Found, Before: r.Before, Missing: r.Missing})
			}
		}
		view.Checks = append(view.Checks, check)
	}
	if f.Expects.Every > 0 {
		view.Checks = append(view.Checks, checkView{Check: checkExpectEvery, Passed: new(!f.Stale), Results: []client.RefreshCheck{}})
	}
	return view
}

// expectedChecks are the checks that a feed has.
func expectedChecks(e feedmill.ExpectedRows) (checks []feedmill.CheckResult) {
	if e.MinRows > 0 {
		checks = append(checks, feedmill.CheckResult{Check: feedmill.CheckMinRows})
	}
	if e.MaxDrop != nil {
		checks = append(checks, feedmill.CheckResult{Check: feedmill.CheckMaxDrop})
	}
	for _, name := range e.NotNull {
		checks = append(checks, feedmill.CheckResult{Check: feedmill.CheckNotNull, Column: name})
	}
	for _, name := range e.Unique {
		checks = append(checks, feedmill.CheckResult{Check: feedmill.CheckUnique, Column: name})
	}
	return checks
}
