package fetch

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/feedmill/feedmill"
)

// Pages end where the source says so, and not where one has no records.
func TestPagesEnd(t *testing.T) {
	// A page is its records, what else is in the document, and headers.
	type page struct {
		rows   int
		more   string
		header string
	}
	for _, test := range []struct {
		name, pagination, failure string
		pages                     []page
		records, requests         int64
	}{
		{
			name: "empty pages with a token", pagination: `{"kind":"cursor","path":"$.next","param":"at"}`,
			pages:   []page{{5, `"next":1`, ""}, {0, `"next":2`, ""}, {0, `"next":3`, ""}, {5, `"next":4`, ""}, {5, `"next":null`, ""}},
			records: 15, requests: 5,
		},
		{
			name: "empty pages with a link", pagination: `{"kind":"linkHeader"}`,
			pages:   []page{{0, `"a":1`, `<?at=1>; rel="next"`}, {3, `"a":1`, `<?at=2>; rel="next"`}, {0, `"a":1`, ""}},
			records: 3, requests: 3,
		},
		{
			name: "empty pages with the address of the next", pagination: `{"kind":"nextUrl","path":"$['@odata.nextLink']"}`,
			pages:   []page{{0, `"@odata.nextLink":"?at=1"`, ""}, {0, `"@odata.nextLink":"?at=2"`, ""}, {2, `"a":1`, ""}},
			records: 2, requests: 3,
		},
		{
			name: "no more", pagination: `{"kind":"cursor","path":"$.rows[-1].id","param":"at","more":"$.has_more"}`,
			pages:   []page{{2, `"has_more":true`, ""}, {2, `"has_more":false`, ""}, {9, ``, ""}},
			records: 4, requests: 2,
		},
		{
			name: "the end of a stream that names a next page", pagination: `{"kind":"cursor","path":"$.next","param":"at","end":"$.end"}`,
			pages:   []page{{2, `"next":1,"end":false`, ""}, {2, `"next":1,"end":true`, ""}, {9, ``, ""}},
			records: 4, requests: 2,
		},
		{
			name: "a total", pagination: `{"kind":"offset","param":"at","total":"$.total"}`,
			pages:   []page{{2, `"total":4`, ""}, {9, ``, ""}, {2, `"total":4`, ""}},
			records: 4, requests: 2,
		},
		{
			name: "a total that is none", pagination: `{"kind":"offset","param":"at","total":"$.total"}`,
			pages:   []page{{2, `"total":0`, ""}, {9, ``, ""}, {2, `"total":3`, ""}, {9, ``, ""}, {0, `"total":3`, ""}},
			records: 4, requests: 3,
		},
		{
			name: "pages in a header", pagination: `{"kind":"page","param":"at","start":0,"totalPages":{"header":"Link"}}`,
			pages:   []page{{2, `"a":1`, "2"}, {1, `"a":1`, "2"}, {9, ``, ""}},
			records: 3, requests: 2,
		},
		{
			name: "what is not said ends nothing", pagination: `{"kind":"page","param":"at","start":0,"more":"$.mroe"}`,
			pages:   []page{{2, `"a":1`, ""}, {2, `"a":2`, ""}, {0, `"a":3`, ""}},
			records: 4, requests: 3,
		},
		{
			name: "a token of any kind", pagination: `{"kind":"cursor","path":"$.next","param":"at"}`,
			pages:   []page{{1, `"next":[1]`, ""}, {1, `"next":{"at":2}`, ""}, {1, `"next":true`, ""}, {1, `"next":[]`, ""}},
			records: 4, requests: 4,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				asked := 0
				l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
					at := asked
					if strings.Contains(test.pagination, "offset") {
						_, _ = fmt.Sscan(r.URL.Query().Get("at"), &at)
					}
					asked++
					p := test.pages[min(at, len(test.pages)-1)]
					if p.header != "" {
						w.Header().Set("Link", p.header)
					}
					var rows []string
					for i := range p.rows {
						rows = append(rows, fmt.Sprintf(`{"id":"%d-%d"}`, asked, i))
					}
					respond(w, fmt.Sprintf(`{%s,"rows":[%s]}`, p.more, strings.Join(rows, ",")))
				})
				_, result, err := l.fetch(`{"request":{"url":"https://api.test/rows"},"pagination":` + test.pagination + `}`)
				if FailureOf(err) != test.failure || result.Records != test.records || result.Requests != test.requests {
					t.Errorf("%d records in %d requests, %v\n%s", result.Records, result.Requests, err, l.trace())
				}
			})
		})
	}
}

func TestTokenIsSentAsItCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		var sent []string
		l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
			body := make([]byte, 1000)
			n, _ := r.Body.Read(body)
			sent = append(sent, string(body[:n]))
			if len(sent) == 3 {
				respond(w, `{"hits":[]}`)
				return
			}
			respond(w, fmt.Sprintf(`{"hits":[{"id":%d,"sort":[%d, "a"]}]}`, len(sent), len(sent)))
		})
		_, _, err := l.fetch(`{"request":{"method":"POST","url":"https://api.test/_search","body":{"kind":"json","value":{"size":1}}},
			"response":{"path":"$.hits[*]"},"pagination":{"kind":"cursor","path":"$.hits[-1].sort","in":"body","param":"search_after"}}`)
		if want := `{"size":1} {"size":1,"search_after":[1,"a"]} {"size":1,"search_after":[2,"a"]}`; err != nil || strings.Join(sent, " ") != want {
			t.Errorf("%s\n%v", strings.Join(sent, " "), err)
		}
	})
}

func TestEmptyPagesForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		asked := 0
		l.serve("api.test", func(w http.ResponseWriter, _ *http.Request) {
			asked++
			respond(w, fmt.Sprintf(`{"rows":[],"next":%d}`, asked))
		})
		_, result, err := l.fetch(`{"request":{"url":"https://api.test/"},"pagination":{"kind":"cursor","path":"$.next","param":"at"}}`)
		if FailureOf(err) != "pagination-loop" || result.Requests != maxEmptyPages {
			t.Errorf("%d requests, %v", result.Requests, err)
		}
	})
}

// A page that a rule ignores is one without records. Where pages are counted the next one
// tells whether there are more, and where the source names none that is told of.
func TestIgnoredPages(t *testing.T) {
	for _, test := range []struct {
		name, pagination  string
		pages             []string // the numbers are statuses
		records, requests int64
		warned            string
	}{
		{"one in the middle", `{"kind":"page","param":"at","start":0}`, []string{`[{"id":1}]`, "500", `[{"id":3}]`, `[]`}, 2, 4, ""},
		{"those past the end", `{"kind":"page","param":"at","start":0}`, []string{`[{"id":1},{"id":2}]`, `[{"id":3}]`, "404", "404"}, 3, 4, ""},
		{"those behind a short page", `{"kind":"page","param":"at","start":0,"size":2,"sizeParam":"n"}`, []string{`[{"id":1}]`, "404", "404"}, 1, 3, ""},
		{"those behind a full page", `{"kind":"page","param":"at","start":0}`, []string{`[{"id":1}]`, "404", "404", `[{"id":4}]`}, 1, 3, "ignored-page 1 The source returned 404 Not Found for page 3"},
		{"two in the middle", `{"kind":"page","param":"at","start":0}`, []string{`[{"id":1}]`, "500", "500", `[{"id":3}]`}, 1, 3, "ignored-page 1 The source returned 500 Internal Server Error for page 3"},
		{"one of an offset", `{"kind":"offset","param":"at"}`, []string{`[{"id":1}]`, "500", `[{"id":3}]`, `[]`}, 2, 4, ""},
		{"one with a token", `{"kind":"cursor","path":"$.next","param":"at"}`, []string{`{"rows":[{"id":1}],"next":1}`, `{"busy":true,"next":2}`, `{"rows":[{"id":3}]}`}, 2, 3, ""},
		{"one without a token", `{"kind":"cursor","path":"$.next","param":"at"}`, []string{`{"rows":[{"id":1}],"next":1}`, "500", `{"rows":[{"id":3}]}`}, 1, 2, "ignored-page 1 The source returned 500 Internal Server Error for page 2"},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t)
			l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
				at := 0
				_, _ = fmt.Sscan(r.URL.Query().Get("at"), &at)
				status := 200
				if _, err := fmt.Sscan(test.pages[at], &status); err == nil {
					w.WriteHeader(status)
				}
				respond(w, test.pages[at])
			})
			job := l.job(`{"request":{"url":"https://api.test/rows"},"pagination":` + test.pagination + `,"errors":[{"status":[404,500],"action":"ignore"},{"bodyPath":"$.busy","action":"ignore"}]}`)
			job.Notes = new(Notes)
			result, err := l.fetcher.Fetch(t.Context(), job, new(pages))
			warned := ""
			for _, w := range job.Notes.Warnings() {
				warned += fmt.Sprintf("%s %d %s", w.Code, w.Count, w.Detail)
			}
			if err != nil || result.Records != test.records || result.Requests != test.requests || !strings.HasPrefix(warned, test.warned) || (warned == "") != (test.warned == "") {
				t.Errorf("%s: %d records in %d requests, %v, %s\n%s", test.name, result.Records, result.Requests, err, warned, l.trace())
			}
		})
	}
}

