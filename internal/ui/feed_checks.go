package ui

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// checksPage is the form of what is expected of a feed's data, with what came of it.
type checksPage struct {
	Head feedHead
	checksForm
	Faults map[string]string
	// Rows are the checks of the table, and Failures what did not pass, newest first.
	Rows     []checkRow
	Failures []checkFailure
}

// checksForm are the fields of the form.
type checksForm struct {
	MinRows, MaxDrop, NotNull, Unique, Every, Mode, Key, Schema, KeepVersions, KeepDays, Rules string
}

func (f *checksForm) fields() map[string]*string {
	return map[string]*string{
		"minRows": &f.MinRows, "maxDrop": &f.MaxDrop, "notNull": &f.NotNull, "unique": &f.Unique, "expectEvery": &f.Every, "mode": &f.Mode, "key": &f.Key,
		"schemaPolicy": &f.Schema, "keepVersions": &f.KeepVersions, "keepDays": &f.KeepDays, "rules": &f.Rules,
	}
}

// checkRow is one line of the table: all checks of a kind.
type checkRow struct {
	Name, Label, Value, Before, After string

	Wide bool
	// State is passed, checkFailed, off or pending, and Found what was found, in words.
	State, Found string
	// Results are whether each of the last refreshes passed, oldest first.
	Results []bool
	Failed  int
}

// checkFailure is a check that a refresh did not pass.
type checkFailure struct {
	RefreshID, Label, Found string
	At                      time.Time
	// Newest says that it is of the newest refresh, which can be accepted once.
	Newest bool
}

var checkLabels = map[string]string{
	feedmill.CheckMinRows: "Minimum rows", feedmill.CheckMaxDrop: "Maximum drop", feedmill.CheckNotNull: "Not null", feedmill.CheckUnique: "Unique", "expectEvery": "Freshness",
}

func showChecks(v *visit) error {
	head, err := headOf(v, "checks")
	if err != nil {
		return err
	}
	return showChecksForm(v, http.StatusOK, head, formOfChecks(head.DataFeed), nil)
}

// showChecksForm shows the form with the results of the checks that the feed has.
func showChecksForm(v *visit, status int, head feedHead, form checksForm, faults map[string]string) error {
	p := checksPage{Head: head, checksForm: form, Faults: faults}
	checks, err := v.api.Checks(v.r.Context(), head.ID)
	if err != nil {
		return err
	}
	p.lines(checks)
	return v.render(status, "feed_checks", head.Name, p)
}

func formOfChecks(f client.DataFeed) checksForm {
	form := checksForm{Every: f.ExpectEvery, Mode: string(f.Mode), Key: strings.Join(f.Key, ", "), Schema: f.SchemaPolicy, Rules: strconv.Itoa(f.Rules)}
	if e := f.Expect; e != nil {
		if e.MinRows > 0 {
			form.MinRows = strconv.FormatInt(e.MinRows, 10)
		}
		if e.MaxDrop != nil {
			form.MaxDrop = strconv.FormatFloat(*e.MaxDrop*100, 'f', -1, 64)
		}
		form.NotNull, form.Unique = strings.Join(e.NotNull, ", "), strings.Join(e.Unique, ", ")
	}
	if f.Keep.Versions > 0 {
		form.KeepVersions = strconv.Itoa(f.Keep.Versions)
	}
	if f.Keep.Days > 0 {
		form.KeepDays = strconv.Itoa(f.Keep.Days)
	}
	return form
}

