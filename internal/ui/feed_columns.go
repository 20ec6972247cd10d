package ui

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// columnTypes are the types that a column can have.
var columnTypes = []string{"text", "integer", "decimal", "number", "boolean", "date", "timestamp", "json"}

// columnsPage is the form that changes the columns of a feed.
type columnsPage struct {
	Head feedHead
	Rows []columnRow
	// Changes are what the form changes, in words.
	Changes []string
	Fault   string
}

// columnRow is a column as the feed has it, and as the form does.
type columnRow struct {
	feedmill.Column
	NewName, NewType, NewFormat, NewDescription, OnMisfit string

	NewHidden, Key bool
	Fault          string
	// Trial is what a new type would do to the stored values, nil where it was not tried.
	Trial *client.ColumnTrial
}

// Retyped reports whether the form gives the column another type.
func (r columnRow) Retyped() bool { return r.NewType != r.current() }

// current is the type that the column has, or gets with the next refresh.
func (r columnRow) current() string {
	if r.Retype != "" {
		return string(r.Retype)
	}
	return string(r.Type)
}

// Rest is how many different values the trial does not list.
func (r columnRow) Rest() int64 { return r.Trial.Distinct - int64(len(r.Trial.Examples)) }

// HasFormat reports whether values of the type can be written in several ways.
func (r columnRow) HasFormat() bool {
	return numeric(r.NewType) || r.NewType == "date" || r.NewType == "timestamp"
}

func showColumns(v *visit) error {
	head, err := headOf(v, "columns")
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, "feed_columns", head.Name, columnsPageOf(head))
}

func columnsPageOf(head feedHead) columnsPage {
	p := columnsPage{Head: head}
	for _, c := range head.Columns {
		r := columnRow{Column: c, NewName: c.Name, NewFormat: c.Format, NewDescription: c.Description, NewHidden: c.Hidden, OnMisfit: "null", Key: slices.Contains(head.Key, c.Name)}
		r.NewType = r.current()
		p.Rows = append(p.Rows, r)
	}
	return p
}

// changeColumns checks what the form changes, moves a row, or saves it. A new type that some
// values do not fit is saved only after the form has said what becomes of them.
func changeColumns(v *visit) error {
	head, err := headOf(v, "columns")
	if err != nil {
		return err
	}
	p := columnsPageOf(head)
	p.read(v)
	do, id, _ := strings.Cut(v.r.PostFormValue("do"), ":")
	if do == "up" || do == "down" {
		p.move(id, do)
	}
	changes := p.changes(head)
	if len(changes) == 0 || do == "up" || do == "down" {
		return v.render(http.StatusOK, "feed_columns", head.Name, p)
	}
	tried, err := p.try(v, changes)
	if err == nil && do == "save" && tried {
		_, err = v.api.ChangeColumns(v.r.Context(), head.ID, changes)
		if err == nil {
			return v.redirect(feedPagePath(head.ID) + "/columns?did=saved")
		}
	}
	if err != nil {
		return p.refuse(v, changes, err)
	}
	return v.render(http.StatusOK, "feed_columns", head.Name, p)
}

// read fills the rows with the fields of the form, in their order.
func (p *columnsPage) read(v *visit) {
	order := v.r.PostForm["column"]
	for i := range p.Rows {
		r := &p.Rows[i]
		if !slices.Contains(order, r.ID) {
			continue
		}
		field := func(name string) string { return strings.TrimSpace(v.r.PostFormValue(name + "." + r.ID)) }
		r.NewName, r.NewDescription, r.NewHidden = field("name"), field("description"), field("hidden") != ""
		if kind := field("type"); slices.Contains(columnTypes, kind) && !r.Key {
			r.NewType = kind
		}
		if v.r.PostForm.Has("format." + r.ID) {
			r.NewFormat = field("format")
		}
		if on := field("onMisfit"); on == "reject" {
			r.OnMisfit = on
		} else if on == "keep" {
			r.NewType = r.current()
		}
	}
	slices.SortStableFunc(p.Rows, func(a, b columnRow) int { return slices.Index(order, a.ID) - slices.Index(order, b.ID) })
}