// Where only one answer is asked for, one that says that there are more is told of.
func TestMorePagesThanAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		answer, header := "", ""
		l.serve("api.test", func(w http.ResponseWriter, _ *http.Request) {
			status := http.StatusOK
			for _, line := range strings.Split(header, "\n") {
				switch name, value, ok := strings.Cut(line, ": "); {
				case ok:
					w.Header().Set(name, value)
				case line == "206":
					status = http.StatusPartialContent
				case line != "":
					w.Header().Set("Link", line)
				}
			}
			w.Header().Set("Content-Type", "application/json")
			if strings.HasPrefix(answer, "<") {
				w.Header().Set("Content-Type", "application/xml")
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, answer)
		})
		for _, test := range []struct{ header, answer, sign string }{
			{`</rows?page=2>; rel="next"`, `[{"id":1}]`, "the header Link"},
			{`</rows?page=1>; rel="prev"`, `[{"id":1}]`, ""},
			{"206\nContent-Range: items 0-0/5", `[{"id":1}]`, "the header Content-Range"},
			{"206\nContent-Range: 0-0/*", `[{"id":1}]`, "the header Content-Range"},
			{"206\nContent-Range: items 0-0/1", `[{"id":1}]`, ""},
			{"206", `[{"id":1}]`, "the status 206"},
			{"Content-Range: posts 0-0/2", `[{"id":1}]`, "the header Content-Range"},
			{"Content-Range: 0-0/*", `[{"id":1}]`, ""},
			{"Next-Range: id ]1..; max=200", `[{"id":1}]`, "the header Next-Range"},
			{`x-ms-continuation: {"token":"abc"}`, `{"Documents":[{"id":1}],"_count":1}`, "the header X-Ms-Continuation"},
			{"X-Next-Page: 2", `[{"id":1}]`, "the header X-Next-Page"},
			{"X-Next-Page: ", `[{"id":1}]`, ""},
			{"X-Next-Cursor: abc", `id,name`, "the header X-Next-Cursor"},
			{"X-Next-Reset-At: 5", `[{"id":1}]`, ""},
			{"X-Content-Type-Options: nosniff", `[{"id":1}]`, ""},
			{"", `<OAI-PMH><ListRecords><record><id>1</id></record><resumptionToken completeListSize="9">abc</resumptionToken></ListRecords></OAI-PMH>`, "<resumptionToken>"},
			{"", `<OAI-PMH><ListRecords><record><id>1</id></record><resumptionToken completeListSize="9"/></ListRecords></OAI-PMH>`, ""},
			{"", `<feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="/a"/><link rel="next" href="/a?page=2"/><entry><id>1</id></entry></feed>`, `<link rel="next">`},
			{"", `<feed><link rel="self" href="/a"/><entry><id>1</id><link rel="next" href="/b"/></entry></feed>`, ""},
			{"", `<rss><channel><atom:link rel='next' href='/a?page=2'/><item><id>1</id></item></channel></rss>`, `<link rel="next">`},
			{"", `<List><IsTruncated>true</IsTruncated><Contents><id>1</id></Contents></List>`, "<IsTruncated>"},
			{"", `<List><IsTruncated>false</IsTruncated><NextMarker/><Contents><id>1</id></Contents></List>`, ""},
			{"", `{"items":[{"id":1}],"continuationToken":"abc"}`, "continuationToken"},
			{"", `{"items":[{"id":1}],"meta":{"nextStart":50}}`, "meta.nextStart"},
			{"", `{"items":[{"id":1}],"nextRunAt":"2026-01-01","nextExpiresIn":5,"nextMaintenance":"soon"}`, ""},
			{"", `{"value":[{"id":1}],"@odata.nextLink":"https://api.test/rows?skip=1"}`, "@odata.nextLink"},
			{"", `{"next":"/rows?page=2","rows":[{"id":1}]}`, "next"},
			{"", `{"rows":[{"id":1}],"paging":{"prev":null,"next":{"after":"1"}}}`, "paging.next"},
			{"", `{"links":{"prev":null,"next":null},"rows":[{"id":1}],"has_more":true}`, "has_more"},
			{"", `{"rows":[{"id":1,"next":2,"has_more":true}],"has_more":false,"next":null,"nextPageToken":"","next_page":0,"paging":{"next":{}}}`, ""},
			{"", `{"next":[{"id":1}],"links":["next"]}`, ""},
			{"", `[{"id":1,"next":2}]`, ""},
			{"", `{"rows":[{"id":1`, ""},
			{"", `{"data":[{"id":1}],"meta":{"pagination":{"links":{"next":"?page=2"}}}}`, "meta.pagination.links.next"},
			{"", `{"data":[{"id":1}],"pages":{"type":"pages","next":{"page":2,"starting_after":"x"}}}`, "pages.next"},
			{"", `{"calls":[{"id":1}],"next_page_uri":"/2010/Calls.json?Page=1"}`, "next_page_uri"},
			{"", `{"d":{"results":[{"id":1}],"__next":"https://api.test/rows?$skiptoken=1"}}`, "d.__next"},
			{"", `{"topic_list":{"more_topics_url":"/latest?page=1","topics":[{"id":1}]}}`, "topic_list.more_topics_url"},
			{"", `{"members":[{"id":1,"tags":[1,2]}],"total_items":2,"_links":[{"rel":"self"}]}`, "total_items"},
			{"", `{"members":[{"id":1},{"id":2}],"total_items":2}`, ""},
			{"", `{"startAt":0,"maxResults":1,"total":2,"issues":[{"id":1}]}`, "total"},
			{"", `{"meta":{"total":5,"page":1},"rows":[{"id":1}]}`, "meta.total"},
			{"", `{"total":12.5,"page":1,"lines":[{"id":1}]}`, ""},
			{"", `{"total":12,"lines":[{"id":1}]}`, ""},
			{"", `{"total_count":12,"rows":[]}`, ""},
			{"", `{"orders":[{"id":1}],"cursor":"abc"}`, "cursor"},
			{"", `{"records":[{"id":1}],"offset":"itr/rec"}`, "offset"},
			{"", `{"records":[{"id":1}],"offset":10,"cursor":""}`, ""},
			{"", `{"cursor":"abc","entries":[{"id":1}],"has_more":false}`, ""},
			{"", `{"cursor":"abc","entries":[{"id":1}`, ""},
			{"", `{"total_count":12,"rows":[{"id":1}`, ""},
			{"", `{"record":{"id":1,"next":"x","links":{"next":"y"}}}`, ""},
			{"", `{"data":{"shop":{"next":"1","rows":{"nodes":[{"id":1}],"pageInfo":{"hasNextPage":true,"endCursor":"c"}}}}}`, "data.shop.rows.pageInfo.hasNextPage"},
			{"", `{"data":{"rows":{"nodes":[{"id":1,"tags":{"pageInfo":{"hasNextPage":true}}}],"pageInfo":{"hasNextPage":false},"next":"1"}}}`, ""},
		} {
			answer, header = test.answer, test.header
			asked := `"url":"https://api.test/rows"`
			if strings.HasPrefix(answer, `{"data":{`) {
				asked += `,"body":{"kind":"graphql","query":"{rows{id}}"}`
			}
			job := l.job(`{"request":{` + asked + `}}`)
			job.Notes = new(Notes)
			_, _ = l.fetcher.Fetch(t.Context(), job, new(pages))
			if job.Notes.Sign != test.sign || (job.Notes.More > 0) != (test.sign != "") {
				t.Errorf("%s: %q", test.answer, job.Notes.Sign)
			}
		}
	})
}

