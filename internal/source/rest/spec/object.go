package spec

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
	"github.com/feedmill/feedmill/internal/suggest"
)

// reading is what was found while a definition is read.
type reading struct {
	faults feedmill.Faults
	// rules is the version of the rules that the definition is read by.
	rules feedmill.Rules
	// secrets are the pointers of what must not be shown.
	secrets []string
	// declared are the values that are declared to be secrets, by their pointers.
	declared map[string]string
	// usesCursor is where {{cursor}} stands, empty where nowhere.
	usesCursor string
	// usesTo is where {{to}} stands, empty where nowhere.
	usesTo string
	// variables are the words that tokens may begin with besides those of time,
	// and used the tokens of theirs that stand somewhere.
	variables, used []string
	// stored reports that the definition was accepted before, maybe by a release with
	// fewer checks. It is parsed and not checked again: only what cannot be read at all is
	// a fault.
	stored bool
}

// maxFaults is how many faults are listed. Past it nobody reads them.
const maxFaults = 200

func newReading(rules feedmill.Rules) *reading {
	return &reading{faults: feedmill.Faults{Max: maxFaults}, rules: rules}
}

// refusal is what is wrong, or nil.
func (r *reading) refusal() error {
	faults := r.faults.List
	if len(faults) == 0 {
		return nil
	}
	slices.SortStableFunc(faults, func(a, b feedmill.Fault) int { return cmp.Compare(a.Pointer, b.Pointer) })
	return feedmill.Invalid("The definition of the feed is not valid. Correct the fields listed in errors.", faults...)
}

// ParseDocument reads a text as one JSON value. Its error is a refusal.
func ParseDocument(data []byte) (strictjson.Value, error) {
	var faults feedmill.Faults
	doc, ok := strictjson.Read(data, strictjson.Part{}, faults.Note)
	if !ok || len(faults.List) > 0 {
		return strictjson.Value{}, feedmill.Invalid("The body is not valid JSON, or contains a key twice.", faults.List...)
	}
	return doc, nil
}

// object is an object of a definition, whose members that are null are as good
// as not there.
type object struct {
	*strictjson.Object
	r *reading
}

// document reads a whole definition as an object, or is nil where it is none.
func (r *reading) document(doc *strictjson.Value) *object {
	if doc.Kind != '{' {
		r.faults.Note("", "The body must be a JSON object.")
		return nil
	}
	return &object{strictjson.NewObject(doc, "", r.faults.Note), r}
}

// pointer is the place of a member.
func (o *object) pointer(name string) string { return o.Field(name, nil).Pointer() }

func (o *object) secret(name string) { o.r.secrets = append(o.r.secrets, o.pointer(name)) }

// Fault notes what is wrong with a member that a user sends. It is not for values
// that cannot be read: see unreadable.
func (o *object) Fault(name, detail string) {
	if !o.r.stored {
		o.Object.Fault(name, detail)
	}
}

// unreadable notes a member that has no meaning, not even in a stored definition.
func (o *object) unreadable(name, detail string) { o.Object.Fault(name, detail) }

// fault is [object.Fault] for any place.
func (r *reading) fault(pointer, detail string) {
	if !r.stored {
		r.faults.Note(pointer, detail)
	}
}

// RefuseUnknown notes the members that nobody has asked for.
func (o *object) RefuseUnknown() {
	if !o.r.stored {
		o.Object.RefuseUnknown()
	}
}

// object reads a member that is an object; nil where there is none.
func (o *object) object(name string) *object {
	f, ok := o.Given(name)
	if !ok {
		return nil
	}
	return o.inner(f)
}

// inner reads a value that is an object, or is nil where it is none.
func (o *object) inner(f strictjson.Field) *object {
	inner, ok := f.Object()
	if !ok {
		return nil
	}
	return &object{inner, o.r}
}

// text reads a member that is a string; "" and false where there is none.
func (o *object) text(name string) (string, bool) {
	f, ok := o.Given(name)
	if !ok {
		return "", false
	}
	return f.Text()
}

// needText is text for a member that must be there and not be empty.
func (o *object) needText(name string) string {
	if !o.Has(name) {
		o.unreadable(name, strictjson.Required)
		return ""
	}
	s, ok := o.text(name)
	if ok && s == "" {
		o.Fault(name, "Must not be empty.")
	}
	return s
}

// kind reads the member kind, which says what the other members mean. Where it is not one of
// the words, nothing can be said of the others, so they count as known.
func (o *object) kind(words ...string) (string, bool) {
	text := o.needText("kind")
	if slices.Contains(words, text) {
		return text, true
	}
	if f, ok := o.Given("kind"); ok && f.Kind == '"' && text != "" {
		detail := "Must be one of " + strings.Join(words, ", ") + "."
		if near := suggest.Nearest(text, words); len(near) > 0 {
			detail += " Did you mean " + near[0] + "?"
		}
		f.Fault(detail)
	}
	for _, m := range o.Value.Members {
		o.Know(m.Name)
	}
	return "", false
}

// choice reads one of several words.
func (o *object) choice(name, byDefault string, words ...string) string {
	if f, ok := o.Given(name); ok {
		if word, ok := f.Choice(words...); ok {
			return word
		}
	}
	return byDefault
}

// integer reads a whole number.
func (o *object) integer(name string, byDefault, least, most int64) int64 {
	if o.r.stored {
		least, most = math.MinInt64, math.MaxInt64
	}
	if f, ok := o.Given(name); ok {
		if n, ok := f.Integer(int(least), int(most)); ok {
			return int64(n)
		}
	}
	return byDefault
}

// duration reads a duration such as 30s.
func (o *object) duration(name string, byDefault, least, most time.Duration) time.Duration {
	if o.r.stored {
		least, most = 0, math.MaxInt64
	}
	if f, ok := o.Given(name); ok {
		if d, ok := strictjson.Parse(f, feedmill.DurationBetween(least, most)); ok {
			return d
		}
	}
	return byDefault
}

// elements reads a member that is an array of at most so many elements.
func (o *object) elements(name string, most int) iter.Seq2[int, strictjson.Field] {
	f, ok := o.Given(name)
	switch {
	case !ok:
	case f.Kind != '[':
		f.Fault("Must be an array, not " + strictjson.KindName(f.Kind) + ".")
	case len(f.Items) > most && !o.r.stored:
		f.Fault(fmt.Sprintf("Must have at most %d elements; got %d.", most, len(f.Items)))
	default:
		return f.Elements()
	}
	return func(func(int, strictjson.Field) bool) {}
}
