package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

func TestCloudEvents(t *testing.T) {
	const one = `{"specversion":"1.0","id":"1","source":"/shop","type":"metric.created","subject":"m_1","time":"2026-11-15T13:00:00+01:00",
		"datacontenttype":"application/json; charset=utf-8","dataschema":"https://example.com/s","traceparent":"00-x","priority":5,"data":{"n":1.10}}`
	for _, c := range []struct {
		name, body   string
		header       []string
		want         string // the answer
		payload, key string // of the last event
	}{
		{
			name: "structured", body: one, header: []string{"Content-Type", "application/cloudevents+json; charset=UTF-8"},
			want:    `{"accepted":[{"id":"evt_1","publisherId":"1","type":"metric.created","duplicate":false}]}`,
			payload: `"timestamp":"2026-11-15T12:00:00.000Z","resourceId":"m_1","data":{"n":1.1}}`, key: "ce\x1f/shop\x1f1",
		},
		{
			name: "the least", body: `{"specversion":"1.0","id":"1","source":"s","type":"tag.created","subject":null,"time":null}`, header: []string{"Content-Type", "application/cloudevents+json"},
			want: `{"accepted":[{"id":"evt_1","publisherId":"1","type":"tag.created","duplicate":false}]}`, payload: `"resourceId":null,"data":{}}`, key: "ce\x1fs\x1f1",
		},
		{
			name: "batch", body: `[` + one + `,` + one + `,{"specversion":"1.0","id":"1","source":"/other","type":"tag.created","data":[1]}]`, header: []string{"Content-Type", "application/cloudevents-batch+json"},
			want: `{"accepted":[{"id":"evt_1","publisherId":"1","type":"metric.created","duplicate":false},{"id":"evt_1","publisherId":"1","type":"metric.created","duplicate":true},
				{"id":"evt_2","publisherId":"1","type":"tag.created","duplicate":false}]}`,
			payload: `"resourceId":null,"data":[1]}`, key: "ce\x1f/other\x1f1",
		},
		{
			name: "binary", body: ` {"n":2} `,
			header:  []string{"Content-Type", "application/json", "ce-specversion", "1.0", "ce-id", "A%2d1", "ce-source", "urn:x", "ce-type", "metric.created", "ce-subject", "Z%C3%BCrich%20%25", "ce-time", "2026-11-15T12:00:00Z", "ce-extra", "1"},
			want:    `{"accepted":[{"id":"evt_1","publisherId":"A-1","type":"metric.created","duplicate":false}]}`,
			payload: `"timestamp":"2026-11-15T12:00:00.000Z","resourceId":"Zürich %","data":{"n":2}}`, key: "ce\x1furn:x\x1fA-1",
		},
		{
			name: "binary with quotes and no data", body: ``,
			header: []string{"ce-specversion", "1.0", "ce-id", `"a\"b%20"`, "ce-source", "x", "ce-type", "tag.created"},
			want:   `{"accepted":[{"id":"evt_1","publisherId":"a\"b ","type":"tag.created","duplicate":false}]}`, payload: `"resourceId":null,"data":{}}`, key: "ce\x1fx\x1fa\"b ",
		},
		{
			name: "binary with other JSON", body: `"text"`,
			header: []string{"Content-Type", "application/vnd.shop+json", "ce-specversion", "1.0", "ce-id", "1", "ce-source", "x", "ce-type", "tag.created"},
			want:   `{"accepted":[{"id":"evt_1","publisherId":"1","type":"tag.created","duplicate":false}]}`, payload: `"resourceId":null,"data":"text"}`, key: "ce\x1fx\x1f1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			a := w.do(t, "POST", "/events", c.body, c.header...)
			checkAnswer(t, a.Code, a.Body.String(), http.StatusAccepted, c.want)
			events := w.events(t)
			if n := len(events); n == 0 || !strings.HasSuffix(string(events[n-1].Payload), c.payload) {
				t.Errorf("the events are %+v, want %s", events, c.payload)
			}
			same := feedmill.Event{ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: w.workspace, Type: "tag.created", DedupeKey: c.key, Timestamp: now(), Payload: []byte(`{}`)}
			if accepted, _, err := w.db.Accept(t.Context(), []feedmill.Event{same}, nil); err != nil || !accepted[0].Duplicate {
				t.Errorf("no event is known by %q, %v", c.key, err)
			}
		})
	}
}

// The id of a plain event and that of a CloudEvent are not the same.
func TestDedupeKeysDoNotMeet(t *testing.T) {
	w := newWorld(t)
	w.do(t, "POST", "/events", `{"id":"1","type":"tag.created"}`)
	w.do(t, "POST", "/events", `{"id":"1","source":"s","specversion":"1.0","type":"tag.created"}`, "Content-Type", structuredMode)
	if len(w.events(t)) != 2 {
		t.Errorf("%d events were accepted, want 2", len(w.events(t)))
	}
}

