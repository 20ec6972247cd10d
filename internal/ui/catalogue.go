package ui

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// cataloguePage is the page of all event types, with one of them in full.
type cataloguePage struct {
	Families []typeFamily
	Query    string
	Here     *url.URL
	// Types, Known and Unavailable are the numbers of types, of families, and of families that
	// are not available.
	Types, Known, Unavailable int
	// Chosen is the type that is shown in full, nil for none.
	Chosen *chosenType
}

// typeFamily is a family with its types.
type typeFamily struct {
	Name      string
	Available bool
	Types     []typeRow
	// Published is the number of events of the last 24 hours, and AtLeast says that some hours
	// were not counted.
	Published int64
	AtLeast   bool
	Open      bool
}

// typeRow is an event type in the list.
type typeRow struct {
	client.EventType
	// Short is the name without the family.
	Short     string
	Published int64
	AtLeast   bool
	Bars      template.HTML
	To        string
}

// chosenType is an event type in full.
type chosenType struct {
	typeRow
	Rows    []schemaRow
	Text    string
	Example string
	// Newest is the newest event, zero if there is none.
	Newest client.Event
	// Receivers are subscriptions that receive the type, and Others the number of those that are
	// not shown.
	Receivers []client.Subscription
	Others    int
	// Data and To are what is in the form of a test, Fault why it was refused, and Ping what came
	// of it.
	Data, To, Fault string
	Ping            *client.Ping
}

// schemaRow is a field of a schema.
type schemaRow struct {
	Depth                   int
	Name, Type, Description string
	Required                bool
}

// shownReceivers is how many subscriptions a type shows by name.
const shownReceivers = 50

func showCatalogue(v *visit) error {
	return catalogueWith(v, http.StatusOK, v.r.PathValue("type"), nil)
}

// catalogueWith shows the catalogue with a type in full, which change completes.
func catalogueWith(v *visit, status int, name string, change func(*chosenType)) error {
	types, err := v.api.EventTypes(v.r.Context())
	if err != nil {
		return err
	}
	here := &url.URL{Path: "/ui/events/catalogue", RawQuery: v.r.URL.RawQuery}
	p := cataloguePage{Query: strings.TrimSpace(v.r.URL.Query().Get("q")), Here: here, Types: len(types)}
	for _, t := range types {
		row := rowOfType(t)
		row.To = with(&url.URL{Path: here.Path + "/" + t.Name, RawQuery: here.RawQuery})
		if t.Name == name {
			if p.Chosen, err = chooseType(v, row); err != nil {
				return err
			}
		}
		p.add(row)
	}
	if name != "" && p.Chosen == nil {
		return &client.Problem{Status: http.StatusNotFound, Title: "Event type not found", Detail: "The catalogue has no type with this name."}
	}
	if p.Chosen != nil && change != nil {
		change(p.Chosen)
	}
	for _, f := range p.Families {
		if p.Known++; !f.Available {
			p.Unavailable++
		}
	}
	p.search()
	title := "Event catalogue"
	if p.Chosen != nil {
		title = p.Chosen.Name
	}
	return v.render(status, "catalogue", title, p)
}

// add adds a type to its family.
func (p *cataloguePage) add(row typeRow) {
	if n := len(p.Families); n == 0 || p.Families[n-1].Name != row.Family {
		p.Families = append(p.Families, typeFamily{Name: row.Family, Available: row.Status == "available"})
	}
	f := &p.Families[len(p.Families)-1]
	f.Types = append(f.Types, row)
	f.Published, f.AtLeast = f.Published+row.Published, f.AtLeast || row.AtLeast
	f.Open = f.Open || f.Available && row.Published > 0 || p.Chosen != nil && p.Chosen.Name == row.Name
}

// search leaves what has the text of the search in its name, description or fields.
func (p *cataloguePage) search() {
	if p.Query == "" {
		return
	}
	wanted := strings.ToLower(p.Query)
	for i := range p.Families {
		f := &p.Families[i]
		f.Open = true
		f.Types = slices.DeleteFunc(f.Types, func(r typeRow) bool {
			return !strings.Contains(strings.ToLower(r.Name+"\n"+r.Family+"\n"+r.Description+"\n"+string(r.Schema)), wanted)
		})
	}
	p.Families = slices.DeleteFunc(p.Families, func(f typeFamily) bool { return len(f.Types) == 0 })
}

func rowOfType(t client.EventType) typeRow {
	r := typeRow{EventType: t, Short: strings.TrimPrefix(t.Name, strings.TrimSuffix(t.Family, "*"))}
	for _, n := range t.Volume24h {
		if n == nil {
			r.AtLeast = true
			continue
		}
		r.Published += int64(*n)
	}
	r.Bars = hourBars(t.Volume24h, time.Now())
	return r
}

