package ui

import (
	"fmt"
	"html/template"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// traceView is what was asked of a source, against the time that all of it took.
type traceView struct {
	Requests []traced
	// All is how many requests there were, and LeftOut how many of them, in the middle, are
	// not among those of the page.
	All, LeftOut int
	// Ticks are the times at the head of the waterfall, at equal distances.
	Ticks []string
	// Waited reports whether a request waited, and Refused whether one was tried again.
	Waited, Refused bool
	// Said is the failed exchange with the source's own words, nil where there is none.
	Said *feedmill.SourceAnswer
}

// traced is a request of the trace with its bar in the waterfall.
type traced struct {
	Number int
	client.TracedRequest
	Short string
	Tone  string
	Bar   template.HTML
}

// shownRequests bounds how much of a trace a page has: half of it from the beginning, and
// half from the end, where what failed stands.
const shownRequests = 500

// waterfall draws a trace against the time that all of it took.
func waterfall(trace []client.TracedRequest) (v traceView) {
	if len(trace) == 0 {
		return v
	}
	v.All, v.LeftOut = len(trace), max(len(trace)-shownRequests, 0)
	if v.LeftOut > 0 {
		trace = slices.Concat(trace[:shownRequests/2], trace[v.All-shownRequests/2:])
	}
	begin, end := waitedSince(trace[0]), trace[0].At
	for _, t := range trace {
		if last := t.At.Add(milliseconds(t.DurationMS)); last.After(end) {
			end = last
		}
	}
	step, parts := axisOf(end.Sub(begin))
	for i := range parts {
		v.Ticks = append(v.Ticks, tick(step*time.Duration(i), step))
	}
	part := func(d time.Duration) float64 { return float64(d) / float64(step*time.Duration(parts)) * 100 }
	for i, t := range trace {
		number := i + 1
		if i >= shownRequests/2 {
			number += v.LeftOut
		}
		tone := ""
		switch {
		case i+1 < len(trace) && trace[i+1].Attempt > 1 && (t.Status == 0 || t.Status >= 400):
			tone, v.Refused = "warn", true
		case t.Error != "" || t.Status >= 500 || t.Status == 0:
			tone = "bad"
		case t.Status >= 400:
			tone = "warn"
		}
		var b strings.Builder
		for k := range parts {
			fmt.Fprintf(&b, `<line x1="%.2f%%" x2="%.2f%%" y2="32"/>`, float64(k)*100/float64(parts), float64(k)*100/float64(parts))
		}
		if t.WaitedMS > 0 {
			v.Waited = true
			fmt.Fprintf(&b, `<rect fill="url(#waiting)" x="%.2f%%" y="11" width="%.2f%%" height="10"/>`, part(waitedSince(t).Sub(begin)), part(milliseconds(t.WaitedMS)))
		}
		fmt.Fprintf(&b, `<rect class="took" x="%.2f%%" y="11" width="%.2f%%" height="10" rx="1"/>`, part(t.At.Sub(begin)), max(part(milliseconds(t.DurationMS)), .6))
		v.Requests = append(v.Requests, traced{
			Number: number, TracedRequest: t, Short: shortURL(t.URL), Tone: tone,
			Bar: template.HTML(`<svg height="32" aria-hidden="true" class="bar ` + tone + `">` + b.String() + `</svg>`),
		})
	}
	return v
}

// say has what the source said to a request that failed stand by itself, once.
func (v *traceView) say(s *feedmill.SourceAnswer) {
	if s == nil || s.Excerpt == "" {
		return
	}
	v.Said = s
	for i := range v.Requests {
		if v.Requests[i].Excerpt == s.Excerpt {
			v.Requests[i].Excerpt = ""
		}
	}
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// waitedSince is when the wait before a request began, which is the request itself where there
// was none.
func waitedSince(t client.TracedRequest) time.Time { return t.At.Add(-milliseconds(t.WaitedMS)) }

// axisOf parts a time into at most six parts of a round length.
func axisOf(whole time.Duration) (step time.Duration, parts int) {
	whole = max(whole, time.Millisecond)
	for unit := time.Millisecond; ; unit *= 10 {
		for _, times := range []time.Duration{1, 2, 5} {
			if step = unit * times; whole <= 6*step {
				return step, int(math.Ceil(float64(whole) / float64(step)))
			}
		}
	}
}

// tick is a time on an axis whose parts are of a length.
func tick(at, step time.Duration) string {
	if step < time.Second {
		return strconv.FormatInt(at.Milliseconds(), 10) + thin + "ms"
	}
	return strconv.FormatInt(int64(at/time.Second), 10) + thin + "s"
}

// shortURL is the path and query of a URL.
func shortURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text
	}
	return strings.TrimPrefix(u.RequestURI(), "//")
}
