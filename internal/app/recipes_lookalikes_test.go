package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// quotedKey is a private key as YAML writes it.
var quotedKey = func() []byte {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err)
	}
	text, _ := json.Marshal(string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
	return text
}()

// pageSize is how many records every lookalike gives at once.
const pageSize = 2

var sevenRecords, threeMore = func() (all, more []item) {
	begun := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
	for i := 1; i <= 7; i++ {
		all = append(all, item{i, fmt.Sprint("text ", i), begun.AddDate(0, 0, i)})
	}
	return all, []item{{8, "text 8", begun.AddDate(0, 0, 9)}, {2, "text 2 again", begun.AddDate(0, 0, 10)}, {9, "text 9", begun.AddDate(0, 0, 10)}}
}()

// at reads a time of a request, or refuses it.
func at(text, layout string) time.Time {
	if layout == "unix" || layout == "unixMs" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			panic(http.StatusBadRequest)
		}
		if layout == "unixMs" {
			return time.UnixMilli(n).UTC()
		}
		return time.Unix(n, 0).UTC()
	}
	t, err := time.Parse(layout, text)
	if err != nil {
		panic(http.StatusBadRequest)
	}
	return t
}

// number reads a number of a request, 0 where there is none.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil && text != "" {
		panic(http.StatusBadRequest)
	}
	return n
}

// want refuses a request whose header is not what it should be.
func want(r *http.Request, name, value string) {
	if r.Header.Get(name) != value {
		panic(http.StatusUnauthorized)
	}
}

// body reads the JSON of a request.
func body(r *http.Request) (doc map[string]any) {
	text, _ := io.ReadAll(r.Body)
	if json.Unmarshal(text, &doc) != nil {
		panic(http.StatusBadRequest)
	}
	return doc
}

// linked answers the page of a number with a Link header to the next.
func (a *imitation) linked(w http.ResponseWriter, r *http.Request, all []item, param string) []item {
	n := max(number(r.URL.Query().Get(param)), 1)
	some, _, more := page(all, (n-1)*pageSize, pageSize)
	if more {
		next := *r.URL
		q := next.Query()
		q.Set(param, fmt.Sprint(n+1))
		next.RawQuery = q.Encode()
		w.Header().Set("Link", fmt.Sprintf(`<%s%s>; rel="next", <%s/first>; rel="first"`, a.url, next.String(), a.url))
	}
	return some
}

// rows writes records with what each has.
func rows(all []item, of func(item) map[string]any) []map[string]any {
	made := []map[string]any{}
	for _, r := range all {
		made = append(made, of(r))
	}
	return made
}

func plain(name string) func(item) map[string]any {
	return func(r item) map[string]any {
		row := map[string]any{"id": r.ID, "text": r.Text, "size": r.ID, name: r.At.Format(time.RFC3339)}
		if r.ID > len(sevenRecords) { // a new column, and another type in an old one
			row["note"], row["size"] = "new", "large"
		}
		return row
	}
}