// hourBars draws the events of each hour, scaled to the largest. An hour that was not counted
// has no bar.
func hourBars(hours []*int, now time.Time) template.HTML {
	most := 0
	for _, n := range hours {
		if n != nil {
			most = max(most, *n)
		}
	}
	var b strings.Builder
	for i, n := range hours {
		if n == nil {
			continue
		}
		height, class := 1, "none"
		if *n > 0 {
			height, class = max(*n*16/most, 2), "some"
		}
		from := now.UTC().Truncate(time.Hour).Add(time.Duration(i-len(hours)+1) * time.Hour)
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="3" height="%d"><title>%s to %s UTC: %s</title></rect>`,
			class, i*4, 16-height, height, from.Format("15:04"), from.Add(time.Hour).Format("15:04"), plural(*n, "event"))
	}
	return template.HTML(`<svg class="hours" width="95" height="16" role="img" aria-label="Events in each of the last 24 hours, at most ` + number(most) + `">` + b.String() + `</svg>`)
}

// chooseType reads what the page shows of one type.
func chooseType(v *visit, row typeRow) (*chosenType, error) {
	c := &chosenType{typeRow: row, Rows: schemaRows(row.Schema), Text: laidOut(string(row.Schema))}
	sample, err := row.Sample()
	if err != nil {
		sample = json.RawMessage("{}")
	}
	c.Data = laidOut(string(sample))
	v.api.PageSize = 1
	for e, err := range v.api.Events(v.r.Context(), client.EventQuery{Type: row.Name}) {
		if err != nil {
			return nil, err
		}
		c.Newest = e
		break
	}
	example := c.Newest
	if example.ID == "" {
		example = client.Event{ID: "evt_01arz3ndektsv4rrffq69g5fav", Type: row.Name, Timestamp: time.Now().UTC().Truncate(time.Millisecond), Data: sample}
	}
	c.Example = laidOut(string(bodyOf(example)))
	v.api.PageSize = listedFeeds
	for s, err := range v.api.Subscriptions(v.r.Context()) {
		if err != nil {
			return nil, err
		}
		if s.State == "disabled" || !picks(s.Events, row.EventType) && !slices.Contains(s.Events, "*") {
			continue
		}
		if c.Receivers = append(c.Receivers, s); len(c.Receivers) == shownReceivers {
			break
		}
	}
	c.Others = max(row.Subscribers-len(c.Receivers), 0)
	return c, nil
}

// shownDepth is how deep the fields of a schema are shown.
const shownDepth = 2

// schemaRows are the fields of the objects of a schema, in its order.
func schemaRows(schema []byte) (rows []schemaRow) {
	v, ok := strictjson.Read(schema, strictjson.Part{}, func(string, string) bool { return true })
	if !ok {
		return nil
	}
	return fieldRows(&v, 0)
}

func fieldRows(schema *strictjson.Value, depth int) (rows []schemaRow) {
	properties := schema.Member("properties")
	if properties == nil || properties.Kind != '{' || depth > shownDepth {
		return nil
	}
	var required []string
	if list := schema.Member("required"); list != nil {
		for i := range list.Items {
			if list.Items[i].Kind == '"' {
				required = append(required, list.Items[i].Text())
			}
		}
	}
	for i := range properties.Members {
		m := &properties.Members[i]
		row := schemaRow{Depth: depth, Name: m.Name, Type: typeOf(&m.Value), Required: slices.Contains(required, m.Name)}
		if d := m.Value.Member("description"); d != nil && d.Kind == '"' {
			row.Description = d.Text()
		}
		rows = append(rows, row)
		inner := &m.Value
		if items := inner.Member("items"); items != nil {
			inner = items
		}
		rows = append(rows, fieldRows(inner, depth+1)...)
	}
	return rows
}

// typeOf is the type of a schema in words.
func typeOf(schema *strictjson.Value) string {
	var types []string
	for _, name := range []string{"anyOf", "oneOf"} {
		if of := schema.Member(name); of != nil {
			for i := range of.Items {
				types = append(types, typeOf(&of.Items[i]))
			}
		}
	}
	if t := schema.Member("type"); t != nil && t.Kind == '"' {
		types = append(types, t.Text())
	} else if t != nil {
		for i := range t.Items {
			if t.Items[i].Kind == '"' {
				types = append(types, t.Items[i].Text())
			}
		}
	}
	for i, name := range types {
		items, format := schema.Member("items"), schema.Member("format")
		switch {
		case name == "array" && items != nil:
			types[i] = "array of " + typeOf(items)
		case name == "string" && format != nil && format.Kind == '"':
			types[i] = format.Text()
		}
	}
	if len(types) == 0 {
		return "any"
	}
	return strings.Join(types, " | ")
}

// testType sends a test event of a type to one subscription.
func testType(v *visit) error {
	name, to, text := v.r.PathValue("type"), v.r.PostFormValue("subscription"), strings.TrimSpace(v.r.PostFormValue("data"))
	show := func(status int, fault string, ping *client.Ping) error {
		return catalogueWith(v, status, name, func(c *chosenType) { c.To, c.Data, c.Fault, c.Ping = to, text, fault, ping })
	}
	if to == "" {
		return show(http.StatusUnprocessableEntity, "Choose a subscription.", nil)
	}
	if fault := jsonFault(text); fault != "" {
		return show(http.StatusUnprocessableEntity, fault, nil)
	}
	ping, err := v.api.TestSubscription(v.r.Context(), to, client.TestEvent{Type: name, Data: json.RawMessage(text)})
	if err != nil {
		if detail, ok := refused(err); ok {
			return show(http.StatusUnprocessableEntity, detail, nil)
		}
		return err
	}
	return show(http.StatusOK, "", &ping)
}
