package spec

import (
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// Limits of incremental fetches.
const (
	maxLookback = 366 * 24 * time.Hour
	minStep     = time.Minute
	maxStep     = 3660 * 24 * time.Hour
)

// readIncremental reads how only what is new is fetched.
func readIncremental(o *object, r *Request) *Incremental {
	in := o.object("incremental")
	if in == nil {
		if o.r.usesCursor != "" {
			o.r.fault(o.r.usesCursor, "{{cursor}} needs the field incremental, which says what it is.")
		}
		return nil
	}
	inc := &Incremental{In: InQuery}
	inc.Step = in.duration("step", 0, minStep, maxStep)
	if path := in.path("cursorPath", !in.Has("step")); path != nil {
		if inc.column = ColumnOf(path); inc.column == "" {
			in.unreadable("cursorPath", "cursorPath must consist of names only, such as $.updated_at or $.meta.changed.")
		}
	}
	if inc.In, inc.Param = in.sentIn("param", r); inc.Param == "" && !in.Has("param") && o.r.usesCursor == "" {
		in.Fault("param", "Say how the cursor is sent: with this field, or with {{cursor}} in the request.")
	}
	inc.readStart(in, o.r.usesCursor != "" || inc.Step > 0)
	inc.readTimes(in, r)
	inc.Lookback = in.duration("lookback", 0, 0, maxLookback)
	in.RefuseUnknown()
	return inc
}

// IfModifiedSince is the header that can send the cursor.
const IfModifiedSince = "If-Modified-Since"

// Conditional reports whether the cursor is sent as the header that asks for what is newer.
// An answer that says that nothing is, is then one without records.
func (inc *Incremental) Conditional() bool {
	return inc != nil && inc.In == InHeader && strings.EqualFold(inc.Param, IfModifiedSince)
}

// readStart reads where the first fetch begins.
func (inc *Incremental) readStart(in *object, needed bool) {
	if f, ok := in.Given("start"); ok && f.Kind == '0' && in.r.rules > feedmill.RulesFirst {
		inc.Start, inc.NumericStart = in.parse("start", string(f.Raw)), true
	} else {
		inc.Start, _ = in.template("start")
	}
	if inc.Start.usesCursor() {
		in.Fault("start", "start cannot contain the cursor.")
	}
	if _, ok := TimeOf(inc.Start.Text, time.UTC); inc.Step > 0 && inc.Start.Text != "" && inc.Start.plain() && !ok {
		in.Fault("start", "Windows begin at a time: write a date such as 2024-01-31, or a token such as {{today-30d}}.")
	}
	if needed && inc.Start.Text == "" && !in.Has("start") {
		in.Fault("start", "This is required where {{cursor}} or step is used, for the first fetch.")
	}
}

// readTimes reads how times are written, and what of them is sent with windows.
func (inc *Incremental) readTimes(in *object, r *Request) {
	if inc.Step > 0 {
		inc.Format = TimeFormat{name: "rfc3339", unit: time.Second}
	}
	if text, ok := in.text("format"); ok {
		var err error
		if inc.Format, err = parseTimeFormat(text); err != nil {
			in.unreadable("format", UpperFirst(err.Error())+".")
		}
	}
	if inc.Step > 0 {
		inc.ToIn, inc.To = in.sentIn("to", r)
		if f, ok := in.Given("inclusive"); ok {
			inc.Inclusive, _ = f.Boolean()
		}
	} else {
		for _, name := range []string{"to", "inclusive"} {
			if in.Has(name) {
				in.Fault(name, "Applies only with step. Remove it, or set step.")
			}
		}
	}
	if name, ok := in.text("timezone"); ok {
		if _, err := feedmill.Zone(name); err != nil || name == "" {
			in.unreadable("timezone", "The time zone is unknown. Use an IANA name such as Europe/Paris.")
		}
	}
}

// sentIn reads where a value is sent.
func (o *object) sentIn(name string, r *Request) (in, param string) {
	p := o.object(name)
	if p == nil {
		return InQuery, ""
	}
	in = p.choice("in", r.Body.home(), InQuery, InHeader, inBody)
	param = p.needText("name")
	// The header that asks for what is newer than a time may carry the cursor: some sources
	// give only the records that are.
	if !(name == "param" && in == InHeader && strings.EqualFold(param, IfModifiedSince)) {
		p.checkParam("name", param, in, r)
	}
	p.RefuseUnknown()
	return in, param
}

// readZone reads where days are counted: as incremental says, else the schedule.
func readZone(o *object) *time.Location {
	for _, name := range []string{"incremental", "schedule"} {
		in := o.Value.Member(name)
		if in == nil || in.Kind != '{' {
			continue
		}
		if v := in.Member("timezone"); v != nil && v.Kind == '"' && v.Text() != "" {
			if zone, err := feedmill.Zone(v.Text()); err == nil {
				return zone
			}
		}
	}
	return time.UTC
}

// ColumnOf is the column that a path of names leads to, as nested objects name
// it, or nothing.
func ColumnOf(path *jsonpath.Path) string {
	steps, ok := path.Steps()
	if !ok {
		return ""
	}
	var names []string
	for i := range steps {
		name, ok := steps[i].Name()
		if !ok {
			return ""
		}
		names = append(names, name)
	}
	return strings.Join(names, ".")
}

// Sent is the cursor as it is sent: the kept one less the look-back, or the start.
func (inc *Incremental) Sent(kept string, m Moment, zone *time.Location) (string, error) {
	if kept == "" || inc.Step > 0 {
		m = m.Within(MaxAddress)
		start := inc.Start.Expand(m, nil)
		if err := m.TooLong("incremental.start", MaxAddress); err != nil {
			return "", err
		}
		if at, ok := TimeOf(start, zone); ok && inc.Format.unit > 0 {
			return inc.Format.Write(at), nil
		}
		return start, nil
	}
	back := lookBack(kept, inc.Lookback)
	if inc.Format.unit == 0 {
		return back, nil
	}
	at, ok := TimeOf(back, zone)
	if !ok {
		return "", Fail("no-cursor", nil, "The newest value at incremental.cursorPath is %q, which is not a time in incremental.format.", Shorten(back))
	}
	return inc.Format.Write(at), nil
}
