package app

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
)

// special is what the schemas of an operation cannot say. An operation that
// has no entry is driven by the document alone.
type special struct {
	// examplesOnly says that only the document's examples are good bodies.
	examplesOnly bool
	// allow are statuses that a request may get although the document allows
	// it, beyond 404 and 409.
	allow []int
	// tooLarge is a number of bytes that no body may have; 8 MiB and one by default.
	tooLarge int
	// data says that the body is data, in which anything may stand: nothing in
	// it is a fault of the request.
	data bool
	// undrawn are query parameters whose good values no schema can say.
	undrawn []string
	// fixed are query parameters that decide what the rest of the request may
	// be: this value is drawn and no other.
	fixed map[string]string
}

// ofUpload is a request whose body is data. Feeds that fetch theirs are told
// apart by a parameter, and so no schema can say what their body must be.
var ofUpload = map[string]string{"type": "dataUpload"}

// specials has the operations, by their ids, that need one.
var specials = map[string]special{
	// Their schemas cannot say which names, URLs and times go together.
	"publishEvents":       {examplesOnly: true},
	"createKey":           {examplesOnly: true},
	"createSubscription":  {examplesOnly: true},
	"changeSubscription":  {examplesOnly: true},
	"rotateSecret":        {examplesOnly: true},
	"testSubscription":    {examplesOnly: true},
	"testListener":        {examplesOnly: true},
	"previewSubscription": {examplesOnly: true},
	"replaySubscription":  {examplesOnly: true},
	"createListener":      {examplesOnly: true},
	"createConnection":    {examplesOnly: true},
	// Groups have no cursor, and not every text that fits the pattern of an id is one.
	"listUndelivered":  {undrawn: []string{"groupBy", "subscriptionId"}},
	"retryUndelivered": {examplesOnly: true},
	// Which settings there are depends on the connector.
	"changeConnection": {examplesOnly: true, allow: []int{400}},
	// There is nothing behind the connections of the examples.
	"previewQuery":  {examplesOnly: true, allow: []int{400, 422}},
	"createSQLView": {examplesOnly: true, allow: []int{422}},
	"changeSQLView": {examplesOnly: true, allow: []int{422}},
	// No service is called by a name that is drawn.
	"creationUrl": {allow: []int{400}},
	// The key of the example is none.
	"createSession": {examplesOnly: true, allow: []int{401}},
	// What is read as another format than it is can turn out to be no data.
	"createDataFeed":  {data: true, fixed: ofUpload, undrawn: append([]string{"path", "explode", "sheet", "entry", "columns", "sourceOf", "preview", "mode", "key"}, feedmill.ReadingOptionNames...), allow: []int{422}},
	"previewDataFeed": {data: true, fixed: ofUpload, undrawn: append([]string{"preview", "compare", "path", "explode", "sheet", "entry", "columns"}, feedmill.ReadingOptionNames...), allow: []int{422}},
	"replaceDataFeed": {data: true, undrawn: append([]string{"preview", "path", "explode", "sheet", "entry", "columns", "mode", "key"}, feedmill.ReadingOptionNames...), allow: []int{422}},
	"changeDataFeed":  {examplesOnly: true},
	"createLink":      {examplesOnly: true},
	// Which durations and return URLs are good no schema can say.
	"createPortalLink": {examplesOnly: true},
	"readLink":         {undrawn: []string{"csv", "numbers", "version"}},
	"changeColumns":    {examplesOnly: true, allow: []int{422}},
	"readDataFeed":     {undrawn: []string{"fields", "filter", "sort", "version", "csv", "numbers"}},
	"readProfile":      {undrawn: []string{"filter", "version"}},
	// No column is called by a name that is drawn.
	"readChart":     {allow: []int{400}, undrawn: []string{"measure", "aggregate", "split", "filter", "timezone", "version"}},
	"readChanges":   {fixed: map[string]string{"from": "1"}, undrawn: []string{"fields", "filter", "sort", "csv", "numbers"}},
	"queryDataFeed": {examplesOnly: true, undrawn: []string{"version", "csv", "numbers"}},
}

// TestConformance holds the running server and the document against each other:
// what the document allows is not refused as malformed, what it does not allow
// is refused with the place of the fault, and every answer is one that the
// document promises.
func TestConformance(t *testing.T) {
	d := readDocument(t)
	s, _ := mailing(t)
	drive := &driver{service: s, generator: &generator{document: d, known: new(resources)}, lacking: make(map[string]string)}
	for _, scope := range everyScope {
		others := slices.DeleteFunc(slices.Clone(everyScope), func(other string) bool { return other == scope })
		drive.lacking[scope] = s.newKey(t, "", others...).Key
	}
	drive.known.hidden = drive.ownIDs(t)
	// What makes things comes first, what removes them last.
	operations := slices.Clone(d.operations)
	rank := map[string]int{"POST": -1, "DELETE": 1}
	slices.SortStableFunc(operations, func(a, b operation) int { return rank[a.method] - rank[b.method] })
	for _, op := range operations {
		t.Run(op.id, func(t *testing.T) {
			checks := 3
			if len(op.bodies)+len(op.with("path"))+len(op.with("query")) > 0 {
				checks = longOr(5, 20)
			}
			boundChecks(t, checks)
			drive.eachFault(t, op) // first, as a good request can delete the last resource
			rapid.Check(t, func(t *rapid.T) { drive.check(t, op) })
		})
	}
}