func TestBadCloudEvents(t *testing.T) {
	const good = `"specversion":"1.0","id":"1","source":"/shop","type":"tag.created"`
	binary := func(change ...string) []string {
		header := []string{"ce-specversion", "1.0", "ce-id", "1", "ce-source", "s", "ce-type", "tag.created"}
		for i := 0; i < len(change); i += 2 {
			if at := slices.Index(header, change[i]); at >= 0 {
				header[at+1] = change[i+1]
			} else {
				header = append(header, change[i:i+2]...)
			}
		}
		return header
	}
	structured, batch := []string{"Content-Type", structuredMode}, []string{"Content-Type", batchMode}
	for _, c := range []struct {
		name, body string
		header     []string
		status     int
		places     []string // a header's has a colon at the end
	}{
		{"nothing", `{}`, structured, 400, []string{"/specversion", "/id", "/source", "/type"}},
		{"null is nothing", `{"specversion":null,"id":null,"source":null,"type":null}`, structured, 400, []string{"/specversion", "/id", "/source", "/type"}},
		{"empty", `{"specversion":"","id":"","source":"","type":""}`, structured, 400, []string{"/specversion", "/id", "/source", "/type"}},
		{"wrong types", `{"specversion":1.0,"id":1,"source":{},"type":[],"subject":true,"time":5,"datacontenttype":1}`, structured, 400, []string{"/specversion", "/id", "/source", "/type", "/subject", "/time", "/datacontenttype"}},
		{"version", `{"specversion":"0.3","id":"1","source":"s","type":"tag.created"}`, structured, 400, []string{"/specversion"}},
		{"source", `{"specversion":"1.0","id":"1","source":"%zz","type":"tag.created"}`, structured, 400, []string{"/source"}},
		{"time", `{` + good + `,"time":"now"}`, structured, 400, []string{"/time"}},
		{"subject", `{` + good + `,"subject":"` + strings.Repeat("s", 501) + `"}`, structured, 400, []string{"/subject"}},
		{"type", `{"specversion":"1.0","id":"1","source":"s","type":"tag.craeted"}`, structured, 400, []string{"/type"}},
		{"reserved", `{"specversion":"1.0","id":"1","source":"s","type":"test.ping"}`, structured, 400, []string{"/type"}},
		{"unavailable", `{"specversion":"1.0","id":"1","source":"s","type":"goal.created"}`, structured, 409, []string{"/type"}},
		{"base64", `{` + good + `,"data_base64":"e30="}`, structured, 400, []string{"/data_base64"}},
		{"xml", `{` + good + `,"datacontenttype":"application/xml","data":"<x/>"}`, structured, 400, []string{"/datacontenttype"}},
		{"attribute's name", `{` + good + `,"Subject":"x","a-b":1}`, structured, 400, []string{"/Subject", "/a-b"}},
		{"key twice", `{` + good + `,"id":"2"}`, structured, 400, []string{"/id"}},
		{"key twice in data", `{` + good + `,"data":{"a":1,"a":2}}`, structured, 400, []string{"/data/a"}},
		{"not an object", `"x"`, structured, 400, []string{""}},
		{"a batch as one", `[{` + good + `}]`, structured, 400, []string{""}},
		{"one as a batch", `{` + good + `}`, batch, 400, []string{""}},
		{"empty batch", `[]`, batch, 400, []string{""}},
		{"the second of a batch", `[{` + good + `},{` + good + `,"time":"x","type":"y"}]`, batch, 400, []string{"/1/type", "/1/time"}},
		{"an unknown type in a batch", `[{` + good + `},{"specversion":"1.0","id":"1","source":"s","type":"x"}]`, batch, 400, []string{"/1/type"}},
		{"too large", `{` + good + `,"data":"` + strings.Repeat("x", feedmill.MaxEventBytes) + `"}`, structured, 413, []string{""}},
		{"charset", `{` + good + `}`, []string{"Content-Type", structuredMode + "; charset=latin1"}, 415, []string{"Content-Type:"}},

		{"binary: nothing", `{}`, []string{"ce-id", "1"}, 400, []string{"ce-specversion:", "ce-source:", "ce-type:"}},
		{"binary: version", `{}`, binary("ce-specversion", "1.1"), 400, []string{"ce-specversion:"}},
		{"binary: empty", `{}`, binary("ce-id", ""), 400, []string{"ce-id:"}},
		{"binary: bad escape", `{}`, binary("ce-subject", "50%"), 400, []string{"ce-subject:"}},
		{"binary: no UTF-8", `{}`, binary("ce-subject", "%ff"), 400, []string{"ce-subject:"}},
		{"binary: quotes", `{}`, binary("ce-subject", `"a`), 400, []string{"ce-subject:"}},
		{"binary: quotes inside", `{}`, binary("ce-subject", `"a"b"`), 400, []string{"ce-subject:"}},
		{"binary: control", `{}`, binary("ce-id", "a%00"), 400, []string{"ce-id:"}},
		{"binary: time", `{}`, binary("ce-time", "now"), 400, []string{"ce-time:"}},
		{"binary: unknown type", `{}`, binary("ce-type", "x"), 400, []string{"ce-type:"}},
		{"binary: unknown type and bad time", `{}`, binary("ce-type", "x", "ce-time", "now"), 400, []string{"ce-time:", "ce-type:"}},
		{"binary: data", `{"a":1,"a":2}`, binary(), 400, []string{"/a"}},
		{"binary: data is no JSON", `{"a":`, binary(), 400, []string{"/a"}},
		{"binary: xml", `<x/>`, binary("Content-Type", "application/xml"), 415, []string{"Content-Type:"}},
		{"binary: too large", `"` + strings.Repeat("x", feedmill.MaxEventBytes) + `"`, binary(), 413, []string{""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newWorld(t).do(t, "POST", "/events", c.body, c.header...)
			p := readProblem(t, a)
			var places []string
			for _, e := range p.Errors {
				if e.Pointer != nil {
					places = append(places, *e.Pointer)
				} else {
					places = append(places, e.Header+":")
				}
			}
			if a.Code != c.status || !slices.Equal(places, c.places) {
				t.Errorf("answered %d at %q: %s\nwant %d at %q", a.Code, places, a.Body, c.status, c.places)
			}
		})
	}
}