var lookalikes = map[string]lookalike{
	"GitHub": {records: sevenRecords, more: threeMore, id: "id", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		want(r, "Authorization", "Bearer s3cret")
		all := a.found(at(r.URL.Query().Get("since"), time.RFC3339))
		a.respond(w, rows(a.linked(w, r, all, "page"), plain("updated_at")))
	}},
	"Stripe": {records: sevenRecords, more: threeMore, id: "id", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		want(r, "Authorization", "Bearer s3cret")
		all := a.found(at(r.URL.Query().Get("created[gte]"), "unix"))
		slices.Reverse(all) // the newest first
		from := 0
		if after := r.URL.Query().Get("starting_after"); after != "" {
			from = slices.IndexFunc(all, func(x item) bool { return fmt.Sprint(x.ID) == after }) + 1
		}
		some, _, more := page(all, from, pageSize)
		a.respond(w, map[string]any{"object": "list", "has_more": more, "data": rows(some, func(x item) map[string]any {
			return map[string]any{"id": fmt.Sprint(x.ID), "created": x.At.Unix()}
		})})
	}},
	"Shopify": {records: sevenRecords, more: threeMore, id: "id", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		want(r, "X-Shopify-Access-Token", "s3cret")
		since := time.Time{}
		if text := r.URL.Query().Get("updated_at_min"); text != "" {
			since = at(text, time.RFC3339)
		}
		a.respond(w, map[string]any{"orders": rows(a.linked(w, r, a.found(since), "page_info"), plain("updated_at"))})
	}},
	"HubSpot": {records: sevenRecords, more: threeMore, id: "id", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		want(r, "Authorization", "Bearer s3cret")
		doc := body(r)
		filter := doc["filterGroups"].([]any)[0].(map[string]any)["filters"].([]any)[0].(map[string]any)
		after, _ := doc["after"].(string)
		some, next, more := page(a.found(at(filter["value"].(string), "unixMs")), number(after), pageSize)
		answer := map[string]any{"total": 99, "results": rows(some, func(x item) map[string]any {
			return map[string]any{"id": fmt.Sprint(x.ID), "properties": map[string]any{"lastmodifieddate": x.At.Format("2006-01-02T15:04:05.000Z")}}
		})}
		if more {
			answer["paging"] = map[string]any{"next": map[string]any{"after": fmt.Sprint(next)}}
		}
		a.respond(w, answer)
	}},
	"Salesforce": {records: sevenRecords, more: threeMore, id: "Id", serve: salesforce},
	"Jira": {records: sevenRecords, more: threeMore, id: "id", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		if user, pass, _ := r.BasicAuth(); user != "ada@acme.example" || pass != "s3cret" {
			panic(http.StatusUnauthorized)
		}
		_, since, _ := strings.Cut(r.URL.Query().Get("jql"), `"`)
		since, _, _ = strings.Cut(since, `"`)
		all := a.found(at(since, "2006-01-02 15:04"))
		from := number(r.URL.Query().Get("startAt"))
		some, _, _ := page(all, from, pageSize) // fewer than were asked for
		a.respond(w, map[string]any{"startAt": from, "maxResults": pageSize, "total": len(all), "issues": rows(some, func(x item) map[string]any {
			return map[string]any{"id": fmt.Sprint(x.ID), "fields": map[string]any{"updated": x.At.Format("2006-01-02T15:04:05.000-0700")}}
		})})
	}},
	"Notion": {records: sevenRecords, more: threeMore, id: "Title", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		want(r, "Notion-Version", "2022-06-28")
		token, _ := body(r)["start_cursor"].(string)
		some, next, more := page(a.found(time.Time{}), number(token), pageSize)
		cursor := any(nil)
		if more {
			cursor = fmt.Sprint(next)
		}
		a.respond(w, map[string]any{"object": "list", "has_more": more, "next_cursor": cursor, "results": rows(some, func(x item) map[string]any {
			return map[string]any{"id": fmt.Sprint(x.ID), "properties": map[string]any{
				"Name": map[string]any{"title": []any{map[string]any{"plain_text": x.Text}}}, "Done": map[string]any{"checkbox": x.ID%2 == 0},
			}}
		})})
	}},
	"Airtable": {records: sevenRecords, more: threeMore, id: "id", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		some, next, more := page(a.found(time.Time{}), number(strings.TrimPrefix(r.URL.Query().Get("offset"), "itr")), pageSize)
		answer := map[string]any{"records": rows(some, func(x item) map[string]any {
			return map[string]any{"id": fmt.Sprint(x.ID), "fields": map[string]any{"Name": x.Text}}
		})}
		if more {
			answer["offset"] = fmt.Sprint("itr", next)
		}
		a.respond(w, answer)
	}},
	"Google Analytics (GA4)": {records: sevenRecords, more: []item{{8, "text 8", sevenRecords[6].At}}, id: "country", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			if r.FormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || strings.Count(r.FormValue("assertion"), ".") != 2 {
				panic(http.StatusBadRequest)
			}
			a.respond(w, map[string]any{"access_token": "t0ken", "expires_in": 3599})
			return
		}
		want(r, "Authorization", "Bearer t0ken")
		from, _ := body(r)["offset"].(float64)
		all := a.found(time.Time{})
		some, _, _ := page(all, int(from), pageSize)
		answer := map[string]any{"dimensionHeaders": []any{map[string]any{"name": "date"}, map[string]any{"name": "country"}}, "metricHeaders": []any{map[string]any{"name": "activeUsers"}}, "rowCount": len(all)}
		if len(some) > 0 { // it leaves rows out where there are none
			answer["rows"] = rows(some, func(x item) map[string]any {
				return map[string]any{"dimensionValues": []any{map[string]any{"value": x.At.Format("20060102")}, map[string]any{"value": fmt.Sprint(x.ID)}}, "metricValues": []any{map[string]any{"value": "5"}}}
			})
		}
		a.respond(w, answer)
	}},
	"Zendesk": {records: sevenRecords, more: threeMore, id: "id", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		all := a.found(at(r.URL.Query().Get("start_time"), "unix"))
		some, next, more := page(all, number(r.URL.Query().Get("cursor")), pageSize)
		a.respond(w, map[string]any{"tickets": rows(some, plain("updated_at")), "end_of_stream": !more, "after_url": fmt.Sprintf("%s%s?start_time=%s&cursor=%d", a.url, r.URL.Path, r.URL.Query().Get("start_time"), next)})
	}},
	"Elasticsearch": {records: sevenRecords, more: threeMore, id: "id", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		want(r, "Authorization", "ApiKey s3cret")
		doc := body(r)
		all := a.found(at(doc["query"].(map[string]any)["range"].(map[string]any)["at"].(map[string]any)["gte"].(string), time.RFC3339))
		from := 0
		if after, ok := doc["search_after"].([]any); ok {
			from = slices.IndexFunc(all, func(x item) bool { return float64(x.ID) == after[1].(float64) }) + 1
		}
		some, _, _ := page(all, from, pageSize)
		hits := rows(some, func(x item) map[string]any {
			return map[string]any{"_source": plain("at")(x), "sort": []any{x.At.UnixMilli(), x.ID}}
		})
		a.respond(w, map[string]any{"took": 1, "hits": map[string]any{"total": map[string]any{"value": len(all)}, "hits": hits}})
	}},
}