// boundChecks lowers the number of a rapid check's runs, unless it was given.
func boundChecks(t *testing.T, n int) {
	t.Helper()
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(n), "rapid.shrinktime": "5s"} {
		f := flag.Lookup(name)
		if before := f.Value.String(); before == f.DefValue {
			f.Value.Set(value)
			t.Cleanup(func() { f.Value.Set(before) })
		}
	}
}

type driver struct {
	*service
	*generator
	lacking map[string]string // keys that hold every scope but one, by that one
}

// ownIDs are the ids of what the test itself stands on.
func (d *driver) ownIDs(t *testing.T) map[string]bool {
	own := make(map[string]bool)
	for _, path := range []string{"/keys", "/workspaces"} {
		for _, id := range anyID.FindAllString(d.send(t, request{method: "GET", path: path}).body, -1) {
			own[id] = true
		}
	}
	return own
}

// check sends a request that the document allows, and one with a fault in it.
func (d *driver) check(t *rapid.T, op operation) {
	good := d.draft(t, op)
	q := good.request()
	if !d.allows(op, q) {
		t.Fatalf("the test made a request that the document does not allow: %v", q)
	}
	answer := d.send(t, q)
	d.checkAnswer(t, op, q, answer)
	accepted := answer.status < 400 || answer.status == 404 || answer.status == 409 || slices.Contains(specials[op.id].allow, answer.status)
	if !accepted {
		t.Fatalf("%v is allowed by the document and answered %d: %s", q, answer.status, answer.body)
	}
	if op.method == "DELETE" && answer.status < 300 {
		d.known.forget(q.path)
	}
	d.known.learn(answer)

	if !good.media.isJSON() || specials[op.id].data {
		return
	}
	bad := good
	bad.params, bad.header = d.pathParams(t, op), nil
	m := rapid.SampledFrom(mutations).Draw(t, "mutation")
	place, ok := m.apply(t, &bad)
	q = bad.request()
	if !ok || (!m.always && d.allows(op, q)) {
		return
	}
	answer = d.send(t, q)
	d.checkAnswer(t, op, q, answer)
	if answer.status == 404 && len(op.with("path")) > 0 || answer.status == 413 && len(q.body) > 1<<20 {
		return
	}
	if p := answer.problem(t); answer.status != 400 || !slices.Contains(p.places(), "pointer "+place) {
		t.Fatalf("%s at %q: %v is answered %d: %s", m.name, place, q, answer.status, answer.body)
	}
}

// checkAnswer checks what holds for every answer.
func (d *driver) checkAnswer(t rapid.TB, op operation, q request, r reply) {
	t.Helper()
	for _, f := range d.faultsOfAnswer(op, r) {
		t.Errorf("%s: %v: %s\n%d %v %s", op.id, q, f, r.status, r.header, r.body)
	}
	if r.status >= 500 {
		t.Errorf("%s: %v is answered %d: %s", op.id, q, r.status, r.body)
	}
	if r.status >= 400 {
		p := r.problem(t)
		if (r.status == 400 || r.status == 415) && len(p.Errors) == 0 {
			t.Errorf("%s: %v: the answer does not say where: %s", op.id, q, r.body)
		}
	}
}

// eachFault makes the faults that need no luck to be found, one by one.
func (d *driver) eachFault(t *testing.T, op operation) {
	good := rapid.Custom(func(t *rapid.T) draft { return d.draft(t, op) }).Example(1)
	good.header = nil
	for name, v := range d.known.of(op.path) {
		good.params[name] = v
	}
	for _, c := range d.faults(op, good) {
		if !op.promises(strconv.Itoa(c.status)) && c.status == 400 {
			continue // the page or the metrics, which take whatever comes
		}
		t.Run(c.name, func(t *testing.T) {
			answer := d.send(t, c.request)
			d.checkAnswer(t, op, request{method: c.request.method, path: c.request.path}, answer)
			p := answer.problem(t)
			if answer.status != c.status || (c.place != "" && !slices.Contains(p.places(), c.place)) || !strings.Contains(p.Detail, c.detail) {
				t.Errorf("answered %d: %s\nwant %d with a fault at %q and %q in the detail", answer.status, answer.body, c.status, c.place, c.detail)
			}
		})
	}
}

// wrong is a request with a fault, and the answer that it must get.
type wrong struct {
	name    string
	request request
	status  int
	place   string // of a fault that must be listed
	detail  string // part of the problem's detail
}

