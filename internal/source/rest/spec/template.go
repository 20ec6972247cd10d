package spec

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// Template is a text with tokens in it, such as {{today-7d|YYYYMMDD}}, that
// are replaced when a request is made.
type Template struct {
	Text  string
	parts []templatePart
}

// templatePart is a literal text, or a token where literal is empty.
type templatePart struct {
	literal string
	token   token
}

// token is what stands between {{ and }}.
type token struct {
	name   string        // today, yesterday, now, cursor or to
	offset time.Duration // of the first three
	// written is how the first three are written, and layout the same in the words
	// of Go, where that is what was given.
	written TimeFormat
	layout  string
	set     bool // whether this is a token at all
	// variable says that it is of a row or a job.
	variable bool
}

// timeWords are the tokens that need nothing else.
var timeWords = []string{"today", "yesterday", "now", "cursor", "to"}

// Moment is what tokens are replaced by.
type Moment struct {
	Now    time.Time
	Cursor string
	To     string // the end of the window
	// Numeric says that the cursor is a number in JSON.
	Numeric bool
	// Values are what tokens of rows and jobs stand for.
	Values map[string]string
	// Room is how many more bytes templates may become, below zero where they
	// would have become more, and nil where there is no bound.
	Room *int
}

// A long value may stand in a template very often, and a long name have many values, so
// what a request becomes is bounded: its address, its headers and its body, before
// they are encoded. All work on templates is, too, since their own text is read once.
const (
	MaxAddress = 64 << 10
	maxHeaders = 64 << 10
	maxBody    = 8 << 20
)

// Within is the moment for templates that may become so many bytes together. What
// becomes more is cut off, and tooLong says so in the end.
func (m Moment) Within(most int) Moment {
	m.Room = &most
	return m
}

// reserve takes room for a text, and reports whether there was any.
func (m Moment) reserve(text string) bool {
	if m.Room == nil {
		return true
	}
	if *m.Room < len(text) {
		*m.Room = -1
		return false
	}
	*m.Room -= len(text)
	return true
}

// TooLong is the failure of templates that would have become too long.
func (m Moment) TooLong(what string, most int) error {
	if *m.Room >= 0 {
		return nil
	}
	return Fail("fetch-failed", nil, "After its tokens are replaced, %s has more than %d bytes, the maximum. Use shorter values or fewer tokens.", what, most)
}

// With is the moment with one more value.
func (m Moment) With(name, value string) Moment {
	values := maps.Clone(m.Values)
	if values == nil {
		values = make(map[string]string)
	}
	values[name] = value
	m.Values = values
	return m
}

const tokenForms = "a token is {{today}}, {{yesterday}}, {{now}}, {{cursor}} or, with incremental.step, {{to}}; the first three can be moved, as in {{today-7d}}, " +
	"and written in another format, as in {{now-1h|YYYY-MM-DDTHH:mm}}, {{today|YYYYMMDD}}, {{now|unix}} or {{now|unixMs}}"

// parseTemplate finds the tokens of a text. The error says how to write one
// and repeats nothing of the text.
func parseTemplate(text string) (Template, error) {
	t := Template{Text: text}
	for rest := text; rest != ""; {
		literal, after, found := strings.Cut(rest, "{{")
		if literal != "" {
			t.parts = append(t.parts, templatePart{literal: literal})
		}
		if !found {
			break
		}
		inner, following, closed := strings.Cut(after, "}}")
		if !closed {
			return t, errors.New("a {{ has no }} after it; " + tokenForms)
		}
		token, err := parseToken(inner)
		if err != nil {
			return t, err
		}
		t.parts = append(t.parts, templatePart{token: token})
		rest = following
	}
	return t, nil
}

