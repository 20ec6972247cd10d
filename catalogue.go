package feedmill

import (
	_ "embed" // the built-in families
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/feedmill/feedmill/internal/suggest"
)

// EventType is a kind of event that there is.
type EventType struct {
	// Name is as publishers and subscribers write it, such as "metric.created".
	Name string
	// Family is the wildcard of all types beside it, such as "metric.*".
	Family string
	// Available says whether it can be published and subscribed to.
	Available bool
	// Operational types tell of the service itself.
	Operational bool
	Description string
	// Schema is the JSON Schema of the event's data.
	Schema []byte
}

// Catalogue is the list of event types: the built-in ones and the operator's.
// It holds public names only, and does not change once made.
type Catalogue struct {
	types []EventType
	// names are all that a subscription can name; families are their wildcards.
	names    map[string]int
	families map[string]bool // whether the family is available
	// subscribed and published are the names that a name that is not known
	// was perhaps meant to be.
	subscribed, published []string
}

//go:embed catalogue.json
var builtInTypes []byte

// builtInFamily is a family of catalogue.json.
type builtInFamily struct {
	Family      string `json:"family"`
	Unavailable bool   `json:"unavailable"`
	Operational bool   `json:"operational"`
	Types       []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"schema"`
	} `json:"types"`
}

// reservedFamilies are those whose events only the service itself makes.
var reservedFamilies = []string{internalFamily, publicFamily, "subscription", "test"}

func isReserved(name string) bool {
	return slices.ContainsFunc(reservedFamilies, func(family string) bool {
		rest, ok := strings.CutPrefix(name, family)
		return ok && (rest == "" || rest[0] == '.')
	})
}

// eventName is the form of a type's name: two or more words, dots between them.
var eventName = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$`)

// MaxEventNameLen is how many bytes the name of an event type may have.
const MaxEventNameLen = 100

