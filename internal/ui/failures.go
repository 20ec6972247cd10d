package ui

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// failureList is the page of everything that failed: deliveries by endpoint and error, and feeds.
type failureList struct {
	Rows []failureRow
	// Deliveries, Groups and Feeds are how many of them there are in all.
	Deliveries, Feeds int64
	Groups            int64
	Counts            []failureCount
	All               int64
	Query, State      string
	Since, Sort       string
	Here              *url.URL
	// CountedSince is when the oldest delivery that is counted was created, zero if all are.
	CountedSince time.Time
	// Waiting is how many deliveries to failing endpoints are not given up yet.
	Waiting  int
	WaitsFor int
	Done     *retriedNote
}

// failureCount is a kind of failure to choose.
type failureCount struct {
	Kind, Shape, Tone, Word string
	Count                   int64
}

// retriedNote reports what a retry did.
type retriedNote struct {
	Retried, Refused int
	More             bool
}

// failureRow is a group of undelivered deliveries, or a feed.
type failureRow struct {
	// Key names the row in addresses.
	Key         string
	Kind        string
	State       badge
	Name, Where string
	Href        string
	Error       string
	Now         health
	Count       int
	First, Last time.Time
	// Do is the path of a form, or with Link of a page, that can fix the failure, and Action what it
	// is called. Retry says that the deliveries of the group can be retried.
	Do, Action string
	Link       bool
	Retry      bool

	Group client.UndeliveredGroup
	// Open says that the deliveries are shown: Shown of them, with the response to the newest.
	Open     bool
	Shown    []client.Delivery
	Response string
	Toggle   string
	More     string
	Next     int
}

// Asks reports whether a retry of the group asks first.
func (r failureRow) Asks() bool { return r.Count > feedmill.MaxRetriedDeliveries }

const (
	// shownFirst is how many deliveries of a group are shown at first, and shownMore how many
	// more each time.
	shownFirst, shownMore = 7, 50
	// shownMost bounds them, and openMost how many groups are open.
	shownMost, openMost = 500, 10
	// failedFeedsShown is how many feeds are looked through for failures.
	failedFeedsShown = 500
)

// failureSpans are the times that failures can be narrowed to. The last is the default.
var failureSpans = append(slices.Clone(spans), struct {
	Name, Words string
	length      time.Duration
}{"30d", "Last 30 days", 30 * 24 * time.Hour})

// failureSorts are the columns that failures can be sorted by.
var failureSorts = []string{"-count", "count", "-last", "last", "-first", "first"}

func showFailures(v *visit) error {
	q := v.r.URL.Query()
	list := failureList{Query: strings.TrimSpace(q.Get("q")), State: q.Get("state"), Since: cmp.Or(q.Get("since"), "30d"), Sort: cmp.Or(q.Get("sort"), "-count"), Here: v.r.URL, Done: retriedOf(q)}
	if !slices.Contains(failureSorts, list.Sort) {
		list.Sort = "-count"
	}
	since := time.Now().Add(-failureSpans[len(failureSpans)-1].length)
	for _, s := range failureSpans {
		if s.Name == list.Since {
			since = time.Now().Add(-s.length)
		}
	}
	found, err := v.api.GroupUndelivered(v.r.Context(), client.UndeliveredQuery{Since: since}, "endpoint", "error")
	if err != nil {
		return err
	}
	list.CountedSince, list.Groups = found.CountedSince, found.Total
	for _, n := range found.Counts {
		list.Deliveries += n
	}
	for _, g := range found.Groups {
		list.Rows = append(list.Rows, groupRow(g))
	}
	if err := list.addFeeds(v); err != nil {
		return err
	}
	if err := list.countWaiting(v); err != nil {
		return err
	}
	list.count(found.Counts)
	list.Rows = slices.DeleteFunc(list.Rows, func(r failureRow) bool { return !list.shows(r) })
	list.sort()
	if err := list.open(v, q["open"]); err != nil {
		return err
	}
	return v.render(http.StatusOK, "failures", "Failures", list)
}

// groupRow is a group of deliveries as the page has it.
func groupRow(g client.UndeliveredGroup) failureRow {
	r := failureRow{Kind: string(g.State), State: badges[string(g.State)], Group: g, Error: shortError(g.Error), Count: g.Count, First: g.FirstAt, Last: g.LastAt}
	r.Key = keyOf(g.SubscriptionID, string(g.State), g.Error)
	s := g.Subscription
	if s == nil {
		r.Name, r.Now = "Deleted subscription", health{badge: badge{"slash", "quiet", "Deleted"}}
		r.Where = short(g.SubscriptionID)
		return r
	}
	r.Name, r.Href, r.Now = nameOf(*s), subscriptionPagePath(s.ID), healthOf(*s, "")
	if u, err := url.Parse(s.URL); err == nil && s.Name != "" {
		r.Where = cmp.Or(u.Host, u.Opaque)
	}
	broken := strings.HasPrefix(g.Error, feedmill.FilterErrorReason) || strings.HasPrefix(g.Error, feedmill.TransformFailedReason)
	switch {
	case s.State == feedmill.SubscriptionDisabled:
		r.Do, r.Action = r.Href+"/activate", "Activate"
	case broken && strings.HasPrefix(g.Error, feedmill.FilterErrorReason):
		r.Do, r.Action, r.Link = r.Href+"/edit", "Edit filter", true
	case broken:
		r.Do, r.Action, r.Link = r.Href+"/edit", "Edit transform", true
	default:
		r.Action = "Retry " + number(g.Count)
	}
	r.Retry = s.State != feedmill.SubscriptionDisabled
	return r
}

