package app

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeAPI stands in for the API of a service: it answers as its documentation says,
// with records that a test can add to, refuses credentials and asks to wait.
type fakeAPI struct {
	*httptest.Server
	mu      sync.Mutex
	records map[string][]apiRecord
	refuse  bool
	busy    int // how many requests are still answered with 429
	asked   []string
	serve   func(f *fakeAPI, w http.ResponseWriter, r *http.Request)
}

// apiRecord is a record of a fake API.
type apiRecord = map[string]any

func newFakeAPI(t testing.TB, records map[string][]apiRecord, serve func(*fakeAPI, http.ResponseWriter, *http.Request)) *fakeAPI {
	f := &fakeAPI{records: records, serve: serve}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, r.Method+" "+r.URL.String())
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	switch {
	case f.refuse:
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"message":"Bad credentials"}`)
	case f.busy > 0:
		f.busy--
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, `{"message":"rate limit"}`)
	default:
		f.serve(f, w, r)
	}
}

// add adds records to a view.
func (f *fakeAPI) add(view string, more ...apiRecord) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.records[view] = append(f.records[view], more...)
}

// set changes how the API behaves, and forgets what it was asked.
func (f *fakeAPI) set(refuse bool, busy int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse, f.busy, f.asked = refuse, busy, nil
}

func (f *fakeAPI) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

func writeJSON(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

// pickRecords are the records for which a test holds.
func pickRecords(all []apiRecord, keep func(apiRecord) bool) []apiRecord {
	kept := []apiRecord{}
	for _, r := range all {
		if keep(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

// dig is what a record has at a path of members.
func dig(r apiRecord, path ...string) any {
	var v any = r
	for _, name := range path {
		m, _ := v.(apiRecord)
		v = m[name]
	}
	return v
}

func said(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// fakeDay is a day in the past from which the records of fake APIs count.
var fakeDay = time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -60)

// fakeGitHub answers as https://docs.github.com/rest does for a repository.
func fakeGitHub(t testing.TB) *fakeAPI {
	records := map[string][]apiRecord{}
	for i := 1; i <= 130; i++ {
		for view, make := range githubRecords {
			records[view] = append(records[view], make(i))
		}
	}
	return newFakeAPI(t, records, serveGitHub)
}

func stamp(i int) string { return fakeDay.Add(time.Duration(i) * 5 * time.Hour).Format(time.RFC3339) }

var githubRecords = map[string]func(i int) apiRecord{
	"issues": func(i int) apiRecord {
		r := apiRecord{
			"id": 1_000_000_000_000 + i, "number": i, "title": fmt.Sprint("Issue ", i), "state": []string{"open", "closed"}[i%2], "state_reason": nil,
			"user": apiRecord{"login": []string{"ada", "grace", "linus"}[i%3]}, "assignee": nil, "labels": []apiRecord{{"name": "bug"}}, "milestone": nil,
			"comments": i % 7, "locked": false, "created_at": stamp(i - 1), "updated_at": stamp(i), "closed_at": nil, "html_url": "https://github.example/" + fmt.Sprint(i), "body": "text",
		}
		if i%5 == 0 {
			r["pull_request"] = apiRecord{"url": "https://github.example/pull"}
			r["assignee"] = apiRecord{"login": "ada"}
		}
		return r
	},
	"pulls": func(i int) apiRecord {
		return apiRecord{
			"id": 2_000_000 + i, "number": i, "title": fmt.Sprint("Pull ", i), "state": []string{"open", "closed"}[i%2], "draft": i%4 == 0,
			"user": apiRecord{"login": "ada"}, "base": apiRecord{"ref": []string{"main", "next"}[i%2]}, "head": apiRecord{"ref": "topic"}, "labels": []apiRecord{},
			"created_at": stamp(i), "updated_at": stamp(i), "closed_at": nil, "merged_at": nil, "html_url": "https://github.example/",
		}
	},
	"commits": func(i int) apiRecord {
		return apiRecord{
			"sha": fmt.Sprintf("%040x", i), "author": nil, "html_url": "https://github.example/", "commit": apiRecord{
				"message": fmt.Sprint("Change ", i), "author": apiRecord{"name": "Ada", "email": "ada@example.com", "date": stamp(i - 1)},
				"committer": apiRecord{"name": "Ada", "date": stamp(i)}, "verification": apiRecord{"verified": i%2 == 0},
			},
		}
	},
	"releases": func(i int) apiRecord {
		return apiRecord{
			"id": 3_000_000 + i, "tag_name": fmt.Sprint("v", i), "name": fmt.Sprint("Release ", i), "draft": false, "prerelease": i%3 == 0,
			"author": apiRecord{"login": "ada"}, "created_at": stamp(i), "published_at": stamp(i), "assets": []apiRecord{}, "html_url": "https://github.example/", "body": "notes",
		}
	},
	"workflow_runs": func(i int) apiRecord {
		return apiRecord{
			"id": 4_000_000 + i, "name": "CI", "display_title": fmt.Sprint("Run ", i), "run_number": i, "run_attempt": 1, "event": []string{"push", "schedule"}[i%2],
			"status": "completed", "conclusion": "success", "head_branch": []string{"main", "next", "topic"}[i%3], "head_sha": fmt.Sprintf("%040x", i%10), "actor": apiRecord{"login": []string{"ada", "grace"}[i%2]},
			"created_at": stamp(i), "run_started_at": stamp(i), "updated_at": stamp(i), "html_url": "https://github.example/",
		}
	},
}

func serveGitHub(f *fakeAPI, w http.ResponseWriter, r *http.Request) {
	path, ok := strings.CutPrefix(r.URL.Path, "/repos/acme/shop/")
	if !ok || r.Header.Get("Accept") != "application/vnd.github+json" {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message":"Not Found"}`)
		return
	}
	q := r.URL.Query()
	is := func(parameter string, at ...string) func(apiRecord) bool {
		return func(r apiRecord) bool { return !q.Has(parameter) || said(dig(r, at...)) == q.Get(parameter) }
	}
	after := func(parameter string, at ...string) func(apiRecord) bool {
		return func(r apiRecord) bool { return !q.Has(parameter) || said(dig(r, at...)) >= q.Get(parameter) }
	}
	before := func(parameter string, at ...string) func(apiRecord) bool {
		return func(r apiRecord) bool { return !q.Has(parameter) || said(dig(r, at...)) <= q.Get(parameter) }
	}
	state := func(r apiRecord) bool {
		wanted := cmp.Or(q.Get("state"), "open")
		return wanted == "all" || r["state"] == wanted
	}
	tests := map[string][]func(apiRecord) bool{
		"issues":       {state, is("creator", "user", "login"), after("since", "updated_at")},
		"pulls":        {state, is("base", "base", "ref")},
		"commits":      {after("since", "commit", "committer", "date"), before("until", "commit", "committer", "date")},
		"releases":     {},
		"actions/runs": {is("event", "event"), is("branch", "head_branch"), is("head_sha", "head_sha"), is("actor", "actor", "login")},
	}
	view := path
	if path == "actions/runs" {
		view = "workflow_runs"
	}
	all := pickRecords(f.records[view], func(r apiRecord) bool {
		return !slices.ContainsFunc(tests[path], func(test func(apiRecord) bool) bool { return !test(r) })
	})
	size, page := min(max(number(q.Get("per_page")), 1), 100), max(number(q.Get("page")), 1)
	rest := all[min((page-1)*size, len(all)):]
	if len(rest) > size {
		rest = rest[:size]
		next := *r.URL
		q.Set("page", strconv.Itoa(page+1))
		next.RawQuery = q.Encode()
		w.Header().Set("Link", fmt.Sprintf(`<%s%s>; rel="next"`, f.URL, next.String()))
	}
	if view == "workflow_runs" {
		writeJSON(w, apiRecord{"total_count": len(all), "workflow_runs": rest})
		return
	}
	writeJSON(w, rest)
}