func (d *driver) faults(op operation, good draft) []wrong {
	with := func(change func(*draft, *request)) request {
		g := good
		g.query = slices.Clone(g.query)
		q := g.request()
		change(&g, &q)
		return q
	}
	query := func(more ...[2]string) request {
		g := good
		g.query = append(slices.Clone(g.query), more...)
		return g.request()
	}
	list := []wrong{
		{"unknown parameter", query([2]string{"noSuchParameter", "1"}), 400, "parameter noSuchParameter", ""},
		{"unreadable query", with(func(_ *draft, q *request) { q.path, _, _ = strings.Cut(q.path, "?"); q.path += "?a=%zz" }), 400, "parameter ?", ""},
	}
	for _, p := range op.with("query") {
		if p.schema["type"] == "array" {
			continue
		}
		var others [][2]string
		for _, kv := range good.query {
			if kv[0] != p.name {
				others = append(others, kv)
			}
		}
		g := good
		g.query = append(slices.Clone(others), [2]string{p.name, "1"}, [2]string{p.name, "1"})
		list = append(list, wrong{"parameter " + p.name + " twice", g.request(), 400, "parameter " + p.name, ""})
		for _, value := range []string{"", "no such thing", "-1", "0", "1e9", "99999999999999999999"} {
			g.query = append(slices.Clone(others), [2]string{p.name, value})
			if q := g.request(); !d.allows(op, q) {
				list = append(list, wrong{fmt.Sprintf("parameter %s %q", p.name, value), q, 400, "parameter " + p.name, ""})
			}
		}
	}
	if op.scope != "" {
		list = append(list, d.credentialFaults(op, good)...)
	}
	if op.scope != "" && (op.method == "POST" || op.method == "PUT") {
		for name, value := range map[string]string{"long": strings.Repeat("k", 256), "with a space": "a b", "empty": ""} {
			q := good.request()
			q.header = append(slices.Clone(q.header), [2]string{"Idempotency-Key", value})
			list = append(list, wrong{"Idempotency-Key " + name, q, 400, "header Idempotency-Key", ""})
		}
	}
	if len(op.bodies) > 0 {
		list = append(list, bodyFaults(op, good)...)
	}
	return list
}

func (d *driver) credentialFaults(op operation, good draft) []wrong {
	as := func(authorization string) request {
		q := good.request()
		q.header = append(slices.Clone(q.header), [2]string{"Authorization", authorization})
		return q
	}
	none := good.request()
	none.key = "-"
	lacking := good.request()
	lacking.key = d.lacking[op.scope]
	wrongs := []wrong{
		{"no credential", none, 401, "", ""},
		{"unknown key", as("Bearer fm_" + strings.Repeat("A", 43)), 401, "", ""},
		{"another scheme", as("Basic YTpi"), 401, "", ""},
		{"empty credential", as("Bearer"), 401, "", ""},
	}
	if op.scope == anyScope {
		return wrongs
	}
	return append(wrongs, wrong{"lacking scope", lacking, 403, "", strconv.Quote(op.scope)})
}

// anyScope is what the document calls the scope of operations for every credential.
const anyScope = "any"

func bodyFaults(op operation, good draft) []wrong {
	for _, m := range op.bodies {
		if m.isJSON() && m.name != good.media.name && !good.media.isJSON() {
			good.media, good.body, good.raw = m, map[string]any{}, ""
		}
	}
	with := func(body, contentType string) request {
		g := good
		g.raw = body
		q := g.request()
		q.header = append(slices.Clone(q.header), [2]string{"Content-Type", contentType})
		return q
	}
	if specials[op.id].data { // a format that is named counts more than the media type
		good.query = slices.DeleteFunc(slices.Clone(good.query), func(kv [2]string) bool { return kv[0] == "format" })
	}
	text := good.request().body
	list := []wrong{{"unknown content type", with(text, "application/x-no-such-thing"), 415, "header Content-Type", ""}}
	if !good.media.isJSON() || specials[op.id].data {
		return list
	}
	media := good.media.name
	tooLarge := max(specials[op.id].tooLarge, 8<<20+1)
	empty := with(text, media)
	empty.body = ""
	list = append(
		list,
		wrong{"wrong charset", with(text, media+"; charset=utf-16"), 415, "header Content-Type", ""},
		wrong{"something after it", with(text+" {}", media), 400, "pointer ", ""},
		wrong{"cut short", with(text[:len(text)-1], media), 400, "", ""},
		wrong{"too deep", with(strings.Repeat("[", 65)+strings.Repeat("]", 65), media), 400, "", ""},
		wrong{"no JSON", with("<xml/>", media), 400, "pointer ", ""},
		wrong{"too large", with(text+strings.Repeat(" ", tooLarge-len(text)), media), 413, "", ""},
	)
	if op.bodyRequired {
		list = append(list, wrong{"no body", empty, 400, "pointer ", ""})
	}
	return list
}
