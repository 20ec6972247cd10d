package rest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/suggest"
)

// reading is what was found while a definition is read.
type reading struct {
	faults []feedmill.Fault
	// secrets are the pointers of what must not be shown.
	secrets []string
	// usesCursor is where {{cursor}} stands, empty where nowhere.
	usesCursor string
}

// maxFaults is how many faults are listed. Past it nobody reads them.
const maxFaults = 200

func (r *reading) fault(pointer, detail string) {
	if len(r.faults) < maxFaults {
		r.faults = append(r.faults, feedmill.Fault{Pointer: pointer, Detail: detail})
	}
}

// refusal is what is wrong, or nil.
func (r *reading) refusal() error {
	if len(r.faults) == 0 {
		return nil
	}
	slices.SortStableFunc(r.faults, func(a, b feedmill.Fault) int { return cmp.Compare(a.Pointer, b.Pointer) })
	return feedmill.Invalid("The definition of the feed is not valid; correct the places listed under errors.", r.faults...)
}

// object reads the members of a JSON object and notes every fault with its
// pointer. The names it is asked for are the names there may be.
type object struct {
	r     *reading
	at    string
	node  *node
	known []string
}

func (o *object) pointer(name string) string { return o.at + "/" + escapePointer(name) }

func (o *object) fault(name, detail string) { o.r.fault(o.pointer(name), detail) }

func (o *object) secret(name string) { o.r.secrets = append(o.r.secrets, o.pointer(name)) }

// get finds a member. One that is null is as good as none.
func (o *object) get(name string) *node {
	if !slices.Contains(o.known, name) {
		o.known = append(o.known, name)
	}
	if v := o.node.member(name); v != nil && v.kind != 'n' {
		return v
	}
	return nil
}

// done notes the members that nobody asked for.
func (o *object) done() {
	for _, m := range o.node.members {
		if slices.Contains(o.known, m.name) {
			continue
		}
		detail := "There is no such field."
		if near := suggest.Nearest(m.name, o.known); len(near) > 0 {
			detail += " Did you mean " + strings.Join(near, " or ") + "?"
		}
		o.fault(m.name, detail)
	}
}

// object reads a member that is an object; nil where there is none.
func (o *object) object(name string) *object {
	v := o.get(name)
	if v == nil {
		return nil
	}
	if v.kind != '{' {
		o.fault(name, "This must be an object, not "+kindName(v.kind)+".")
		return nil
	}
	return &object{r: o.r, at: o.pointer(name), node: v}
}

// text reads a member that is a string; "" and false where there is none.
func (o *object) text(name string) (string, bool) {
	v := o.get(name)
	if v == nil {
		return "", false
	}
	if v.kind != '"' {
		o.fault(name, "This must be a string, not "+kindName(v.kind)+".")
		return "", false
	}
	return v.text(), true
}

// needText is text for a member that must be there and not be empty.
func (o *object) needText(name string) string {
	if o.get(name) == nil {
		o.fault(name, "This field is required.")
		return ""
	}
	s, ok := o.text(name)
	if ok && s == "" {
		o.fault(name, "This must not be empty.")
	}
	return s
}

// choice reads one of several words.
func (o *object) choice(name, byDefault string, words ...string) string {
	s, ok := o.text(name)
	if !ok {
		return byDefault
	}
	if !slices.Contains(words, s) {
		o.fault(name, "This must be one of "+strings.Join(words, ", ")+".")
		return byDefault
	}
	return s
}

// integer reads a whole number.
func (o *object) integer(name string, byDefault, least, most int64) int64 {
	v := o.get(name)
	if v == nil {
		return byDefault
	}
	n, err := strconv.ParseInt(string(v.raw), 10, 64)
	if v.kind != '0' || err != nil || n < least || n > most {
		o.fault(name, fmt.Sprintf("This must be a whole number from %d to %d.", least, most))
		return byDefault
	}
	return n
}

// duration reads a duration such as 30s.
func (o *object) duration(name string, byDefault, least, most time.Duration) time.Duration {
	s, ok := o.text(name)
	if !ok {
		return byDefault
	}
	d, err := feedmill.ParseDuration(s)
	switch {
	case err != nil:
		o.fault(name, "This is no duration: "+err.Error()+".")
		return byDefault
	case d < least || d > most:
		o.fault(name, fmt.Sprintf("This must be from %s to %s.", feedmill.FormatDuration(least), feedmill.FormatDuration(most)))
		return byDefault
	}
	return d
}

// items reads a member that is an array of at most so many elements.
func (o *object) items(name string, most int) []node {
	v := o.get(name)
	switch {
	case v == nil:
		return nil
	case v.kind != '[':
		o.fault(name, "This must be an array, not "+kindName(v.kind)+".")
		return nil
	case len(v.items) > most:
		o.fault(name, fmt.Sprintf("This may have at most %d elements; it has %d.", most, len(v.items)))
		return nil
	}
	return v.items
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "this"
}
