package manual

import (
	"cmp"
	"encoding/json"
	"html/template"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/feedmill/feedmill/docs"
)

// operation is one operation of the API, ready to be shown.
type operation struct {
	Method, Path, Summary, ID, Anchor, Scope string
	Description                              template.HTML
	Parameters                               []field
	Bodies                                   []body
	Responses                                []response
	Samples                                  []sample
	// Example is the body of the first successful response.
	Example       template.HTML
	ExampleStatus string
}

// sample is an example in one language.
type sample struct {
	Name string
	Code template.HTML
}

type response struct {
	Status, Tone string
	Text         template.HTML
}

// groupOf lists the operations of a page, by their ids.
type groupOf struct {
	section, path, title, operations string
}

// groups are the pages of the API reference. An operation that is in none of them is on a page
// named after its tag.
var groups = []groupOf{
	{"Data feeds", "feeds", "Feeds", "listDataFeeds createDataFeed getDataFeed changeDataFeed deleteDataFeed changeColumns creationUrl"},
	{"Data feeds", "uploads", "Uploads", "previewDataFeed replaceDataFeed"},
	{"Data feeds", "rows", "Rows and queries", "readDataFeed queryDataFeed readProfile readChart readChanges"},
	{"Data feeds", "versions", "Versions", "readLineage listVersions getVersion changeVersion restoreVersion"},
	{"Data feeds", "refreshes", "Refreshes", "refreshDataFeed listRefreshes getRefresh cancelRefresh listRejects pauseDataFeed resumeDataFeed"},
	{"Data feeds", "links", "Links", "listLinks createLink getLink deleteLink readLink"},
	{"Query builder", "connections", "Connections", "listConnections createConnection getConnection changeConnection deleteConnection testConnection"},
	{"Query builder", "sql-views", "SQL views", "listSQLViews createSQLView getSQLView changeSQLView deleteSQLView"},
	{"Query builder", "services", "Services and queries", "listServices listViews listFields listFieldValues previewQuery"},
	{"Events", "events", "Events", "publishEvents listEvents getEvent streamEvents listEventTypes"},
	{"Events", "subscriptions", "Subscriptions", "listSubscriptions createSubscription getSubscription changeSubscription deleteSubscription testSubscription rotateSecret getSubscriptionStats"},
	{"Events", "deliveries", "Deliveries", "listDeliveries getDelivery retryDelivery listUndelivered retrySubscription"},
	{"Events", "replays", "Replays", "replaySubscription getReplay cancelReplay"},
	{"Events", "listeners", "Listeners", "createListener getListener streamListener answerListener deleteListener"},
	{"Administration", "workspaces", "Workspaces", "listWorkspaces createWorkspace getWorkspace changeWorkspace deleteWorkspace"},
	{"Administration", "portal-links", "Portal links", "listPortalLinks createPortalLink getPortalLink deletePortalLink"},
	{"Administration", "keys", "Keys", "listKeys createKey getKey revokeKey"},
	{"Administration", "sessions", "Sessions", "me createSession moveSession endSession"},
	{"Administration", "audit", "Audit log", "listAudit"},
	{"Administration", "operation", "Health and metrics", "health ready metrics operate openapi getProblemType docs restFeedSchema serviceSchema"},
}

// document is what is read of an OpenAPI document.
type document struct {
	Info struct{ Description string }
	Tags []struct{ Name, Description string }
	// Paths have an operation for each method, in lower case.
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Parameters map[string]parameter
		Responses  map[string]answer
		Schemas    map[string]*schema
	}
}

type described struct {
	OperationID, Summary, Description string
	Tags                              []string
	Parameters                        []parameter
	RequestBody                       struct {
		Required bool
		Content  map[string]media
	}
	Responses map[string]answer
}

type parameter struct {
	Ref                   string `json:"$ref"`
	Name, In, Description string
	Required              bool
	Schema                *schema
}

type answer struct {
	Ref         string `json:"$ref"`
	Description string
	Content     map[string]media
}

type media struct {
	Schema   *schema
	Example  json.RawMessage
	Examples map[string]struct{ Value json.RawMessage }
}

var methods = []string{"get", "post", "put", "patch", "delete"}