func TestRepeatedAttribute(t *testing.T) {
	w := newWorld(t)
	r := httptest.NewRequest("POST", "/events", strings.NewReader("{}"))
	for _, kv := range [][2]string{{"ce-id", "1"}, {"ce-id", "2"}, {"ce-source", "s"}, {"ce-type", "tag.created"}, {"ce-specversion", "1.0"}} {
		r.Header.Add(kv[0], kv[1])
	}
	a := httptest.NewRecorder()
	w.ServeHTTP(a, r)
	if p := readProblem(t, a); a.Code != 400 || len(p.Errors) != 1 || p.Errors[0].Header != "ce-id" {
		t.Errorf("answered %d: %s", a.Code, a.Body)
	}
}

// Faults that the publisher finds come to the place where the client wrote.
func TestPlacesOfFaults(t *testing.T) {
	one, many := eventForm{one: true}, eventForm{}
	structured, binary := eventForm{one: true, cloud: true}, eventForm{one: true, cloud: true, binary: true}
	for _, c := range []struct {
		form     eventForm
		at, want string
	}{
		{one, "/0/type", "/type"},
		{one, "/0/data/a~1b/0", "/data/a~1b/0"},
		{one, "/0", ""},
		{many, "/12/type", "/12/type"},
		{many, "/3", "/3"},
		{structured, "/0/resourceId", "/subject"},
		{structured, "/0/timestamp", "/time"},
		{structured, "/0/data/timestamp", "/data/timestamp"},
		{eventForm{cloud: true}, "/7/resourceId", "/7/subject"},
		{binary, "/0/type", "ce-type:"},
		{binary, "/0/resourceId", "ce-subject:"},
		{binary, "/0/data", ""},
		{binary, "/0/data/a/b", "/a/b"},
		{binary, "/0", ""},
	} {
		f := c.form.place(feedmill.Fault{Pointer: c.at})
		got := f.Pointer
		if f.Header != "" {
			got = f.Pointer + f.Header + ":"
		}
		if got != c.want {
			t.Errorf("%s comes to %q in %+v, want %q", c.at, got, c.form, c.want)
		}
	}
	other := fmt.Errorf("accepting: %w", feedmill.ErrUnavailable)
	if got := one.explain(other); got != other {
		t.Errorf("%v became %v", other, got)
	}
}

func FuzzDecodeAttribute(f *testing.F) {
	for _, seed := range []string{"plain", "%20", `"a\"b"`, `"`, `"\`, "%", "%ff", "é", `"a"b`, `""`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		decoded, ok := decodeAttribute(text)
		if ok && !strings.ContainsAny(text, `"%`) && decoded != text {
			t.Fatalf("%q became %q", text, decoded)
		}
	})
}
