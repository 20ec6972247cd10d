package app

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// today is when the tests run, at midnight.
var today = time.Now().UTC().Truncate(24 * time.Hour)

// days are records of the last days, of which the text is the day.
func days(from, to int) (all []item) {
	for i := from; i <= to; i++ {
		day := today.AddDate(0, 0, i)
		all = append(all, item{100 + i, day.Format(time.DateOnly), day})
	}
	return all
}

func init() {
	for name, like := range otherLookalikes {
		lookalikes[name] = like
	}
}

var otherLookalikes = map[string]lookalike{
	"OData and Microsoft Graph": {records: sevenRecords, more: threeMore, id: "id", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/token") {
			if r.FormValue("client_secret") != "s3cret" { // in the body, as Microsoft wants it
				w.WriteHeader(http.StatusUnauthorized)
				a.respond(w, map[string]any{"error": "invalid_client"})
				return
			}
			a.respond(w, map[string]any{"access_token": "t0ken", "expires_in": 3599})
			return
		}
		want(r, "Authorization", "Bearer t0ken")
		n := number(r.URL.Query().Get("$skiptoken"))
		some, _, _ := page(a.found(time.Time{}), n/2*pageSize, pageSize)
		if n%2 == 1 {
			some = nil // every other page is empty
		}
		answer := map[string]any{"@odata.context": "x", "value": rows(some, plain("changed"))}
		if n < 12 {
			answer["@odata.nextLink"] = fmt.Sprintf("%s/v1.0/users?$skiptoken=%d", a.url, n+1)
		}
		a.respond(w, answer)
	}},
	"Google Sheets": {records: sevenRecords, more: threeMore, id: "id", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/token") {
			a.respond(w, map[string]any{"access_token": "t0ken", "expires_in": 3599})
			return
		}
		want(r, "Authorization", "Bearer t0ken")
		values := [][]string{{"id", "text", "count", "note"}}
		for _, x := range a.found(time.Time{}) {
			values = append(values, []string{fmt.Sprint(x.ID), x.Text, fmt.Sprint(x.ID * 2), "note"}[:2+x.ID%3])
		}
		a.respond(w, map[string]any{"range": "Stock!A1:D99", "majorDimension": "ROWS", "values": values})
	}},
	"Square": {records: sevenRecords, more: threeMore, id: "id", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		want(r, "Authorization", "Bearer s3cret")
		asked := body(r)
		filter := asked["query"].(map[string]any)["filter"].(map[string]any)["date_time_filter"].(map[string]any)["updated_at"].(map[string]any)
		cursor, _ := asked["cursor"].(string)
		some, next, more := page(a.found(at(filter["start_at"].(string), time.RFC3339)), number(cursor), pageSize)
		answer := map[string]any{}
		if len(some) > 0 {
			answer["orders"] = rows(some, plain("updated_at"))
		}
		if more {
			answer["cursor"] = fmt.Sprint(next)
		}
		a.respond(w, answer)
	}},
	"Xero": {records: sevenRecords, more: threeMore, id: "InvoiceID", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		want(r, "Authorization", "Bearer s3cret")
		all := a.found(at(r.Header.Get("If-Modified-Since"), "2006-01-02T15:04:05"))
		n := number(r.URL.Query().Get("page"))
		some, _, _ := page(all, (n-1)*pageSize, pageSize)
		a.respond(w, map[string]any{
			"Status": "OK", "pagination": map[string]any{"page": n, "pageCount": (len(all) + pageSize - 1) / pageSize},
			"Invoices": rows(some, func(x item) map[string]any {
				return map[string]any{"InvoiceID": x.ID, "UpdatedDateUTC": fmt.Sprintf("/Date(%d+0000)/", x.At.UnixMilli())}
			}),
		})
	}},
	"WordPress": {records: sevenRecords, more: threeMore, id: "id", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		all := a.found(at(r.URL.Query().Get("modified_after"), "2006-01-02T15:04:05").Add(time.Second)) // after, and not at
		n := number(r.URL.Query().Get("page"))
		pages := (len(all) + pageSize - 1) / pageSize
		if n > max(pages, 1) {
			panic(http.StatusBadRequest) // rest_post_invalid_page_number
		}
		w.Header().Set("X-WP-TotalPages", fmt.Sprint(pages))
		some, _, _ := page(all, (n-1)*pageSize, pageSize)
		a.respond(w, rows(some, func(x item) map[string]any {
			return map[string]any{"id": x.ID, "modified_gmt": x.At.Format("2006-01-02T15:04:05")}
		}))
	}},
	"GraphQL (Relay)": {records: sevenRecords, more: threeMore, id: "title", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		want(r, "Authorization", "Bearer s3cret")
		variables, _ := body(r)["variables"].(map[string]any)
		after, _ := variables["after"].(string)
		some, next, more := page(a.found(time.Time{}), number(after), pageSize)
		a.respond(w, map[string]any{"data": map[string]any{"products": map[string]any{
			"nodes":    rows(some, func(x item) map[string]any { return map[string]any{"id": fmt.Sprint(x.ID), "title": x.Text} }),
			"pageInfo": map[string]any{"hasNextPage": more, "endCursor": fmt.Sprint(next)},
		}}})
	}},
	"A report that is made on request": {records: sevenRecords, more: threeMore, id: "id", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			want(r, "Authorization", "Bearer s3cret")
			a.state["job"]++
			a.respond(w, map[string]any{"id": a.state["job"]})
		case strings.HasPrefix(r.URL.Path, "/files/"):
			w.Header().Set("Content-Type", "text/csv")
			fmt.Fprint(w, "id,text\n")
			for _, x := range a.records {
				fmt.Fprintf(w, "%d,%s\n", x.ID, x.Text)
			}
		default:
			if a.state["polls"]++; a.state["polls"]%2 == 1 {
				a.respond(w, map[string]any{"status": "running"})
				return
			}
			a.respond(w, map[string]any{"status": "complete", "file_url": a.url + "/files/1.csv"})
		}
	}},
	"Exchange rates by date": {records: days(-90, -1), more: days(0, 0), id: "day", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		from, to, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "..")
		if !ok {
			panic(http.StatusNotFound)
		}
		first, last := at(from, time.DateOnly), at(to, time.DateOnly)
		rates := map[string]any{}
		for _, x := range a.records {
			if !x.At.Before(first) && !x.At.After(last) {
				rates[x.Text] = map[string]any{"USD": 1.1, "CHF": 0.9}
			}
		}
		a.respond(w, map[string]any{"base": "EUR", "rates": rates})
	}},
	"Parent and child": {records: sevenRecords, more: threeMore, id: "id", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		parent := number(strings.Split(r.URL.Path, "/")[2])
		var mine []item
		for _, x := range a.found(at(r.URL.Query().Get("since"), time.RFC3339)) {
			if x.ID%2 == parent%2 {
				mine = append(mine, x)
			}
		}
		a.respond(w, rows(mine, plain("updated_at")))
	}},
	"Windows of a day": {records: days(-5, -1), more: days(0, 0), id: "day", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		want(r, "Authorization", "Bearer s3cret")
		from, to := at(r.URL.Query().Get("from"), time.DateOnly), at(r.URL.Query().Get("to"), time.DateOnly)
		var found []map[string]any
		for _, x := range a.records {
			if !x.At.Before(from) && x.At.Before(to) && r.URL.Query().Get("page") == "1" {
				found = append(found, map[string]any{"day": x.Text, "n": 1})
			}
		}
		if found == nil {
			found = []map[string]any{}
		}
		a.respond(w, map[string]any{"visits": found})
	}},
}
