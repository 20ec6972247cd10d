package deliver

import "time"

// maxComplaints is how many lanes are complained of in a minute. What is wrong with
// one is often wrong with thousands.
const maxComplaints = 20

// complaints counts what was said in a minute, and what was left unsaid since.
type complaints struct {
	since        time.Time
	said, unsaid int
}

// complain logs why a lane cannot be read, once until that changes. The mutex is held.
func (d *Dispatcher) complain(l *lane, err error, now time.Time) {
	c, text := &d.complaints, err.Error()
	if text == l.complaint {
		return
	}
	if now.Sub(c.since) >= time.Minute {
		c.since, c.said = now, 0
	}
	if c.said == maxComplaints {
		c.unsaid++ // it is tried again, and said then
		return
	}
	c.said++
	l.complaint = text
	d.Log.Error("reading due deliveries; it is tried again until it works", "subscription", l.id, "error", err, "unsaid", c.unsaid)
	c.unsaid = 0
}