// Lists inside records that have more pages than the answer are told of, also where the
// records have pages of their own.
func TestListsInsideRecordsThatAreCut(t *testing.T) {
	const (
		byCursor = `"pagination":{"kind":"cursor","path":"$.data.rows.pageInfo.endCursor","param":"variables.after","more":"$.data.rows.pageInfo.hasNextPage"}`
		graphQL  = `"body":{"kind":"graphql","query":"{rows{id}}"}`
	)
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		var answers []string
		l.serve("api.test", func(w http.ResponseWriter, _ *http.Request) {
			respond(w, answers[0])
			answers = answers[1:]
		})
		for _, test := range []struct {
			request, rest string
			answers       []string
			cut           int64
			where         string
		}{
			{graphQL, byCursor, []string{
				`{"data":{"rows":{"nodes":[{"id":1,"tags":{"nodes":[1],"pageInfo":{"hasNextPage":false}}}],"pageInfo":{"hasNextPage":true,"endCursor":"c"}}}}`,
				`{"data":{"rows":{"nodes":[{"id":2,"tags":{"nodes":[1],"pageInfo":{"hasNextPage":true}}},{"id":3,"tags":{"pageInfo":{"hasNextPage":true},"nodes":[2]}}],"pageInfo":{"hasNextPage":false}}}}`,
			}, 2, "$.data.rows.nodes[*].tags.pageInfo.hasNextPage"},
			{graphQL, byCursor, []string{`{"data":{"rows":{"nodes":[{"id":1}],"pageInfo":{"hasNextPage":false}}}}`}, 0, ""},
			{graphQL, `"pagination":{"kind":"cursor","path":"$.data.nodes[0].tags.pageInfo.endCursor","param":"variables.after","more":"$.data.nodes[0].tags.pageInfo.hasNextPage"}`, []string{
				`{"data":{"nodes":[{"tags":{"nodes":[{"id":1}],"pageInfo":{"hasNextPage":true,"endCursor":"c"}}}]}}`,
				`{"data":{"nodes":[{"tags":{"nodes":[{"id":2}],"pageInfo":{"hasNextPage":false}}}]}}`,
			}, 0, ""},
			{`"method":"GET"`, `"pagination":{"kind":"cursor","path":"$.data[-1].id","param":"after","more":"$.has_more"}`, []string{
				`{"has_more":true,"data":[{"id":1,"lines":{"has_more":false,"data":[1]}}]}`,
				`{"has_more":false,"data":[{"id":2,"lines":{"has_more":true,"data":[1]}}]}`,
			}, 1, "$.data[*].lines.has_more"},
			{`"method":"GET"`, `"pagination":{"kind":"nextUrl","path":"$['@odata.nextLink']"}`, []string{
				`{"@odata.nextLink":"/rows?2","value":[{"id":1,"lines":[1]}]}`,
				`{"value":[{"id":2,"lines":[1],"lines@odata.nextLink":"/rows/2/lines"}]}`,
			}, 1, "$.value[*].lines@odata.nextLink"},
			{`"method":"GET"`, `"pagination":{"kind":"nextUrl","path":"$.nextRecordsUrl"}`, []string{
				`{"records":[{"id":1,"People":{"done":false,"records":[{"id":2}],"nextRecordsUrl":"/more"}}]}`,
			}, 1, "$.records[*].People.nextRecordsUrl"},
			{`"method":"GET"`, `"name":"x"`, []string{`[{"id":1,"has_more":true,"hasNextPage":true}]`}, 0, ""},
			{`"method":"GET"`, `"name":"x"`, []string{`{"rows":[{"id":1,"lines":{"has_more":true,"data":[1`}, 0, ""},
		} {
			answers = test.answers
			job := l.job(`{"request":{"url":"https://api.test/rows",` + test.request + `},"retry":{"maxAttempts":1},` + test.rest + `}`)
			job.Notes = new(Notes)
			_, _ = l.fetcher.Fetch(t.Context(), job, new(pages))
			if job.Notes.Cut != test.cut || job.Notes.Where != test.where || len(answers) != 0 {
				t.Errorf("%s: %d %q", test.answers, job.Notes.Cut, job.Notes.Where)
			}
			if told := job.Notes.Warnings(); test.cut > 0 && (len(told) != 1 || told[0].Code != feedmill.WarnCutLists || !strings.Contains(told[0].Detail, test.where)) {
				t.Errorf("%v", told)
			}
		}
	})
}

