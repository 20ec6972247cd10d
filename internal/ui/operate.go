package ui

import (
	"cmp"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/feedmill/feedmill/client"
)

// operatePage is how the service does, for its operator.
type operatePage struct {
	client.Operation
	Plots    []plot
	Window   string
	Replicas []replicaRow
	// Slots are those that the replicas own together, and Here the workspace of the visitor,
	// whose subscriptions have pages.
	Slots int
	Here  string
	// Storage reports whether the page is that of the replicas and the storage.
	Storage bool
	// Worst is the first thing to look at; empty where all is well.
	Worst string
}

// Engine is what keeps the records, and the files if they are in a bucket.
func (p operatePage) Engine() string {
	var engines []string
	for _, s := range p.Stores {
		if s.Engine != "" {
			engines = append(engines, s.Engine)
		}
	}
	return strings.Join(engines, " and ")
}

// storeRow is a store in words: what it is, and how much of it is used, as a share where that
// is known.
type storeRow struct {
	client.StoreState
	Title, What, State, Used string
	Share                    *float64
}

// fullDisk is the share of a disk beyond which little of it is left, however large it is.
const fullDisk = .95

// StoreRows are the stores and disks.
func (p operatePage) StoreRows() (rows []storeRow) {
	for _, s := range p.Stores {
		row := storeRow{StoreState: s, Title: s.Name, What: s.Engine, State: s.State}
		switch s.Name {
		case "records":
			row.Title = "Records"
		case "bucket":
			row.Title = "Bucket"
		case "disk":
			row.Title, row.What = "Disk", s.Replica
		}
		switch {
		case s.FreeBytes != nil && s.TotalBytes > 0:
			used := s.TotalBytes - *s.FreeBytes
			row.Share, row.Used = new(float64(used)/float64(s.TotalBytes)), byteSize(used)+" of "+byteSize(s.TotalBytes)
			if isLow(s) {
				row.State = "low"
			}
		case s.FreeBytes != nil:
			row.Used = byteSize(*s.FreeBytes) + " free"
		case s.MaxConnections > 0:
			row.Share, row.Used = new(float64(s.Connections)/float64(s.MaxConnections)), number(s.Connections)+" of "+number(s.MaxConnections)+" connections"
		}
		rows = append(rows, row)
	}
	return rows
}

// isLow reports whether little of a disk is left.
func isLow(s client.StoreState) bool {
	return s.FreeBytes != nil && (*s.FreeBytes < lowDisk || s.TotalBytes > 0 && float64(*s.FreeBytes) < (1-fullDisk)*float64(s.TotalBytes))
}

// replicaRow is a replica and its part of the bar of slots, which begins at From.
type replicaRow struct {
	client.Replica
	Shade, From int
}

// windows are the times that the plots can show, each with the step of its points.
var windows = map[string]struct{ length, step time.Duration }{
	"1h": {time.Hour, time.Minute}, "6h": {6 * time.Hour, 5 * time.Minute}, "24h": {24 * time.Hour, 20 * time.Minute},
}

func showOperate(v *visit) error {
	o, err := v.api.Operate(v.r.Context())
	if err != nil {
		return err
	}
	p := newOperatePage(v, o)
	p.Plots = operatePlots(o.Series, windows[p.Window].length, windows[p.Window].step, time.Now())
	return v.render(http.StatusOK, "operate", "Operate", p)
}

// newOperatePage is what the pages of the operator share.
func newOperatePage(v *visit, o client.Operation) operatePage {
	p := operatePage{Operation: o, Window: v.r.URL.Query().Get("window"), Here: v.me.Workspace.ID, Worst: worstOf(o)}
	if windows[p.Window].length == 0 {
		p.Window = "1h"
	}
	for i, r := range o.Replicas {
		p.Replicas = append(p.Replicas, replicaRow{Replica: r, Shade: i % slotShades, From: p.Slots})
		p.Slots += r.Slots
	}
	return p
}

// slotShades is how many colours tell replicas apart.
const slotShades = 3

// LeaseAt is when the replica last said that it is there.
func (r replicaRow) LeaseAt() time.Time {
	return time.Now().Add(-time.Duration(r.LeaseAge * float64(time.Second)))
}