// fakeStripe answers as https://docs.stripe.com/api does: newest first, by cursors.
func fakeStripe(t testing.TB) *fakeAPI {
	records := map[string][]apiRecord{}
	for i := 1; i <= 130; i++ {
		for view, make := range stripeRecords {
			records[view] = append(records[view], make(i))
		}
	}
	return newFakeAPI(t, records, serveStripe)
}

func unix(i int) int64 { return fakeDay.Add(time.Duration(i) * 5 * time.Hour).Unix() }

var stripeRecords = map[string]func(i int) apiRecord{
	"charges": func(i int) apiRecord {
		return apiRecord{
			"id": fmt.Sprint("ch_", i), "object": "charge", "amount": i * 100, "amount_refunded": 0, "currency": "eur", "status": "succeeded", "paid": true, "refunded": false, "disputed": false,
			"customer": fmt.Sprint("cus_", i%5), "payment_intent": fmt.Sprint("pi_", i), "description": nil, "failure_code": nil, "receipt_email": nil, "created": unix(i), "livemode": false,
			"metadata": apiRecord{"order": fmt.Sprint(i)},
		}
	},
	"customers": func(i int) apiRecord {
		return apiRecord{
			"id": fmt.Sprint("cus_", i), "object": "customer", "name": fmt.Sprint("Customer ", i), "email": fmt.Sprint("c", i%9, "@example.com"), "phone": nil, "description": nil, "currency": "eur",
			"balance": 0, "delinquent": false, "address": apiRecord{"country": "FR"}, "created": unix(i), "livemode": false, "metadata": apiRecord{},
		}
	},
	"invoices": func(i int) apiRecord {
		return apiRecord{
			"id": fmt.Sprint("in_", i), "object": "invoice", "number": fmt.Sprint("A-", i), "customer": fmt.Sprint("cus_", i%5), "status": []string{"paid", "open", "draft"}[i%3], "currency": "eur",
			"total": i, "subtotal": i, "amount_due": i, "amount_paid": i, "amount_remaining": 0, "due_date": nil, "period_start": unix(i), "period_end": unix(i + 1), "created": unix(i),
			"hosted_invoice_url": "https://invoice.example", "metadata": apiRecord{},
		}
	},
	"subscriptions": func(i int) apiRecord {
		return apiRecord{
			"id": fmt.Sprint("sub_", i), "object": "subscription", "customer": fmt.Sprint("cus_", i%5), "status": []string{"active", "canceled", "trialing"}[i%3], "currency": "eur",
			"cancel_at_period_end": false, "start_date": unix(i), "canceled_at": nil, "ended_at": nil, "trial_end": nil, "created": unix(i), "items": apiRecord{"object": "list", "data": []apiRecord{{"id": "si_1"}}}, "metadata": apiRecord{},
		}
	},
}