// A source that does not heed how it is asked for pages is told of, also where something else
// in its answers is never the same.
func TestRecordsOfTheFirstPageAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		var answers []string
		l.serve("api.test", func(w http.ResponseWriter, _ *http.Request) {
			respond(w, answers[0])
			answers = answers[1:]
		})
		long := `{"id":1,"text":"` + strings.Repeat("x", 3000) + `"}`
		for _, test := range []struct {
			answers []string
			same    int64
			page    int
		}{
			{[]string{`{"took":1,"total":3,"rows":[{"id":1}]}`, `{"took":12,"total":3,"rows":[{"id":1}]}`, `{"took":3,"total":3,"rows":[{"id":1}]}`}, 2, 2},
			{[]string{`{"took":1,"total":3,"rows":[{"id":1}]}`, `{"took":1,"total":3,"rows":[{"id":2}]}`, `{"took":3,"total":3,"rows":[{"id":1}],"tags":[]}`}, 1, 3},
			{[]string{`{"total":2,"rows":[` + long + `]}`, `{"took":2,"total":2,"rows":[` + long + `]}`}, 1, 2},
			{[]string{`{"total":2,"rows":[` + long + `]}`, `{"took":2,"total":2,"rows":[` + strings.Replace(long, "1", "2", 1) + `]}`}, 0, 0},
			{[]string{`{"total":4,"rows":[]}`}, 0, 0},
			{[]string{`{"total":3,"rows":[{"id":1},{"id":2}]}`, `{"total":3,"rows":[{"id":2}]}`}, 0, 0},
		} {
			answers = test.answers
			job := l.job(`{"request":{"url":"https://api.test/rows"},"response":{"path":"$.rows[*]"},"pagination":{"kind":"offset","param":"form","total":"$.total"}}`)
			job.Notes = new(Notes)
			if _, err := l.fetcher.Fetch(t.Context(), job, new(pages)); err != nil {
				t.Error(err)
			}
			if told := job.Notes.Warnings(); job.Notes.Same != test.same || job.Notes.SamePage != test.page || len(answers) != 0 || (len(told) > 0) != (test.same > 0) {
				t.Errorf("%.80q: %d %d %v", test.answers, job.Notes.Same, job.Notes.SamePage, told)
			}
		}
	})
}