// NewCatalogue makes a catalogue of the built-in types and of extra, the
// operator's own, of which Name, Description and Schema count. turnOn names
// families, such as "goal.*", that are not available without it. Everything
// that is wrong is reported together.
func NewCatalogue(extra []EventType, turnOn []string) (*Catalogue, error) {
	c := &Catalogue{names: make(map[string]int), families: make(map[string]bool)}
	c.addBuiltIn()
	var errs []error
	for _, t := range extra {
		if err := c.addOwn(t); err != nil {
			errs = append(errs, fmt.Errorf("event type %q: %w", t.Name, err))
		}
	}
	for _, family := range turnOn {
		if _, ok := c.families[family]; !ok {
			errs = append(errs, fmt.Errorf("event family %q is unknown.%s", family, didYouMean(family, c.wildcards())))
		}
		c.families[family] = true
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	c.arrange()
	return c, nil
}

func (c *Catalogue) addBuiltIn() {
	var families []builtInFamily
	if err := json.Unmarshal(builtInTypes, &families); err != nil {
		panic(err) // the file is part of the program
	}
	for _, f := range families {
		c.families[f.Family] = !f.Unavailable
		for _, t := range f.Types {
			c.names[t.Name] = len(c.types)
			c.types = append(c.types, EventType{
				Name: t.Name, Family: f.Family, Operational: f.Operational, Description: t.Description, Schema: t.Schema,
			})
		}
	}
}

func (c *Catalogue) addOwn(t EventType) error {
	switch _, known := c.names[t.Name]; {
	case !eventName.MatchString(t.Name) || len(t.Name) > MaxEventNameLen:
		return fmt.Errorf("the name must be two or more words joined by dots, such as order.paid, with at most %d bytes; use lowercase letters, digits and underscores", MaxEventNameLen)
	case isReserved(t.Name):
		return errors.New("the family is reserved for the service itself")
	case known:
		return errors.New("a type with this name already exists")
	}
	if len(t.Schema) == 0 {
		t.Schema = []byte("{}")
	}
	var schema map[string]any
	if err := json.Unmarshal(t.Schema, &schema); err != nil {
		return fmt.Errorf("the schema is not a JSON object: %w", err)
	}
	t.Family, t.Operational = Family(t.Name)+".*", false
	if _, ok := c.families[t.Family]; !ok {
		c.families[t.Family] = true
	}
	c.names[t.Name] = len(c.types)
	c.types = append(c.types, t)
	return nil
}

// arrange brings the types of a family together and gives every type the
// family's availability.
func (c *Catalogue) arrange() {
	var families []string
	for _, t := range c.types {
		if !slices.Contains(families, t.Family) {
			families = append(families, t.Family)
		}
	}
	slices.SortStableFunc(c.types, func(a, b EventType) int {
		return slices.Index(families, a.Family) - slices.Index(families, b.Family)
	})
	for i := range c.types {
		t := &c.types[i]
		t.Available = c.families[t.Family]
		c.names[t.Name] = i
		c.subscribed = append(c.subscribed, t.Name)
		if !isReserved(t.Name) {
			c.published = append(c.published, t.Name)
		}
	}
	c.subscribed = append(c.subscribed, families...)
}

func (c *Catalogue) wildcards() (all []string) {
	for family := range c.families {
		all = append(all, family)
	}
	slices.Sort(all)
	return all
}

// Types lists all types, those of a family together in the order of their
// declaration.
func (c *Catalogue) Types() []EventType { return slices.Clone(c.types) }

// Lookup finds a type by its exact public name.
func (c *Catalogue) Lookup(name string) (EventType, bool) {
	i, ok := c.names[name]
	if !ok {
		return EventType{}, false
	}
	return c.types[i], true
}

// CheckSubscribed says whether a subscription can name this: an exact type or
// the wildcard of a family. An error is an [*Error] that does not repeat name.
func (c *Catalogue) CheckSubscribed(name string) error {
	if name == internalFamily || IsInternalName(name) {
		twin := PublicName(name)
		if !c.known(twin) {
			twin = publicFamily + ".*"
		}
		return &Error{Kind: ErrInvalid, Type: "unknown-event", Detail: "The event type is internal to the service. Subscribe to " + twin + " instead."}
	}
	if !c.known(name) {
		return unknownEvent(name, c.subscribed)
	}
	return c.available(name)
}

// CheckPublished says whether a client can publish an event of this type. An
// error is an [*Error] that does not repeat name.
func (c *Catalogue) CheckPublished(name string) error {
	if i, ok := c.names[name]; ok && c.types[i].Available && !isReserved(name) {
		return nil
	}
	if isReserved(name) {
		return &Error{Kind: ErrInvalid, Type: "reserved-event", Detail: "Only the service itself publishes events of this family. Use a type of another family."}
	}
	if _, ok := c.names[name]; !ok {
		return unknownEvent(name, c.published)
	}
	return c.available(name)
}

func (c *Catalogue) known(name string) bool {
	_, isType := c.names[name]
	_, isFamily := c.families[name]
	return isType || isFamily
}

func (c *Catalogue) available(name string) error {
	family := Family(name) + ".*"
	if c.families[family] {
		return nil
	}
	return &Error{Kind: ErrConflict, Type: "not-available", Detail: "The events of " + family + " are not available. Ask the operator to enable them."}
}

func unknownEvent(name string, candidates []string) error {
	return &Error{
		Kind: ErrInvalid, Type: "unknown-event",
		Detail: "Unknown event type." + didYouMean(name, candidates) + " GET /events/types lists all types.",
	}
}

func didYouMean(name string, candidates []string) string {
	near := suggest.Nearest(name, candidates)
	if word, _, ok := strings.Cut(name, "."); len(near) == 0 && ok {
		// Nothing is spelt like it: then what begins with the same word.
		for _, c := range candidates {
			if strings.HasPrefix(c, word+".") && len(near) < 3 {
				near = append(near, c)
			}
		}
	}
	if len(near) > 0 {
		return " Did you mean " + strings.Join(near, " or ") + "?"
	}
	return ""
}