// lines are the checks as the table has them.
func (p *checksPage) lines(checks client.Checks) {
	for _, row := range []checkRow{
		{Name: "minRows", Value: p.MinRows, After: "rows or more"},
		{Name: "maxDrop", Value: p.MaxDrop, After: "% fewer rows than the previous version"},
		{Name: "notNull", Value: p.NotNull, Wide: true},
		{Name: "unique", Value: p.Unique, Wide: true},
		{Name: "expectEvery", Value: p.Every, After: "maximum between successful refreshes, such as 1h or 1d"},
	} {
		row.Label, row.State = checkLabels[row.Name], "off"
		var broken, held []string
		byRefresh := make(map[string]bool)
		var order []string
		for _, c := range checks.Checks {
			if c.Check != row.Name {
				continue
			}
			row.State = "pending"
			if c.Passed != nil {
				if words := foundWords(c.Check, c.Column, client.RefreshCheck{Passed: *c.Passed, Found: c.Found, Before: c.Before, Missing: c.Missing}); *c.Passed {
					held = append(held, words)
				} else {
					broken = append(broken, words)
				}
			}
			for _, r := range c.Results {
				passed, seen := byRefresh[r.RefreshID]
				if !seen {
					order = append(order, r.RefreshID)
				}
				byRefresh[r.RefreshID] = (passed || !seen) && r.Passed
				if !r.Passed {
					p.Failures = append(p.Failures, checkFailure{RefreshID: r.RefreshID, Label: row.Label, Found: foundWords(c.Check, c.Column, r), At: r.At})
				}
			}
		}
		switch {
		case len(broken) > 0:
			row.State, row.Found = "checkFailed", strings.Join(broken, "; ")
		case len(held) == 1:
			row.State, row.Found = "passed", held[0]
		case len(held) > 1:
			row.State, row.Found = "passed", plural(int64(len(held)), "column")
		}
		for _, id := range order {
			row.Results = append(row.Results, byRefresh[id])
			if !byRefresh[id] {
				row.Failed++
			}
		}
		p.Rows = append(p.Rows, row)
	}
	slices.SortStableFunc(p.Failures, func(a, b checkFailure) int { return b.At.Compare(a.At) })
	if last := p.Head.LastRefresh; last != nil && p.Head.Type.HasSource() && len(p.Failures) > 0 {
		p.Failures[0].Newest = p.Failures[0].RefreshID == last.ID
	}
}

// foundWords is what a check found.
func foundWords(check, column string, r client.RefreshCheck) string {
	switch {
	case r.Missing:
		return column + " is missing"
	case check == feedmill.CheckMinRows:
		return plural(r.Found, "row")
	case check == feedmill.CheckMaxDrop && r.Before == 0:
		return plural(r.Found, "row") + ", no previous version"
	case check == feedmill.CheckMaxDrop && r.Found >= r.Before:
		return plural(r.Found-r.Before, "row") + " more"
	case check == feedmill.CheckMaxDrop:
		return plural(r.Found, "row") + ", " + shortShare(float64(r.Before-r.Found)/float64(r.Before)) + " fewer than " + number(r.Before)
	case check == feedmill.CheckNotNull && r.Passed:
		return "no nulls in " + column
	case check == feedmill.CheckNotNull:
		return column + " is null in " + plural(r.Found, "row")
	case check == feedmill.CheckUnique && r.Passed:
		return "no duplicates in " + column
	case check == feedmill.CheckUnique:
		return plural(r.Found, "value") + " of " + column + " in several rows"
	case r.Passed:
		return "refreshed in time"
	}
	return "no successful refresh in time"
}

// checkPlaces maps the pointers of the API to the fields of the form.
var checkPlaces = map[string]string{
	"expect/minRows": "minRows", "expect/maxDrop": "maxDrop", "expect/notNull": "notNull", "expect/unique": "unique", "expectEvery": "expectEvery",
	"mode": "mode", "key": "key", "schemaPolicy": "schemaPolicy", "keep": "keepVersions", "keep/days": "keepDays", "keep/versions": "keepVersions", "rules": "rules",
}