// addAPI adds the pages of the API reference.
func (b *book) addAPI(text []byte) {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		panic(err) // the document is part of the program
	}
	byID := make(map[string]operation)
	tags := make(map[string]string)
	var ids []string
	for _, at := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range methods {
			raw, ok := d.Paths[at][method]
			if !ok {
				continue
			}
			var o described
			if err := json.Unmarshal(raw, &o); err != nil {
				panic(err) // the document is part of the program
			}
			byID[o.OperationID] = d.operation(method, at, o)
			if len(o.Tags) > 0 {
				tags[o.OperationID] = o.Tags[0]
			}
			ids = append(ids, o.OperationID)
		}
	}
	all := slices.Clone(groups)
	for _, id := range ids {
		if !slices.ContainsFunc(all, func(g groupOf) bool { return slices.Contains(strings.Fields(g.operations), id) }) {
			all = inGroupOfTag(all, tags[id], id)
		}
	}
	first := render("api.md", overview(d.Info.Description))
	first.Source = ""
	b.pages[first.Path] = first
	b.API = []section{{Title: "API", Links: []link{{"Overview", "api"}}}}
	for _, g := range all {
		p := &page{Path: "api/" + g.path, Title: g.title, Kind: "group"}
		for _, id := range strings.Fields(g.operations) {
			if o, ok := byID[id]; ok {
				p.Operations = append(p.Operations, o)
				p.TOC = append(p.TOC, heading{Level: 2, Text: o.Summary, ID: o.Anchor, Paragraph: strings.ToUpper(o.Method) + " " + o.Path})
			}
		}
		if len(p.Operations) == 0 {
			continue
		}
		b.pages[p.Path] = p
		i := slices.IndexFunc(b.API, func(s section) bool { return s.Title == g.section })
		if i < 0 {
			b.API = append(b.API, section{Title: g.section})
			i = len(b.API) - 1
		}
		b.API[i].Links = append(b.API[i].Links, link{g.title, p.Path})
	}
}

func inGroupOfTag(all []groupOf, tag, id string) []groupOf {
	for i := range all {
		if all[i].title == tag || all[i].path == docs.Anchor(tag) {
			all[i].operations += " " + id
			return all
		}
	}
	return append(all, groupOf{"More", docs.Anchor(tag), tag, id})
}

// overview is the text of the first page, with the general rules of the document.
func overview(rules string) []byte {
	return []byte("# API reference\n\nEvery operation, with its parameters, responses and examples.\n\n## General rules\n\n" + rules + `
## Examples

The examples read two variables:

` + "```sh\nexport FEEDMILL_SERVER=http://127.0.0.1:8080\nexport FEEDMILL_API_KEY=fm_…\n```" + `

The Go examples use the package ` + "`github.com/feedmill/feedmill/client`" + `:

` + "```go\nc := client.New(os.Getenv(\"FEEDMILL_SERVER\"), os.Getenv(\"FEEDMILL_API_KEY\"))\n```" + `

The TypeScript and Python examples use the packages in ` + "`sdk/typescript` and `sdk/python`" + ` of the repository:

` + "```js\nimport { Client } from \"feedmill\";\n\nconst client = new Client(process.env.FEEDMILL_SERVER, process.env.FEEDMILL_API_KEY);\n```" + `

` + "```python\nimport os\n\nimport feedmill\n\nclient = feedmill.Client(os.environ[\"FEEDMILL_SERVER\"], os.environ[\"FEEDMILL_API_KEY\"])\n```" + `

The OpenAPI document is at [/openapi.json](/openapi.json).
`)
}

var scope = regexp.MustCompile("^Scope `([a-z:]+)`\\.? ?")

func (d *document) operation(method, at string, o described) operation {
	shown := operation{Method: strings.ToUpper(method), Path: at, Summary: o.Summary, ID: o.OperationID, Anchor: docs.Anchor(o.OperationID)}
	text := o.Description
	if m := scope.FindStringSubmatch(text); m != nil {
		shown.Scope = m[1]
		text = text[len(m[0]):]
	}
	shown.Description = markdown(text)
	for _, p := range o.Parameters {
		if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
			p = d.Components.Parameters[name]
		}
		f := d.field(p.Name, p.Schema, p.Required)
		if p.In != "path" && p.In != "query" {
			f.Type = p.In
		}
		if p.Description != "" {
			f.Text = inline(p.Description)
		}
		shown.Parameters = append(shown.Parameters, f)
	}
	shown.Bodies = d.bodies(o)
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		a := d.resolve(o.Responses[status])
		tone := "warn"
		switch {
		case status < "300":
			tone = "good"
		case status >= "500":
			tone = "bad"
		}
		shown.Responses = append(shown.Responses, response{status, tone, inline(a.Description)})
		if m, ok := a.Content["application/json"]; ok && status < "300" && shown.Example == "" {
			shown.ExampleStatus, shown.Example = status, highlight("json", d.example(m))
		}
	}
	shown.Samples = d.samples(method, at, o)
	return shown
}

func (d *document) resolve(a answer) answer {
	if name, ok := strings.CutPrefix(a.Ref, "#/components/responses/"); ok {
		return d.Components.Responses[name]
	}
	return a
}

// inline renders a text of one paragraph.
func inline(text string) template.HTML {
	s := strings.TrimSpace(string(markdown(text)))
	if strings.Count(s, "<p>") == 1 {
		s = strings.TrimSuffix(strings.TrimPrefix(s, "<p>"), "</p>")
	}
	return template.HTML(cmp.Or(s, "–"))
}