// keyOf is a short name for what identifies a row.
func keyOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:6])
}

// shortError is an error without the words that every error of an endpoint begins with.
func shortError(text string) string {
	text = strings.TrimPrefix(text, "the endpoint returned ")
	if text == "" {
		return "No error was recorded"
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// addFeeds adds the feeds that fail.
func (l *failureList) addFeeds(v *visit) error {
	search := client.DataFeedSearch{States: []feedmill.FeedState{feedmill.FeedFailed, feedmill.FeedAuthRequired, feedmill.FeedPaused}, Sort: "name", Limit: failedFeedsShown}
	found, err := v.api.SearchDataFeeds(v.r.Context(), search)
	if err != nil {
		return err
	}
	for _, f := range found.Feeds {
		t := troubleOf(f)
		if t == nil {
			continue
		}
		r := failureRow{
			Kind: "feeds", Key: keyOf(f.ID), Name: f.Name, Where: labelOf(f), Href: feedPagePath(f.ID), Error: strings.TrimSuffix(f.LastError.Title, "."),
			Count: max(f.Failures, 1), Last: f.LastError.At, Do: feedPagePath(f.ID) + "/" + t.Do, Action: t.Action, Link: t.Do == "credential",
		}
		switch f.State {
		case feedmill.FeedAuthRequired:
			r.State, r.Now = badges["auth_required"], health{badge: badges["auth_required"]}
		case feedmill.FeedPaused:
			r.State, r.Now = badge{"bars", "warn", "Feed paused"}, health{badge: badges["paused"]}
		default:
			r.State, r.Now = badge{"cross", "bad", "Feed failed"}, health{badge: badge{"cross", "bad", number(r.Count) + " in a row"}}
		}
		l.Rows = append(l.Rows, r)
		l.Feeds++
	}
	return nil
}

// countWaiting counts the deliveries to failing endpoints that have attempts left.
func (l *failureList) countWaiting(v *visit) error {
	v.api.PageSize = failedFeedsShown
	n := 0
	for s, err := range v.api.Subscriptions(v.r.Context()) {
		if err != nil {
			return err
		}
		if s.Health != nil && s.Health.Backlog > 0 && isFailing(s) {
			l.Waiting, l.WaitsFor = l.Waiting+s.Health.Backlog, l.WaitsFor+1
		}
		if n++; n == failedFeedsShown {
			break
		}
	}
	return nil
}

// count fills in the kinds to choose.
func (l *failureList) count(of map[feedmill.DeliveryState]int64) {
	for _, c := range []failureCount{
		{"exhausted", "cross", "bad", "Exhausted", of[feedmill.DeliveryExhausted]},
		{"discarded", "slash", "quiet", "Discarded", of[feedmill.DeliveryDiscarded]},
		{"feeds", "triangle", "warn", "Feeds", l.Feeds},
	} {
		if c.Count > 0 || l.State == c.Kind {
			l.Counts = append(l.Counts, c)
		}
		l.All += c.Count
	}
}

// shows reports whether the search and the kind that is chosen find a row.
func (l *failureList) shows(r failureRow) bool {
	text := strings.ToLower(r.Name + "\n" + r.Where + "\n" + r.Error)
	return (l.State == "" || l.State == r.Kind) && strings.Contains(text, strings.ToLower(l.Query))
}

func (l *failureList) sort() {
	by, down := strings.CutPrefix(l.Sort, "-")
	slices.SortStableFunc(l.Rows, func(a, b failureRow) int {
		order := cmp.Compare(a.Count, b.Count)
		switch by {
		case "first":
			order = a.First.Compare(b.First)
		case "last":
			order = a.Last.Compare(b.Last)
		}
		if down {
			order = -order
		}
		return cmp.Or(order, strings.Compare(a.Name, b.Name), strings.Compare(a.Error, b.Error))
	})
}

// open reads the deliveries of the groups that are open.
func (l *failureList) open(v *visit, keys []string) error {
	opened := 0
	for i := range l.Rows {
		r := &l.Rows[i]
		if r.Kind == "feeds" {
			continue
		}
		limit := 0
		for _, text := range keys {
			if key, n, _ := strings.Cut(text, "."); key == r.Key && opened < openMost {
				r.Open = true
				limit, _ = strconv.Atoi(n)
			}
		}
		r.Toggle = l.toggled(keys, r.Key, "", !r.Open)
		if !r.Open {
			continue
		}
		opened++
		limit = min(max(limit, shownFirst), shownMost)
		if err := r.read(v, limit); err != nil {
			return err
		}
		if left := r.Count - len(r.Shown); left > 0 && limit < shownMost {
			r.Next = min(left, shownMore)
			r.More = l.toggled(keys, r.Key, "."+strconv.Itoa(limit+shownMore), true)
		}
	}
	return nil
}

// toggled is the address of the page with a group open or closed.
func (l *failureList) toggled(keys []string, key, shown string, open bool) string {
	q := l.Here.Query()
	for _, done := range []string{"open", "did", "retried", "refused", "more"} {
		q.Del(done)
	}
	for _, other := range keys {
		if name, _, _ := strings.Cut(other, "."); name != key {
			q.Add("open", other)
		}
	}
	if open {
		q.Add("open", key+shown)
	}
	to := l.Here.Path
	if len(q) > 0 {
		to += "?" + q.Encode()
	}
	return to + "#" + key
}

// read reads deliveries of a group and the response to the newest.
func (r *failureRow) read(v *visit, limit int) error {
	v.api.PageSize = limit
	of := client.UndeliveredQuery{SubscriptionID: r.Group.SubscriptionID, State: r.Group.State, Error: r.Group.Error}
	for d, err := range v.api.FindUndelivered(v.r.Context(), of) {
		if err != nil {
			return err
		}
		if r.Shown = append(r.Shown, d); len(r.Shown) == limit {
			break
		}
	}
	if len(r.Shown) == 0 {
		return nil
	}
	d, err := v.api.Delivery(v.r.Context(), r.Shown[0].ID)
	if isNotThere(err) {
		return nil
	}
	if n := len(d.Attempts); n > 0 {
		r.Response = turning.Replace(d.Attempts[n-1].Body)
	}
	return err
}

// InState is the page with the failures of one kind.
func (l failureList) InState(state string) string {
	return with(l.Here, "state", state, "open", "", "retried", "", "refused", "", "more", "")
}

// By is the page sorted by a column: the other way if it is already.
func (l failureList) By(column string) string {
	order := "-" + column
	if l.Sort == order {
		order = column
	}
	return with(l.Here, "sort", order, "retried", "", "refused", "", "more", "")
}

// Sorted is how the list is sorted by a column, for readers of screens.
func (l failureList) Sorted(column string) string {
	return map[string]string{column: "ascending", "-" + column: "descending"}[l.Sort]
}

// Spans are the times to choose.
func (l failureList) Spans() any { return failureSpans }

// retriedOf reads what a retry did from the address that it led to.
func retriedOf(q url.Values) *retriedNote {
	var n retriedNote
	var err error
	if n.Retried, err = strconv.Atoi(q.Get("retried")); err != nil || n.Retried < 0 {
		return nil
	}
	n.Refused, _ = strconv.Atoi(q.Get("refused"))
	n.Refused, n.More = max(n.Refused, 0), q.Get("more") == "yes"
	return &n
}

// retryTime is how long one form retries the deliveries of a group.
const retryTime = 20 * time.Second

// retryFailures retries the deliveries that are selected, or those of a group.
func retryFailures(v *visit) error {
	form := v.r.PostForm
	back, err := url.Parse(local(cmp.Or(form.Get("back"), "/ui/failures")))
	if err != nil || back.Path != "/ui/failures" {
		back = &url.URL{Path: "/ui/failures"}
	}
	var done retriedNote
	add := func(s client.UndeliveredSelection) (next string, err error) {
		some, err := v.api.RetryUndelivered(v.r.Context(), s)
		done.Retried, done.Refused = done.Retried+some.Retried, done.Refused+len(some.Refused)
		return some.Next, err
	}
	switch ids := form["delivery"]; {
	case form.Has("subscription"):
		s := client.UndeliveredSelection{SubscriptionID: form.Get("subscription"), State: feedmill.DeliveryState(form.Get("state")), Error: form.Get("error")}
		for began := time.Now(); ; {
			if s.Before, err = add(s); err != nil || s.Before == "" {
				break
			}
			if done.More = time.Since(began) > retryTime; done.More {
				break
			}
		}
	case len(ids) > 0:
		for part := range slices.Chunk(ids, feedmill.MaxRetriedDeliveries) {
			if _, err = add(client.UndeliveredSelection{DeliveryIDs: part}); err != nil {
				break
			}
		}
	}
	if err != nil && done.Retried == 0 {
		return err
	}
	done.More = done.More || err != nil
	more := ""
	if done.More {
		more = "yes"
	}
	return v.redirect(with(back, "retried", strconv.Itoa(done.Retried), "refused", strconv.Itoa(done.Refused), "more", more))
}
