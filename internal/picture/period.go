package picture

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// start is when the period of a group starts.
func (p *Plot) start(i int) (time.Time, bool) {
	if p.chart.Period == nil {
		return time.Time{}, false
	}
	text := strings.Trim(string(p.chart.Groups[i].Value), `"`)
	if at, err := time.Parse(time.DateOnly, text); err == nil {
		return at, true
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return at, false
	}
	if zone, err := time.LoadLocation(p.chart.Timezone); err == nil {
		at = at.In(zone)
	}
	return at, true
}

// GroupName is what people call a group.
func (p *Plot) GroupName(i int) string {
	at, ok := p.start(i)
	if !ok {
		return p.valueName(p.chart.Groups[i].Value)
	}
	switch *p.chart.Period {
	case "hour":
		return at.Format("2 Jan 2006, 15:04")
	case "week":
		return at.Format("Week of 2 Jan 2006")
	case "month":
		return at.Format("January 2006")
	case "quarter":
		return fmt.Sprintf("Q%d %d", (at.Month()+2)/3, at.Year())
	case "year":
		return at.Format("2006")
	}
	return at.Format("2 Jan 2006")
}

// scale is a way to choose the periods with a label.
type scale struct {
	// chosen reports whether the period that starts then has a label.
	chosen func(time.Time) bool
	label  func(time.Time) string
}

// The labels of a scale. The year is part of those that begin one.
func hourLabel(t time.Time) string {
	if t.Hour() == 0 {
		return t.Format("2 Jan")
	}
	return t.Format("15:04")
}

func dayLabel(t time.Time) string {
	if t.YearDay() <= 7 {
		return t.Format("2 Jan 2006")
	}
	return t.Format("2 Jan")
}

func monthLabel(t time.Time) string {
	if t.Month() == time.January {
		return t.Format("Jan 2006")
	}
	return t.Format("Jan")
}

func yearLabel(t time.Time) string { return t.Format("2006") }

// scales are the ways to label periods, from the densest.
func (p *Plot) scales() (all []scale) {
	periods := []string{"hour", "day", "week", "month", "quarter", "year"}
	period := slices.Index(periods, *p.chart.Period)
	add := func(longest string, chosen func(time.Time) bool, label func(time.Time) string) {
		if period <= slices.Index(periods, longest) {
			all = append(all, scale{chosen, label})
		}
	}
	for _, hours := range []int{1, 3, 6, 12, 24} {
		add("hour", func(t time.Time) bool { return t.Hour()%hours == 0 }, hourLabel)
	}
	add("day", func(time.Time) bool { return true }, dayLabel)
	add("week", func(t time.Time) bool {
		return *p.chart.Period == "week" || t.Weekday() == time.Monday && t.Hour() == 0
	}, dayLabel)
	for _, months := range []int{1, 3, 6, 12} {
		add("quarter", func(t time.Time) bool {
			return (int(t.Month())-1)%months == 0 && (t.Day() == 1 || *p.chart.Period == "week" && t.Day() <= 7) && t.Hour() == 0
		}, monthLabel)
	}
	for _, years := range []int{1, 2, 5, 10, 25, 50, 100, 500} {
		add("year", func(t time.Time) bool {
			return t.YearDay() <= 7 && t.Month() == time.January && t.Year()%years == 0 && t.Hour() == 0
		}, yearLabel)
	}
	return all
}

// minSpacing is how far apart labels are, in pixels.
const minSpacing = 64

// GroupTicks are the labels of groups on an axis of a width in pixels.
func (p *Plot) GroupTicks(width float64) []Tick {
	if p.chart.Period == nil || len(p.chart.Groups) == 0 {
		return p.valueTicks(width)
	}
	for _, s := range p.scales() {
		if ticks, fits := p.labelled(s, width); fits && len(ticks) > 0 {
			return ticks
		}
	}
	return []Tick{{0, p.GroupName(0)}}
}

// labelled are the labels of a scale, and whether they are far enough apart.
func (p *Plot) labelled(s scale, width float64) (ticks []Tick, fits bool) {
	last := -minSpacing * 2.0
	for i := range p.chart.Groups {
		at, ok := p.start(i)
		if !ok || !s.chosen(at) {
			continue
		}
		place := p.left(i)
		if place*width-last < minSpacing {
			return nil, false
		}
		last = place * width
		ticks = append(ticks, Tick{place, s.label(at)})
	}
	return ticks, true
}

// valueTicks are the names of values, as many as there is space for, shortened to their space.
func (p *Plot) valueTicks(width float64) (ticks []Tick) {
	n := len(p.chart.Groups)
	if n == 0 {
		return nil
	}
	every := max(1, int(minSpacing*float64(n)/width+0.999))
	const letter = 7.0
	space := int(width / float64(n) * float64(every) / letter)
	for i := 0; i < n; i += every {
		name := []rune(p.GroupName(i))
		if len(name) > space && space > 1 {
			name = append(name[:space-1], '…')
		}
		ticks = append(ticks, Tick{p.left(i), string(name)})
	}
	return ticks
}
