package ui

import (
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// schedulePlan is the form of a schedule, and what it comes to.
type schedulePlan struct {
	// When is none, every or cron.
	When, Every, Cron, Timezone string
	// Runs are the next five, and Wrong is why there are none.
	Runs  []plannedRun
	Wrong string
}

// plannedRun is a time to come, as the clock of the schedule's zone shows it.
type plannedRun struct {
	At    time.Time
	Local string
}

// Zone is the zone that the times of the plan stand in, empty for the visitor's.
func (p schedulePlan) Zone() string {
	if p.When == "cron" {
		return p.Timezone
	}
	return ""
}

// plannedRuns is how many runs a plan shows.
const plannedRuns = 5

// The schedules that the form begins with where there is none of the kind.
const usualEvery, usualCron, usualZone = "1h", "0 6 * * 1-5", "UTC"

// planOf is the plan of a feed as it is.
func planOf(f client.DataFeed) schedulePlan {
	p := schedulePlan{When: "none", Every: usualEvery, Cron: usualCron, Timezone: usualZone}
	switch s := f.Schedule; {
	case s == nil:
		return p
	case s.Every != "":
		p.When, p.Every = "every", s.Every
	default:
		p.When, p.Cron = "cron", s.Cron
		if s.Timezone != "" {
			p.Timezone = s.Timezone
		}
	}
	p.fillRuns(time.Now(), f.NextRefreshAt)
	return p
}

// readPlan is the plan that a form has.
func readPlan(form func(name string) string, now time.Time) schedulePlan {
	p := schedulePlan{When: form("when"), Every: form("every"), Cron: form("cron"), Timezone: form("timezone")}
	p.fillRuns(now, time.Time{})
	return p
}

// fillRuns fills in the next runs, of which the first may be known.
func (p *schedulePlan) fillRuns(now, first time.Time) {
	s, wrong := p.schedule()
	if p.Wrong = wrong; wrong != "" || s.IsZero() {
		return
	}
	zone, err := feedmill.Zone(s.Timezone)
	if err != nil {
		return
	}
	at := first
	if at.IsZero() {
		at = s.Next(now, now, "")
		if s.Every > 0 {
			at = now.Add(s.Every)
		}
	}
	for len(p.Runs) < plannedRuns && !at.IsZero() {
		p.Runs = append(p.Runs, plannedRun{at, at.In(zone).Format("Mon 2 Jan 2006, 15:04")})
		at = following(s, at)
	}
}

// following is the run after one that is known. Runs of a cron expression come within the
// minute that it names, and one that is known may come before the one that Next plans for it.
func following(s feedmill.Schedule, at time.Time) time.Time {
	if s.Every > 0 {
		return at.Add(s.Every)
	}
	next := s.Next(at, at, "")
	if next.Truncate(time.Minute).Equal(at.Truncate(time.Minute)) {
		next = s.Next(next, next, "")
	}
	return next
}

// schedule is what the plan asks for, or what is wrong with it.
func (p schedulePlan) schedule() (s feedmill.Schedule, wrong string) {
	switch p.When {
	case "every":
		every, err := feedmill.ParseDuration(p.Every)
		if err != nil {
			return s, `Enter an interval as a number and a unit, such as "15m", "6h" or "1d".`
		}
		s.Every = every
	case "cron":
		s.Cron, s.Timezone = p.Cron, p.Timezone
	default:
		return s, ""
	}
	var details []string
	for _, fault := range s.Check() {
		details = append(details, fault.Detail)
	}
	return s, strings.Join(details, " ")
}

// change is what the plan asks the API for.
func (p schedulePlan) change() client.Field[client.Schedule] {
	switch p.When {
	case "every":
		return client.To(client.Schedule{Every: p.Every})
	case "cron":
		return client.To(client.Schedule{Cron: p.Cron, Timezone: p.Timezone})
	}
	return client.Reset[client.Schedule]()
}