// operatePlots draws the points of a time that ends now. Steps without a point, in which no
// replica ran, stay empty, so that the axis tells the time.
func operatePlots(points []client.OperationPoint, length, step time.Duration, now time.Time) []plot {
	at, of := plotted(points, length, step, now)
	plots := []plot{
		{Title: "Events accepted", Unit: "a second", Series: []plotSeries{of("accepted", "accent", func(p client.OperationPoint) float64 { return p.Accepted })}},
		{Title: "Attempts", Unit: "a second", Bars: true, Series: []plotSeries{of("delivered", "bar", func(p client.OperationPoint) float64 { return p.Delivered }), of("failed", "bad", func(p client.OperationPoint) float64 { return p.Failed })}},
		{Title: "Oldest due", Unit: "seconds", Series: []plotSeries{of("oldest due", "accent", func(p client.OperationPoint) float64 { return p.OldestDue })}},
		{Title: "Open deliveries", Series: []plotSeries{of("open", "accent", func(p client.OperationPoint) float64 { return p.Open })}},
		{Title: "In flight", Series: []plotSeries{of("in flight", "accent", func(p client.OperationPoint) float64 { return p.InFlight })}},
		{Title: "Running refreshes", Bars: true, Series: []plotSeries{of("refreshes", "bar", func(p client.OperationPoint) float64 { return p.Refreshes })}},
	}
	for i := range plots {
		plots[i].At = at
	}
	return plots
}

// plotted are the steps of a time that ends now, and a function that makes a series of a value of
// the points. A value that is not a number is left out.
func plotted(points []client.OperationPoint, length, step time.Duration, now time.Time) (at []time.Time, of func(name, class string, value func(client.OperationPoint) float64) plotSeries) {
	for t := now.Add(-length).Truncate(step).Add(step); !t.After(now); t = t.Add(step) {
		at = append(at, t)
	}
	for len(points) > 0 && points[0].At.Before(at[0]) {
		points = points[1:]
	}
	// The step that has just begun has no point yet.
	if n := len(at); len(points) > 0 && points[len(points)-1].At.Before(at[n-1]) {
		at = at[:n-1]
	}
	return at, func(name, class string, value func(client.OperationPoint) float64) plotSeries {
		s := plotSeries{Name: name, Class: class, Values: make([]float64, len(at))}
		counts := make([]float64, len(at))
		for _, point := range points {
			i := min(int(point.At.Sub(at[0])/step), len(at)-1)
			if v := value(point); !math.IsNaN(v) {
				s.Values[i] += v
				counts[i]++
			}
		}
		for i := range counts {
			s.Values[i] /= counts[i] // a step without a point is not a number
		}
		return s
	}
}

// lowDisk is where little is left.
const lowDisk = 2 << 30

// worstOf is the one sentence that matters most.
func worstOf(o client.Operation) string {
	for _, s := range o.Stores {
		switch {
		case s.Name == "bucket" && s.State != "ready":
			return bucketOutage(s)
		case s.State != "ready":
			return "The store of " + s.Name + " does not respond. Feedmill accepts nothing until it does. Accepted data is safe."
		case isLow(s):
			return "The disk of " + cmp.Or(s.Replica, "a replica") + " has " + byteSize(*s.FreeBytes) + " left. When it is full, uploads and events are rejected. Accepted data is safe."
		}
	}
	if n := len(o.Scrub.Damaged); n > 0 {
		return plural(n, "stored file") + " found to be damaged. Reads of their versions fail; other versions are not affected. See Replicas and storage."
	}
	for _, r := range o.Replicas {
		if r.MissingFiles > 0 {
			return r.Name + " is missing " + plural(r.MissingFiles, "file") + " of feeds. It delivers events, but does not serve or refresh those feeds. Run the replica that has the files, or restore them."
		}
	}
	if n := len(o.Series); n > 0 && o.Series[n-1].OldestDue > 60 {
		return "Deliveries have been due for " + span(time.Duration(o.Series[n-1].OldestDue)*time.Second) + ". They are sent as fast as endpoints and replicas allow."
	}
	for _, r := range o.Replicas {
		if r.State == "silent" {
			return r.Name + " has not reported for " + span(time.Duration(r.LeaseAge)*time.Second) + ". If it has stopped, the other replicas take over its slots. Accepted data is safe."
		}
	}
	if n := len(o.Breakers); n > 0 {
		word := " give"
		if n == 1 {
			word = " gives"
		}
		return plural(n, "endpoint") + word + " no response. Feedmill probes with one attempt; waiting deliveries lose no attempts."
	}
	return ""
}
