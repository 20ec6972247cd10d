package rest

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
func readIncremental(o *object, r *request) *incremental {
	in := o.object("incremental")
	if in == nil {
		if o.r.usesCursor != "" {
			o.r.fault(o.r.usesCursor, "{{cursor}} needs the field incremental, which says what it is.")
		}
		return nil
	}
	inc := &incremental{in: inQuery}
	inc.step = in.duration("step", 0, minStep, maxStep)
	if path := in.path("cursorPath", !in.Has("step")); path != nil {
		if inc.column = columnOf(path); inc.column == "" {
			in.unreadable("cursorPath", "cursorPath must consist of names only, such as $.updated_at or $.meta.changed.")
		}
	}
	if inc.in, inc.param = in.sentIn("param", r); inc.param == "" && !in.Has("param") && o.r.usesCursor == "" {
		in.Fault("param", "Say how the cursor is sent: with this field, or with {{cursor}} in the request.")
	}
	inc.readStart(in, o.r.usesCursor != "" || inc.step > 0)
	inc.readTimes(in, r)
	inc.lookback = in.duration("lookback", 0, 0, maxLookback)
	in.RefuseUnknown()
	return inc
}

const ifModifiedSince = "If-Modified-Since"

// conditional reports whether the cursor is sent as the header that asks for what is newer.
// An answer that says that nothing is, is then one without records.
func (inc *incremental) conditional() bool {
	return inc != nil && inc.in == inHeader && strings.EqualFold(inc.param, ifModifiedSince)
}

// readStart reads where the first fetch begins.
func (inc *incremental) readStart(in *object, needed bool) {
	if f, ok := in.Given("start"); ok && f.Kind == '0' && in.r.rules > feedmill.RulesFirst {
		inc.start, inc.numericStart = in.parse("start", string(f.Raw)), true
	} else {
		inc.start, _ = in.template("start")
	}
	if inc.start.usesCursor() {
		in.Fault("start", "start cannot contain the cursor.")
	}
	if _, ok := timeOf(inc.start.text, time.UTC); inc.step > 0 && inc.start.text != "" && inc.start.plain() && !ok {
		in.Fault("start", "Windows begin at a time: write a date such as 2024-01-31, or a token such as {{today-30d}}.")
	}
	if needed && inc.start.text == "" && !in.Has("start") {
		in.Fault("start", "This is required where {{cursor}} or step is used, for the first fetch.")
	}
}

// readTimes reads how times are written, and what of them is sent with windows.
func (inc *incremental) readTimes(in *object, r *request) {
	if inc.step > 0 {
		inc.format = timeFormat{name: "rfc3339", unit: time.Second}
	}
	if text, ok := in.text("format"); ok {
		var err error
		if inc.format, err = parseTimeFormat(text); err != nil {
			in.unreadable("format", upperFirst(err.Error())+".")
		}
	}
	if inc.step > 0 {
		inc.toIn, inc.to = in.sentIn("to", r)
		if f, ok := in.Given("inclusive"); ok {
			inc.inclusive, _ = f.Boolean()
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
func (o *object) sentIn(name string, r *request) (in, param string) {
	p := o.object(name)
	if p == nil {
		return inQuery, ""
	}
	in = p.choice("in", r.body.home(), inQuery, inHeader, inBody)
	param = p.needText("name")
	// The header that asks for what is newer than a time may carry the cursor: some sources
	// give only the records that are.
	if !(name == "param" && in == inHeader && strings.EqualFold(param, ifModifiedSince)) {
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

// columnOf is the column that a path of names leads to, as nested objects name
// it, or nothing.
func columnOf(path *jsonpath.Path) string {
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