// salesforce gives a new refresh token each time, and takes each once.
func salesforce(a *imitation, w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/services/oauth2/token" {
		token := "s3cret"
		if n := a.state["token"]; n > 0 {
			token = fmt.Sprint("refresh-", n)
		}
		if r.FormValue("refresh_token") != token {
			panic(http.StatusBadRequest)
		}
		a.state["token"]++
		a.respond(w, map[string]any{"access_token": fmt.Sprint("access-", a.state["token"]), "refresh_token": fmt.Sprint("refresh-", a.state["token"])})
		return
	}
	if a.state["asked"]++; a.state["asked"]%5 == 0 {
		panic(http.StatusUnauthorized) // the session has expired
	}
	want(r, "Authorization", fmt.Sprint("Bearer access-", a.state["token"]))
	from := 0
	if _, locator, ok := strings.Cut(r.URL.Path, "/query/"); ok {
		from = number(locator)
	} else {
		_, since, _ := strings.Cut(r.URL.Query().Get("q"), ">= ")
		since, _, _ = strings.Cut(since, " ")
		a.state["since"] = int(at(since, time.RFC3339).Unix())
	}
	some, next, more := page(a.found(time.Unix(int64(a.state["since"]), 0)), from, pageSize)
	answer := map[string]any{"done": !more, "records": rows(some, func(x item) map[string]any {
		return map[string]any{"Id": x.ID, "Name": x.Text, "SystemModstamp": x.At.Format("2006-01-02T15:04:05.000-0700")}
	})}
	if more {
		answer["nextRecordsUrl"] = fmt.Sprint("/services/data/v61.0/query/", next)
	}
	a.respond(w, answer)
}
