package ui

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/client"
)

// readOf reads a form as a stranger's and as a signed-in visitor's.
func readOf(contentType, body string, signedIn bool) (url.Values, error) {
	r := httptest.NewRequest(http.MethodPost, "/ui/sign-in", strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	v := &visit{s: &Server{forms: newFormSlots()}, w: httptest.NewRecorder(), r: r, over: new(transport), release: func() {}}
	defer func() { v.release() }()
	read := v.readStrangersForm
	if signedIn {
		read = func() error { return v.readSignedInForm("ws") }
	}
	err := read()
	return r.PostForm, err
}

// Forms of too many fields are refused, before and after sign-in.
func TestFieldsOfForms(t *testing.T) {
	const urlencoded = "application/x-www-form-urlencoded"
	for _, test := range []struct {
		fields   int
		signedIn bool
		fits     bool
	}{{strangerFields, false, true}, {strangerFields + 1, false, false}, {maxFields, true, true}, {maxFields + 1, true, false}} {
		got, err := readOf(urlencoded, strings.Repeat("&a", test.fields)[1:], test.signedIn)
		if fits := err == nil && len(got["a"]) == test.fields; fits != test.fits {
			t.Errorf("%d fields, signed in %t: %d fields, %v", test.fields, test.signedIn, len(got["a"]), err)
		}
	}
}

// FuzzForm reads any bytes as a form: its values or a refusal, in memory that the limits
// allow.
func FuzzForm(f *testing.F) {
	f.Add("application/x-www-form-urlencoded", "key=fm_a&next=%2Fui%2F", false)
	f.Add("application/x-www-form-urlencoded; charset=utf-8", strings.Repeat("&a", 100), true)
	f.Add("multipart/form-data; boundary=x", "--x\r\n", true)
	f.Add("application/x-www-form-urlencoded", "%zz;=", true)
	f.Fuzz(func(t *testing.T, contentType, body string, signedIn bool) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := readOf(contentType, body, signedIn)
		runtime.ReadMemStats(&after)
		most, fields := strangerForm, strangerFields
		if signedIn {
			most, fields = maxForm, maxFields
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(8*most)+1<<20 {
			t.Errorf("a form of %d bytes allocates %d", len(body), took)
		}
		if err != nil {
			if p, ok := errors.AsType[*client.Problem](err); !ok || p.Status < 400 || p.Status > 499 || p.Detail == "" {
				t.Errorf("the refusal is %v", err)
			}
			return
		}
		if strings.Count(body, "&") >= 10_000 {
			return // url.ParseQuery reads none of these
		}
		want, err := url.ParseQuery(body)
		if err != nil || len(body) > most || len(got) > fields || got.Encode() != want.Encode() {
			t.Errorf("%.100q is read as %.100q, %v", body, got.Encode(), err)
		}
	})
}

// Faults of the API become messages for the user of a form.
func TestFormFaults(t *testing.T) {
	fault := func(pointer, detail string) client.Fault { return client.Fault{Pointer: pointer, Detail: detail} }
	for _, c := range []struct {
		field string
		fault client.Fault
		want  string
	}{
		{"events", fault("/events", "This field is required."), "Choose at least one event type."},
		{"events", fault("/events", "events must have 1 to 50 elements; it has 0."), "Choose at least one event type."},
		{"events", fault("/events", "events must be an array of strings, not null."), "Choose at least one event type."},
		{"events", fault("/events/0", "Unknown event type."), "Unknown event type."},
		{"name", fault("/name", "The name must not be empty."), "Enter a name."},
		{"url", fault("/url", "url must not have a fragment."), "The URL must not have a fragment."},
		{"config/port", fault("/config/port", "port must be an integer between 1 and 65535."), "This field must be an integer between 1 and 65535."},
		{"config/user", fault("/config/user", "This field is required."), "Enter a user."},
		{"description", fault("/description", "description must not be empty."), "Enter a value."},
		{"", fault("/rules", "rules must be between 1 and 2."), "rules must be between 1 and 2."},
		{"", fault("/rules", "This field is required."), "This field is required."},
	} {
		faults, ok := faultsOf(&client.Problem{Status: http.StatusBadRequest, Errors: []client.Fault{c.fault}}, "events", "name", "url", "config/port", "config/user", "description")
		if !ok || len(faults) != 1 || faults[c.field] != c.want {
			t.Errorf("%+v is %q, want %q at %q", c.fault, faults, c.want, c.field)
		}
	}
}

// Errors of a query are at the fields of the form that its parts came from.
func TestQueryFaults(t *testing.T) {
	field := func(name string, chosen bool, aggregates ...string) queryField {
		return queryField{ViewField: client.ViewField{Name: name, Type: "integer"}, Key: name, Chosen: chosen, ChosenAggregates: aggregates}
	}
	p := &queryPage{
		Fields:  []queryField{field("id", true), field("unused", false), field("amount", true, "sum", "max"), field("day", false)},
		Filters: []queryFilter{{"day", "eq", "x"}, {"id", "gt", "true"}, {"day", "last day", "b"}},
		Joins:   []queryJoin{{View: "a"}, {View: "b"}}, Computed: []queryComputed{{"net", "1 +"}},
		Having: []queryHaving{{"amount", "sum", "gt", "x"}, {"id", "count", "gt", "x"}, {"amount", "max", "gt", "x"}},
	}
	if _, err := json.Marshal(p.spec()); err != nil {
		t.Error(err)
	}
	for pointer, want := range map[string]string{
		"/query/fields":                        "fields",
		"/query/fields/0/field":                "field.id",
		"/query/fields/0/as":                   "as.id",
		"/query/fields/1/aggregate/1/as":       "as.amount.max",
		"/query/fields/1/aggregate":            "field.amount",
		"/query/fields/0/filters/0/values/0":   "filter.1",
		"/query/fields/2/filters/0/op":         "filter.0.op",
		"/query/fields/2/filters/1/values/0/n": "filter.2",
		"/query/limit":                         "limit",
		"/query/joins/1/on/0/left":             "join.1",
		"/query/computed/0/expression":         "computed.0",
		"/query/fields/1/having/1/values/0":    "having.2",
		"/query/timezone":                      "timezone",
		"/query/sort/0/field":                  "sort",
		"/schedule/every":                      "every",
		"/serviceName":                         "",
	} {
		if !p.refuse(&client.Problem{Status: http.StatusBadRequest, Errors: []client.Fault{{Pointer: pointer, Detail: "Wrong."}}}) || len(p.Faults) != 1 || p.Faults[want] != "Wrong." {
			t.Errorf("a fault at %s is at %v, want %q", pointer, p.Faults, want)
		}
	}
	for _, status := range []int{http.StatusUnauthorized, http.StatusNotFound, http.StatusInternalServerError} {
		if p.refuse(&client.Problem{Status: status}) {
			t.Errorf("%d is shown in the form", status)
		}
	}
}