func (p *columnsPage) move(id, way string) {
	at := slices.IndexFunc(p.Rows, func(r columnRow) bool { return r.ID == id })
	to := at + map[string]int{"up": -1, "down": 1}[way]
	if at >= 0 && to >= 0 && to < len(p.Rows) {
		p.Rows[at], p.Rows[to] = p.Rows[to], p.Rows[at]
	}
}

// changes are those of the form, which it also says in words.
func (p *columnsPage) changes(head feedHead) (changes []client.ColumnChange) {
	moved := !slices.EqualFunc(p.Rows, head.Columns, func(r columnRow, c feedmill.Column) bool { return r.ID == c.ID })
	if moved {
		p.Changes = append(p.Changes, "new order")
	}
	for i, r := range p.Rows {
		c := client.ColumnChange{ID: r.ID}
		say := func(words string) { p.Changes = append(p.Changes, r.Name+" "+words) }
		if r.NewName != r.Name {
			c.Name = client.To(r.NewName)
			say("renamed to " + r.NewName)
		}
		if r.Retyped() {
			c.Type, c.OnMisfit = client.To(r.NewType), client.To(r.OnMisfit)
			say("from " + r.current() + " to " + r.NewType)
		}
		if r.NewFormat != r.Format && r.HasFormat() {
			c.Format = client.To(r.NewFormat)
			say("format")
		}
		if r.NewHidden != r.Hidden {
			c.Hidden = client.To(r.NewHidden)
			say(map[bool]string{true: "hidden", false: "shown"}[r.NewHidden])
		}
		if r.NewDescription != r.Description {
			c.Description = client.To(r.NewDescription)
			say("description")
		}
		if c == (client.ColumnChange{ID: r.ID}) && !moved {
			continue
		}
		if moved {
			c.Position = client.To(i + 1)
		}
		changes = append(changes, c)
	}
	return changes
}

// try checks new types against the stored values. It reports whether the form has said what
// becomes of every value that does not fit.
func (p *columnsPage) try(v *visit, changes []client.ColumnChange) (decided bool, err error) {
	if !slices.ContainsFunc(changes, func(c client.ColumnChange) bool { return !c.Type.IsZero() }) {
		return true, nil
	}
	tried, err := v.api.TryColumns(v.r.Context(), p.Head.ID, changes)
	if err != nil {
		return false, err
	}
	decided = true
	for _, t := range tried.Changes {
		at := slices.IndexFunc(p.Rows, func(r columnRow) bool { return r.ID == t.ID })
		if r := &p.Rows[at]; r.Retyped() {
			r.Trial = &t
			decided = decided && (t.Misfits == 0 || v.r.PostForm.Has("onMisfit."+t.ID))
		}
	}
	return decided, nil
}

// refuse shows faults beside their fields.
func (p *columnsPage) refuse(v *visit, changes []client.ColumnChange, err error) error {
	problem, ok := errors.AsType[*client.Problem](err)
	if !ok {
		return err
	}
	detail, ok := refused(err)
	if !ok {
		return err
	}
	placed := false
	for _, fault := range problem.Errors {
		index, _, _ := strings.Cut(strings.TrimPrefix(fault.Where(), "/"), "/")
		n, ok := wholeOrText(index).(int)
		if !ok || n < 0 || n >= len(changes) {
			continue
		}
		at := slices.IndexFunc(p.Rows, func(r columnRow) bool { return r.ID == changes[n].ID })
		p.Rows[at].Fault, placed = strings.TrimSpace(p.Rows[at].Fault+" "+fault.Detail), true
	}
	if !placed {
		p.Fault = detail
	}
	return v.render(http.StatusUnprocessableEntity, "feed_columns", p.Head.Name, p)
}