func changeChecks(v *visit) error {
	head, err := headOf(v, "checks")
	if err != nil {
		return err
	}
	var form checksForm
	for name, field := range form.fields() {
		*field = strings.TrimSpace(v.r.PostFormValue(name))
	}
	change, faults := form.change(head.DataFeed)
	if len(faults) == 0 {
		_, err := v.api.ChangeDataFeed(v.r.Context(), head.ID, change)
		if err == nil {
			return v.redirect(feedPagePath(head.ID) + "/checks?did=saved")
		}
		var ok bool
		if faults, ok = faultsAt(err, checkPlaces); !ok {
			return err
		}
	}
	return showChecksForm(v, http.StatusUnprocessableEntity, head, form, faults)
}

// change is what the form changes of a feed. What the form does not change is left out, so
// that it is not taken back where it was changed meanwhile.
func (f checksForm) change(feed client.DataFeed) (change client.DataFeedChange, faults map[string]string) {
	faults = make(map[string]string)
	was := formOfChecks(feed)
	if f.MinRows != was.MinRows || f.MaxDrop != was.MaxDrop || f.NotNull != was.NotNull || f.Unique != was.Unique {
		change.Expect = client.To(f.expect(faults))
	}
	if f.Every != was.Every {
		change.ExpectEvery = toOrReset(f.Every, f.Every)
	}
	if f.Schema != was.Schema && f.Schema != "" {
		change.SchemaPolicy = client.To(f.Schema)
	}
	if f.KeepVersions != was.KeepVersions || f.KeepDays != was.KeepDays {
		keep := client.Keep{Versions: wholeField(f.KeepVersions, "keepVersions", faults), Days: wholeField(f.KeepDays, "keepDays", faults)}
		change.Keep = toOrReset(f.KeepVersions+f.KeepDays, keep)
	}
	if f.Rules != was.Rules && f.Rules != "" {
		change.Rules = client.To(wholeField(f.Rules, "rules", faults))
	}
	if !feed.Type.HasSource() {
		return change, faults
	}
	if f.Mode != was.Mode && f.Mode != "" {
		change.Mode = client.To(feedmill.FeedMode(f.Mode))
	}
	if f.Key != was.Key || f.Mode != was.Mode {
		key := namesIn(f.Key)
		change.Key = toOrReset(f.Key, key)
		if f.Mode == string(feedmill.ModeMerge) && len(key) == 0 {
			faults["key"] = "Merge needs at least one key column."
		}
	}
	return change, faults
}

func (f checksForm) expect(faults map[string]string) (e client.Expect) {
	e.MinRows = int64(wholeField(f.MinRows, "minRows", faults))
	if f.MaxDrop != "" {
		share, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(f.MaxDrop, "%")), 64)
		if err != nil || share < 0 || share > 100 {
			faults["maxDrop"] = "Enter a percentage between 0 and 100."
		}
		share /= 100
		e.MaxDrop = &share
	}
	e.NotNull, e.Unique = namesIn(f.NotNull), namesIn(f.Unique)
	return e
}

// toOrReset is a value, or the default where a field is empty.
func toOrReset[T any](field string, value T) client.Field[T] {
	if field == "" {
		return client.Reset[T]()
	}
	return client.To(value)
}

// wholeField reads a whole number, in which spaces may group digits.
func wholeField(text, field string, faults map[string]string) int {
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(strings.NewReplacer(thin, "", " ", "", ",", "").Replace(text))
	if err != nil || n < 0 {
		faults[field] = "Enter a whole number, such as 1000."
	}
	return n
}

// namesIn reads names that commas separate.
func namesIn(text string) (names []string) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			names = append(names, part)
		}
	}
	return names
}

// acceptOnce refreshes a feed without its checks.
func acceptOnce(v *visit) error {
	id := v.r.PathValue("id")
	_, err := v.api.RefreshDataFeed(v.r.Context(), id, client.AcceptUnexpected())
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Status == http.StatusConflict {
		return v.redirect(feedPagePath(id) + "/checks")
	}
	if err != nil {
		return err
	}
	return v.redirect(feedPagePath(id) + "?did=refreshing")
}