// What the source said of a failure is shown, without the secrets.
func TestSourceIsQuoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.serve("api.test", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(422)
			_, _ = w.Write([]byte(`{"message":"since is no date","you_sent":"s3cret"}` + strings.Repeat("x", 4000)))
		})
		_, _, err := l.fetch(`{"request":{"method":"POST","url":"https://api.test/rows?since=1","headers":{"X-Version":"2"},"body":{"kind":"json","value":{"q":"all","token":"s3cret"}}},
			"auth":{"kind":"bearer","token":"s3cret"}}`)
		failure, ok := errors.AsType[*feedmill.SourceFailure](err)
		if !ok || failure.Said == nil {
			t.Fatal(err)
		}
		said := failure.Said
		if said.Status != 422 || !strings.HasPrefix(said.Excerpt, `{"message":"since is no date","you_sent":"***"}x`) || len(said.Excerpt) != maxExcerpt {
			t.Errorf("%d %q", said.Status, said.Excerpt)
		}
		if r := said.Request; r.Method != "POST" || r.URL != "https://api.test/rows?since=1" || r.Body != `{"q":"all","token":"***"}` ||
			strings.Join(r.Headers, " ") != "Accept Accept-Encoding Authorization Content-Type User-Agent X-Version" {
			t.Errorf("%+v", r)
		}
		if traced := l.traced[0]; traced.Request == nil || traced.Request.Body != said.Request.Body || traced.Excerpt != said.Excerpt {
			t.Errorf("%+v", traced)
		}
	})
}
