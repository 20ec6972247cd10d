package app

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

func init() {
	for name, like := range warehouseLookalikes {
		lookalikes[name] = like
	}
}

// warehouseLookalikes are APIs whose pages lead on in ways of their own.
var warehouseLookalikes = map[string]lookalike{
	// A statement runs until it is polled, and its rows are in partitions. Only the first says
	// what the columns are.
	"Snowflake": {records: sevenRecords, more: threeMore, id: "ID", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		want(r, "Authorization", "Bearer s3cret")
		want(r, "X-Snowflake-Authorization-Token-Type", "KEYPAIR_JWT")
		status := "/api/v2/statements/01b6-0001"
		if r.Method == http.MethodPost {
			if r.URL.Path != "/api/v2/statements" || body(r)["statement"] == "" {
				panic(http.StatusBadRequest)
			}
			w.WriteHeader(http.StatusAccepted)
			a.respond(w, map[string]any{"code": "333334", "statementHandle": "01b6-0001", "statementStatusUrl": status})
			return
		}
		if r.URL.Path != status {
			panic(http.StatusNotFound)
		}
		partition := number(r.URL.Query().Get("partition"))
		if a.state["polls"]++; a.state["polls"]%3 == 1 && partition == 0 {
			w.WriteHeader(http.StatusAccepted)
			a.respond(w, map[string]any{"code": "333334", "statementHandle": "01b6-0001"})
			return
		}
		some, _, more := page(a.found(time.Time{}), partition*pageSize, pageSize)
		data := [][]string{}
		for _, x := range some {
			data = append(data, []string{fmt.Sprint(x.ID), x.Text})
		}
		if more {
			w.Header().Set("Link", fmt.Sprintf(`<%s?partition=0>; rel="first", <%s?partition=%d>; rel="next"`, status, status, partition+1))
		}
		answer := map[string]any{"data": data}
		if partition == 0 {
			answer["code"], answer["message"] = "090001", "Statement executed successfully."
			answer["resultSetMetaData"] = map[string]any{"rowType": []any{map[string]any{"name": "ID", "type": "fixed"}, map[string]any{"name": "TEXT", "type": "text"}}}
		}
		a.respond(w, answer)
	}},
	"Azure Cosmos DB": {records: sevenRecords, more: threeMore, id: "id", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		want(r, "Authorization", "s3cret")
		want(r, "X-Ms-Version", "2018-12-31")
		some, next, more := page(a.found(time.Time{}), number(strings.TrimPrefix(r.Header.Get("X-Ms-Continuation"), "+RID:~x=#RT:")), pageSize)
		if more {
			w.Header().Set("X-Ms-Continuation", fmt.Sprint("+RID:~x=#RT:", next))
		}
		a.respond(w, map[string]any{"_rid": "x", "Documents": rows(some, plain("changed")), "_count": len(some)})
	}},
	"Intercom": {records: sevenRecords, more: threeMore, id: "id", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		want(r, "Authorization", "Bearer s3cret")
		doc := body(r)
		since, ok := doc["query"].(map[string]any)["value"].(float64) // A text is refused.
		pages, isObject := doc["pagination"].(map[string]any)
		if !ok || !isObject || pages["per_page"] != 150.0 {
			panic(http.StatusBadRequest)
		}
		after, _ := pages["starting_after"].(string)
		some, next, more := page(a.found(time.Unix(int64(since)+1, 0)), number(after), pageSize)
		answer := map[string]any{"type": "list", "total_count": len(some), "data": rows(some, func(x item) map[string]any {
			return map[string]any{"id": fmt.Sprint(x.ID), "name": x.Text, "updated_at": x.At.Unix()}
		})}
		if more {
			answer["pages"] = map[string]any{"type": "pages", "next": map[string]any{"page": 2, "starting_after": fmt.Sprint(next)}}
		}
		a.respond(w, answer)
	}},
	"Adobe Analytics": {records: sevenRecords, more: threeMore, id: "pageviews", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/ims/token") {
			a.respond(w, map[string]any{"access_token": "t0ken", "expires_in": 3599})
			return
		}
		want(r, "Authorization", "Bearer t0ken")
		want(r, "X-Api-Key", "s3cret")
		settings := body(r)["settings"].(map[string]any)
		number, ok := settings["page"].(float64)
		if !ok || settings["limit"] != 400.0 {
			panic(http.StatusBadRequest)
		}
		all := a.found(time.Time{})
		some, _, more := page(all, int(number)*pageSize, pageSize)
		a.respond(w, map[string]any{"totalPages": (len(all) + 1) / 2, "firstPage": number == 0, "lastPage": !more, "number": number, "columns": map[string]any{"columnIds": []string{"0"}}, "rows": rows(some, func(x item) map[string]any {
			return map[string]any{"itemId": fmt.Sprint("i", x.ID), "value": x.Text, "data": []int{x.ID}}
		})})
	}},
	"SEC EDGAR": {records: sevenRecords, more: threeMore, id: "accessionNumber", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("User-Agent"), "@") {
			panic(http.StatusForbidden)
		}
		numbers, dates := []string{}, []string{}
		for _, x := range a.found(time.Time{}) {
			numbers, dates = append(numbers, fmt.Sprint(x.ID)), append(dates, x.At.Format(time.DateOnly))
		}
		a.respond(w, map[string]any{"cik": "320193", "tickers": []string{"AAPL"}, "filings": map[string]any{
			"recent": map[string]any{"accessionNumber": numbers, "filingDate": dates},
			"files":  []any{map[string]any{"name": "CIK0000320193-submissions-001.json", "filingCount": 1001}},
		}})
	}},
	// A request with a token has no other argument but the verb.
	"OAI-PMH": {records: sevenRecords, more: threeMore, id: "identifier", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/xml; charset=utf-8")
		q := r.URL.Query()
		token := q.Get("resumptionToken")
		if q.Get("verb") != "ListIdentifiers" || (token == "") != (q.Get("metadataPrefix") == "oai_dc") {
			fmt.Fprint(w, `<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><error code="badArgument">no</error></OAI-PMH>`)
			return
		}
		some, next, more := page(a.found(time.Time{}), number(token), pageSize)
		fmt.Fprint(w, `<?xml version="1.0" encoding="UTF-8"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><responseDate>2026-01-01T00:00:00Z</responseDate><ListIdentifiers>`)
		for _, x := range some {
			fmt.Fprintf(w, `<header><identifier>%d</identifier><datestamp>%s</datestamp></header>`, x.ID, x.At.Format(time.DateOnly))
		}
		if token != "" || more {
			text := ""
			if more {
				text = fmt.Sprint(next)
			}
			fmt.Fprintf(w, `<resumptionToken completeListSize="7">%s</resumptionToken>`, text)
		}
		fmt.Fprint(w, `</ListIdentifiers></OAI-PMH>`)
	}},
	"Binance": {records: days(-5, -1), more: days(0, 0), id: "day", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		from, to := at(r.URL.Query().Get("startTime"), "unixMs"), at(r.URL.Query().Get("endTime"), "unixMs")
		candles := [][]any{}
		for _, x := range a.records {
			if !x.At.Before(from) && !x.At.After(to) {
				candles = append(candles, []any{x.At.UnixMilli(), "0.0163", "0.8", "0.0157", "0.0157", "148976.1", x.At.UnixMilli() + 86399999})
			}
		}
		a.respond(w, candles)
	}},
	"Prometheus": {records: days(-5, -1), more: days(0, 0), id: "day", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "acme" || password != "s3cret" {
			panic(http.StatusUnauthorized)
		}
		q := r.URL.Query()
		from, to := at(q.Get("start"), "unix"), at(q.Get("end"), "unix")
		if q.Get("step") != "1d" || q.Get("query") == "" || to.Before(from) {
			panic(http.StatusBadRequest)
		}
		values := [][]any{}
		for _, x := range a.records {
			if !x.At.Before(from) && !x.At.After(to) {
				values = append(values, []any{float64(x.At.Unix()), "NaN"})
			}
		}
		result := []any{}
		if len(values) > 0 {
			values[0][1] = "148.25"
			result = append(result, map[string]any{"metric": map[string]any{"job": "shop"}, "values": values})
		}
		a.respond(w, map[string]any{"status": "success", "data": map[string]any{"resultType": "matrix", "result": result}})
	}},
	"Slack": {records: sevenRecords, more: threeMore, id: "id", serve: func(a *imitation, w http.ResponseWriter, r *http.Request) {
		want(r, "Authorization", "Bearer s3cret")
		if a.state["asked"]++; a.state["asked"]%4 == 0 {
			a.respond(w, map[string]any{"ok": false, "error": "ratelimited"})
			return
		}
		some, next, more := page(a.found(time.Time{}), number(r.URL.Query().Get("cursor")), pageSize)
		cursor := ""
		if more {
			cursor = fmt.Sprint(next)
		}
		a.respond(w, map[string]any{"ok": true, "channels": rows(some, plain("updated")), "response_metadata": map[string]any{"next_cursor": cursor}})
	}},
}
