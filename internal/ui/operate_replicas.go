package ui

import (
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// replicasPage is the page of the replicas, the bucket and the stored files.
type replicasPage struct {
	operatePage
	Upgrade *upgradeNote
	Bucket  *client.StoreState
	Disks   []storeRow
	Leases  []leaseRow
	// Used is the share of files that are verified, nil without files, and Rate how many bytes
	// are verified per second.
	Used *float64
	Rate float64
}

// upgradeNote is about replicas of two versions.
type upgradeNote struct {
	From, To   string
	Done, Many int
	Late       bool
}

// upgradeTime is how long two versions may run beside each other before the page warns.
const upgradeTime = time.Hour

// upgradeOf is the note of replicas with several versions, nil if they have one. The version of
// the replica that started last is the new one.
func upgradeOf(replicas []client.Replica, now time.Time) *upgradeNote {
	running := slices.DeleteFunc(slices.Clone(replicas), func(r client.Replica) bool { return r.State == "silent" })
	if len(running) == 0 {
		return nil
	}
	slices.SortStableFunc(running, func(a, b client.Replica) int { return b.StartedAt.Compare(a.StartedAt) })
	u := &upgradeNote{To: running[0].Version, Many: len(running)}
	var former []string
	var began time.Time
	for _, r := range running {
		if r.Version == u.To {
			u.Done++
			began = r.StartedAt
		} else {
			former = append(former, r.Version)
		}
	}
	if len(former) == 0 {
		return nil
	}
	slices.Sort(former)
	u.From, u.Late = strings.Join(slices.Compact(former), ", "), now.Sub(began) > upgradeTime
	return u
}

// leaseRow is a kind of lease in words.
type leaseRow struct {
	Title, Owner, Progress, State string
	Term                          time.Duration
}

var leaseTitles = map[feedmill.LeaseKind]struct{ title, one string }{
	feedmill.LeaseSlots:     {"Delivery slots", "slot"},
	feedmill.LeaseRefreshes: {"Refreshes", "source"},
	feedmill.LeaseFiles:     {"Files being written", "file"},
	feedmill.LeasePins:      {"Backups", "pin"},
	feedmill.LeaseMove:      {"Move of files", "move"},
}

func leaseRows(of []client.Lease) (rows []leaseRow) {
	for _, l := range of {
		row := leaseRow{Owner: strings.Join(l.Owners, ", "), State: "free", Term: time.Duration(l.Term * float64(time.Second))}
		words := leaseTitles[l.Name]
		if row.Title = words.title; l.Count > 0 {
			row.State, row.Progress = "held", plural(l.Count, words.one)
		}
		rows = append(rows, row)
	}
	return rows
}

func showReplicas(v *visit) error {
	o, err := v.api.Operate(v.r.Context())
	if err != nil {
		return err
	}
	now := time.Now()
	p := replicasPage{operatePage: newOperatePage(v, o), Upgrade: upgradeOf(o.Replicas, now), Leases: leaseRows(o.Leases)}
	p.Storage = true
	for i := range o.Stores {
		if o.Stores[i].Name == "bucket" {
			p.Bucket = &o.Stores[i]
		}
	}
	for _, row := range p.StoreRows() {
		if row.Name == "disk" {
			p.Disks = append(p.Disks, row)
		}
	}
	if p.Bucket != nil {
		p.Plots = bucketPlots(o.Series, windows[p.Window].length, windows[p.Window].step, now)
	}
	if o.Scrub.Files > 0 {
		p.Used = new(float64(o.Scrub.Verified) / float64(o.Scrub.Files))
	}
	if n := len(o.Series); n > 0 {
		p.Rate = o.Series[n-1].Scrubbed
	}
	return v.render(http.StatusOK, "operate_replicas", "Operate", p)
}

// EndsIn is how long the scrub takes for the files that are left, zero if it rests.
func (p replicasPage) EndsIn() time.Duration {
	if p.Rate <= 0 {
		return 0
	}
	return time.Duration(float64(p.Scrub.Bytes-p.Scrub.VerifiedBytes) / p.Rate * float64(time.Second))
}

// RateBytes is the rate as a whole number.
func (p replicasPage) RateBytes() int64 { return int64(p.Rate) }

// HasCache reports whether replicas have a cache.
func (p replicasPage) HasCache() bool { return p.Bucket != nil }

// bucketPlots draw what the bucket and the caches did.
func bucketPlots(points []client.OperationPoint, length, step time.Duration, now time.Time) []plot {
	at, of := plotted(points, length, step, now)
	series := func(name, class string, value func(*client.BucketPoint) float64) plotSeries {
		return of(name, class, func(p client.OperationPoint) float64 {
			if p.Bucket == nil {
				return math.NaN()
			}
			return value(p.Bucket)
		})
	}
	took := func(ms *client.Milliseconds) float64 {
		if ms == nil {
			return math.NaN()
		}
		return float64(*ms)
	}
	const mega = 1e6
	plots := []plot{
		{Title: "Latency", Unit: "ms", Series: []plotSeries{
			series("p50", "quiet", func(b *client.BucketPoint) float64 { return took(b.P50) }),
			series("p99", "accent", func(b *client.BucketPoint) float64 { return took(b.P99) }),
		}},
		{Title: "Requests", Unit: "a second", Bars: true, Series: []plotSeries{
			series("done", "bar", func(b *client.BucketPoint) float64 { return b.Requests - b.Errors }),
			series("errors", "bad", func(b *client.BucketPoint) float64 { return b.Errors }),
		}},
		{Title: "Cache hits", Unit: "%", Near: true, Series: []plotSeries{
			series("hits", "accent", func(b *client.BucketPoint) float64 { return 100 * b.CacheHits / (b.CacheHits + b.CacheMisses) }),
		}},
		{Title: "MB", Unit: "a second", Bars: true, Series: []plotSeries{
			series("read", "bar", func(b *client.BucketPoint) float64 { return b.ReadBytes / mega }),
			series("written", "running", func(b *client.BucketPoint) float64 { return b.WrittenBytes / mega }),
			series("evicted", "quiet", func(b *client.BucketPoint) float64 { return b.EvictedBytes / mega }),
		}},
	}
	for i := range plots {
		plots[i].At = at
	}
	return plots
}

// bucketOutage says what an outage of the bucket means.
func bucketOutage(s client.StoreState) string {
	text := "The bucket has not responded"
	if s.FailedSince != nil {
		text += " since " + s.FailedSince.UTC().Format("15:04") + " UTC"
	}
	return text + ". Cached data stays readable; uploads and refreshes return 503. Nothing that was accepted is lost."
}