func parseToken(text string) (token, error) {
	body, format, formatted := strings.Cut(text, "|")
	body = strings.TrimSpace(body)
	t := token{set: true}
	if sign := strings.IndexAny(body, "+-"); sign >= 0 && isTimeWord(body[:sign]) {
		d, err := feedmill.ParseDuration(strings.TrimSpace(body[sign+1:]))
		if err != nil {
			return t, fmt.Errorf("the offset of a token is not a valid duration: %w", err)
		}
		if body[sign] == '-' {
			d = -d
		}
		t.offset, body = d, strings.TrimSpace(body[:sign])
	}
	t.name = body
	if word, _, _ := strings.Cut(body, "."); !formatted && t.offset == 0 && variableName.MatchString(word) && !slices.Contains(timeWords, body) {
		t.variable = true
		return t, nil
	}
	if formatted && !t.format(strings.TrimSpace(format)) {
		return t, errors.New("the format after | in a token is not valid; " + tokenForms)
	}
	switch {
	case t.name == "yesterday":
		t.name, t.offset = "today", t.offset-Day
		return t, nil
	case t.name == "today" || t.name == "now":
		return t, nil
	case (t.name == "cursor" || t.name == "to") && !formatted && t.offset == 0:
		return t, nil
	}
	return t, errors.New("unknown token; " + tokenForms)
}

// format has the token written in a format: one that incremental.format knows,
// or a layout of Go, as in 2006-01-02. It reports whether the text is one.
func (t *token) format(text string) bool {
	if strings.EqualFold(text, "unixms") {
		text = "unixMs"
	}
	// Two times that are written alike are not written at all.
	first, second := time.Date(2001, 2, 3, 4, 5, 6, 7e8, time.UTC), time.Date(2019, 11, 28, 19, 47, 58, 123e6, time.FixedZone("", 7200))
	if _, named := namedFormats[text]; !named && first.Format(text) != second.Format(text) {
		t.layout = text
		return true
	}
	written, err := parseTimeFormat(text)
	t.written = written
	return err == nil
}

func isTimeWord(text string) bool { return slices.Contains(timeWords, strings.TrimSpace(text)) }

// plain reports whether there are no tokens.
func (t *Template) plain() bool {
	return len(t.parts) == 0 || len(t.parts) == 1 && !t.parts[0].token.set
}

// usesCursor reports whether the cursor stands in the text.
func (t *Template) usesCursor() bool { return t.uses("cursor") }

// uses reports whether a token stands in the text.
func (t *Template) uses(name string) bool {
	return slices.ContainsFunc(t.parts, func(p templatePart) bool { return p.token.name == name })
}

// Expand replaces the tokens. What they are replaced by is passed through
// escape, together with the text before it.
func (t *Template) Expand(m Moment, escape func(before, value string) string) string {
	if t.plain() {
		if !m.reserve(t.Text) {
			return ""
		}
		return t.Text
	}
	var b strings.Builder
	for _, p := range t.parts {
		text := p.literal
		if p.token.set {
			text = p.token.value(m)
		}
		if !m.reserve(text) {
			break
		}
		if p.token.set && escape != nil {
			text = escape(b.String(), text)
		}
		b.WriteString(text)
	}
	return b.String()
}

// value is what the token stands for.
func (t *token) value(m Moment) string {
	at, layout := m.Now, time.RFC3339
	if t.variable {
		return m.Values[t.name]
	}
	switch t.name {
	case "cursor":
		return m.Cursor
	case "to":
		return m.To
	case "today":
		year, month, day := at.Date()
		// Whole days are days of the calendar, which can have 23 hours.
		days := int(t.offset / (24 * time.Hour))
		at = time.Date(year, month, day+days, 0, 0, 0, 0, at.Location()).Add(t.offset % (24 * time.Hour))
		layout = time.DateOnly
	default:
		at = at.Add(t.offset)
	}
	switch {
	case t.layout != "":
		return at.Format(t.layout)
	case t.written.unit > 0:
		return t.written.Write(at)
	}
	return at.Format(layout)
}
