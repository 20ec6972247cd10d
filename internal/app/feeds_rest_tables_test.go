package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Columns are picked, renamed and added in every format that has columns.
func TestColumnsOfTables(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shop := strings.Trim(r.URL.Path, "/")
		switch r.URL.Query().Get("as") {
		case "csv":
			w.Header().Set("Content-Type", "text/csv")
			fmt.Fprintf(w, "Nr;Betrag;Netto (EUR);Notiz\n%s1;1.234,50;2,5;a\n%s2;7,00;3,5;b\n", shop, shop)
		case "more":
			w.Header().Set("Content-Type", "text/csv")
			if shop == "b" {
				fmt.Fprint(w, "n,extra,m\n2,x,3\n")
				return
			}
			fmt.Fprint(w, "n,m\n1,2\n")
		case "json":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"rows":[{"id":0}%s],"has_more":true}`, strings.Repeat(`,{"id":1}`, 149))
		case "page":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, map[string]string{"a": `{"rows":[{"id":1}]}`, "b": `{"busy":true}`}[shop])
		case "xml":
			w.Header().Set("Content-Type", "application/xml")
			fmt.Fprintf(w, `<all><o id="%s1"><sum><net>1.50</net></sum></o><o id="%s2"><sum><net>2.50</net></sum></o></all>`, shop, shop)
		}
	}))
	t.Cleanup(api.Close)
	each := `,"each":{"in":{"values":[{"id":"a","n":1},{"id":"b","n":2}]},"as":"shop","include":["id","n"]}`
	for _, test := range []struct{ name, as, rest, types, want string }{
		{
			"the parent's columns", "csv", each, "Nr text, Betrag decimal, Netto (EUR) decimal, Notiz text, shop.id text, shop.n integer",
			`{"Nr":"a1","Betrag":1234.50,"Netto (EUR)":2.5,"Notiz":"a","shop.id":"a","shop.n":1}
{"Nr":"a2","Betrag":7.00,"Netto (EUR)":3.5,"Notiz":"b","shop.id":"a","shop.n":1}
{"Nr":"b1","Betrag":1234.50,"Netto (EUR)":2.5,"Notiz":"a","shop.id":"b","shop.n":2}
{"Nr":"b2","Betrag":7.00,"Netto (EUR)":3.5,"Notiz":"b","shop.id":"b","shop.n":2}
`,
		},
		{
			"picked", "csv", each + `,"columns":[{"name":"net","path":"$['Netto (EUR)']"},{"name":"amount","path":"$.Betrag","type":"text"}],"otherColumns":"drop","key":[]`,
			"net decimal, amount text, shop.id text, shop.n integer",
			`{"net":2.5,"amount":"1.234,50","shop.id":"a","shop.n":1}
{"net":3.5,"amount":"7,00","shop.id":"a","shop.n":1}
{"net":2.5,"amount":"1.234,50","shop.id":"b","shop.n":2}
{"net":3.5,"amount":"7,00","shop.id":"b","shop.n":2}
`,
		},
		{
			"a column that comes later", "more", each + `,"columns":[{"name":"e","path":"$.extra"}]`, "e text, n integer, m integer, shop.id text, shop.n integer",
			`{"e":null,"n":1,"m":2,"shop.id":"a","shop.n":1}
{"e":"x","n":2,"m":3,"shop.id":"b","shop.n":2}
`,
		},
		{
			"XML", "xml", each + `,"columns":[{"name":"net","path":"$.sum.net"}]`, "net decimal, @id text, shop.id text, shop.n integer",
			`{"net":1.50,"@id":"a1","shop.id":"a","shop.n":1}
{"net":2.50,"@id":"a2","shop.id":"a","shop.n":1}
{"net":1.50,"@id":"b1","shop.id":"b","shop.n":2}
{"net":2.50,"@id":"b2","shop.id":"b","shop.n":2}
`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := s.fetched(t, "", `{"request":{"url":"`+api.URL+`/{{shop.id}}?as=`+test.as+`"}`+test.rest+`}`)
			if f.State != "ready" || f.types() != test.types {
				t.Fatalf("%s %+v", f.types(), f.LastError)
			}
			if got := s.read(t, f.ID, ""); got != test.want {
				t.Errorf("%s\nwant\n%s", got, test.want)
			}
		})
	}
	// What does not fit the page is no fault of this service.
	f := s.fetched(t, "", `{"request":{"url":"`+api.URL+`/a?as=xml"},"response":{"path":"$.o[*]"}}`)
	if e := f.LastError; e == nil || e.Type != "/problems/wrong-reading" || !strings.Contains(e.Detail, "response.path: ") {
		t.Errorf("%+v", f.LastError)
	}
	// That there are more pages is said of the feed, and of a preview that has seen enough.
	f = s.fetched(t, "", `{"request":{"url":"`+api.URL+`/a?as=json"}}`)
	if f.RowCount != 150 || len(f.Warnings) != 2 || f.Warnings[0].Code != "context-left-out" || f.Warnings[1].Code != "more-pages" {
		t.Errorf("%d rows, %+v", f.RowCount, f.Warnings)
	}
	if got := s.send(t, request{method: "POST", path: "/data_feeds/preview?type=rest", body: `{"request":{"url":"` + api.URL + `/a?as=json"}}`}); got.status != 200 || !strings.Contains(got.body, `"more-pages"`) {
		t.Error(got.status, got.body)
	}
	// A later page without what holds the records is told of, where nobody set the path too.
	if f = s.fetched(t, "", `{"request":{"url":"`+api.URL+`/{{shop}}","query":{"as":"page"}},"each":{"in":{"values":["a","b"]},"as":"shop"}}`); f.RowCount != 1 || len(f.Warnings) != 1 || f.Warnings[0].Code != "nothing-found" {
		t.Errorf("%d rows, %+v %+v", f.RowCount, f.Warnings, f.LastError)
	}
	// A table has nothing that a path of JSON could name.
	f = s.fetched(t, "", `{"request":{"url":"`+api.URL+`/a?as=csv"},"response":{"path":"$.o[*]"}}`)
	if e := f.LastError; e == nil || e.Type != "/problems/wrong-content-type" || !strings.Contains(e.Detail, "csv") {
		t.Errorf("%+v", f.LastError)
	}
	// What is for JSON alone is said to be, at once where the format is known.
	for rest, status := range map[string]int{
		`"response":{"format":"csv","keyAs":"k"}`:                                            400,
		`"response":{"format":"csv"},"columns":[{"name":"a","path":"$.a[0]"}]`:               400,
		`"response":{"format":"xml"},"columns":[{"name":"a","path":"$.a","type":"integer"}]`: 400,
		`"response":{"format":"csv"},"columns":[{"name":"a","path":"$.a","type":"text"}]`:    201,
		`"response":{"names":["$.h"],"values":["$.v"]}`:                                      201,
	} {
		answer := s.send(t, request{method: "POST", path: "/data_feeds?type=rest", header: [][2]string{{"Prefer", "wait=60"}}, body: `{"request":{"url":"` + api.URL + `/a?as=csv"},` + rest + `}`})
		if answer.status != status {
			t.Errorf("%s: %d %s", rest, answer.status, answer.body)
		}
		if status == 201 && strings.Contains(rest, "names") && !strings.Contains(answer.body, "names and values apply only to JSON") {
			t.Errorf("%s: %s", rest, answer.body)
		}
	}
}

// What is noticed in several pages that have types is one warning.
func TestWarningsOfTypedPagesAreJoined(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	stream := s.export(t, s.upload(t, "", "application/json", `[{"a":1}]`).ID, "arrow")
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.apache.arrow.stream")
		fmt.Fprint(w, stream[:len(stream)-8]) // without the mark of its end
	}))
	t.Cleanup(api.Close)
	f := s.fetched(t, "", `{"request":{"url":"`+api.URL+`/{{x}}"},"each":{"in":{"values":[1,2,3]},"as":"x"}}`)
	if f.State != "ready" || f.RowCount != 3 || len(f.Warnings) != 1 || f.Warnings[0].Code != "no-end-mark" {
		t.Errorf("%+v %+v", f, f.LastError)
	}
}
