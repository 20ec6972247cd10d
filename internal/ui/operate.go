package ui

import (
	"net/http"
	"time"

	"github.com/feedmill/feedmill/client"
)

// operatePage is how the service does, for its operator.
type operatePage struct {
	client.Operation
	Plots  []plot
	Window string
	// Worst is the first thing to look at; empty where all is well.
	Worst string
}

// windows are the times that the plots can show.
var windows = map[string]time.Duration{"1h": time.Hour, "6h": 6 * time.Hour, "24h": 24 * time.Hour}

func showOperate(v *visit) error {
	o, err := v.api.Operate(v.r.Context())
	if err != nil {
		return err
	}
	p := operatePage{Operation: o, Window: v.r.URL.Query().Get("window")}
	if windows[p.Window] == 0 {
		p.Window = "1h"
	}
	for len(o.Series) > 0 && o.Series[0].At.Before(time.Now().Add(-windows[p.Window])) {
		o.Series = o.Series[1:]
	}
	p.Plots, p.Worst = operatePlots(o.Series), worstOf(o)
	return v.render(http.StatusOK, "operate", "Operate", p)
}

func operatePlots(points []client.OperationPoint) []plot {
	at := make([]time.Time, len(points))
	for i, point := range points {
		at[i] = point.At
	}
	of := func(name, class string, value func(client.OperationPoint) float64) plotSeries {
		s := plotSeries{Name: name, Class: class, Values: make([]float64, len(points))}
		for i, point := range points {
			s.Values[i] = value(point)
		}
		return s
	}
	plots := []plot{
		{Title: "Events accepted", Unit: "a second", Series: []plotSeries{of("accepted", "accent", func(p client.OperationPoint) float64 { return p.Accepted })}},
		{Title: "Attempts", Unit: "a second", Bars: true, Series: []plotSeries{of("delivered", "bar", func(p client.OperationPoint) float64 { return p.Delivered }), of("failed", "bad", func(p client.OperationPoint) float64 { return p.Failed })}},
		{Title: "Oldest due", Unit: "seconds", Series: []plotSeries{of("oldest due", "accent", func(p client.OperationPoint) float64 { return p.OldestDue })}},
		{Title: "Open deliveries", Series: []plotSeries{of("open", "accent", func(p client.OperationPoint) float64 { return p.Open })}},
		{Title: "In flight", Series: []plotSeries{of("in flight", "accent", func(p client.OperationPoint) float64 { return p.InFlight })}},
		{Title: "Refreshes under way", Bars: true, Series: []plotSeries{of("refreshes", "bar", func(p client.OperationPoint) float64 { return p.Refreshes })}},
	}
	for i := range plots {
		plots[i].At = at
		plots[i] = plots[i].thinned()
	}
	return plots
}

// lowDisk is where little is left.
const lowDisk = 2 << 30

// worstOf is the one sentence that matters most.
func worstOf(o client.Operation) string {
	for _, s := range o.Stores {
		switch {
		case s.State != "ready":
			return "The store of " + s.Name + " gives no answer. Nothing is accepted until it does; nothing accepted is lost."
		case s.FreeBytes != nil && *s.FreeBytes < lowDisk:
			return "The disk has " + byteSize(*s.FreeBytes) + " left. When it is full, uploads and events are refused; nothing accepted is lost."
		}
	}
	if n := len(o.Series); n > 0 && o.Series[n-1].OldestDue > 60 {
		return "Deliveries have been due for " + span(time.Duration(o.Series[n-1].OldestDue)*time.Second) + ". They are sent as fast as endpoints and this process allow."
	}
	if n := len(o.Breakers); n > 0 {
		return plural(n, "endpoint") + " that give no answer. One attempt at a time is made to see; what waits is charged no attempt."
	}
	return ""
}