func serveStripe(f *fakeAPI, w http.ResponseWriter, r *http.Request) {
	view := strings.TrimPrefix(r.URL.Path, "/v1/")
	all, known := f.records[view]
	if r.Header.Get("Authorization") != "Bearer sk_test" || !known {
		w.WriteHeader(map[bool]int{true: http.StatusUnauthorized, false: http.StatusNotFound}[known])
		fmt.Fprint(w, `{"error":{"type":"invalid_request_error","message":"Invalid API Key provided"}}`)
		return
	}
	q := r.URL.Query()
	all = pickRecords(all, func(r apiRecord) bool {
		for _, parameter := range []string{"customer", "payment_intent", "email", "status"} {
			wanted := q.Get(parameter)
			if view == "subscriptions" && parameter == "status" && (wanted == "all" || wanted == "" && r["status"] != "canceled") {
				continue
			}
			if wanted != "" && said(r[parameter]) != wanted {
				return false
			}
		}
		created := r["created"].(int64)
		return (!q.Has("created[gte]") || created >= int64(number(q.Get("created[gte]")))) && (!q.Has("created[lte]") || created <= int64(number(q.Get("created[lte]"))))
	})
	slices.Reverse(all)
	if after := q.Get("starting_after"); after != "" {
		i := slices.IndexFunc(all, func(r apiRecord) bool { return r["id"] == after })
		all = all[i+1:]
	}
	size := min(max(number(cmp.Or(q.Get("limit"), "10")), 1), 100)
	writeJSON(w, apiRecord{"object": "list", "url": r.URL.Path, "has_more": len(all) > size, "data": all[:min(size, len(all))]})
}

// fakeFrankfurter answers as https://frankfurter.dev does: for a range of days, of
// which only working days have rates, and for the latest.
func fakeFrankfurter(t testing.TB) *fakeAPI {
	var days []apiRecord
	for i := range 55 {
		days = append(days, rateOf(i))
	}
	return newFakeAPI(t, map[string][]apiRecord{"rates": days}, func(f *fakeAPI, w http.ResponseWriter, r *http.Request) {
		base := cmp.Or(r.URL.Query().Get("base"), "EUR")
		span := strings.TrimPrefix(r.URL.Path, "/v1/")
		all := f.records["rates"]
		last := all[len(all)-1]
		if span == "latest" {
			writeJSON(w, apiRecord{"amount": 1.0, "base": base, "date": last["date"], "rates": last["rates"]})
			return
		}
		from, to, ok := strings.Cut(span, "..")
		if _, err := time.Parse(time.DateOnly, from); err != nil || !ok {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"message":"not found"}`)
			return
		}
		rates := apiRecord{}
		for _, day := range all {
			if date := said(day["date"]); date >= from && (to == "" || date <= to) {
				rates[date] = day["rates"]
			}
		}
		writeJSON(w, apiRecord{"amount": 1.0, "base": base, "start_date": from, "end_date": to, "rates": rates})
	})
}

func rateOf(i int) apiRecord {
	day := fakeDay.AddDate(0, 0, i)
	return apiRecord{"date": day.Format(time.DateOnly), "rates": apiRecord{"USD": 1.05 + float64(i)/1000, "CHF": 0.94, "JPY": 160 + i}}
}
