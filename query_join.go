package feedmill

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The limits of joins.
const (
	// MaxJoins is the maximum number of joined views of a query, and MaxJoinPairs that of
	// the pairs of fields of one join.
	MaxJoins     = 8
	MaxJoinPairs = 20
	// MaxAliasLen is the maximum length of an alias.
	MaxAliasLen = 50
)

// Join adds the fields of another view to the rows of a query.
type Join struct {
	View string
	// As is the alias, by which fields are named.
	As   string
	Kind JoinKind
	// On are the pairs of fields that must be equal, all of them.
	On []JoinPair
	// Place is the position in the request. Faults have pointers below it, such as /as.
	Place Fault
}

// JoinKind defines what happens to rows without a match.
type JoinKind string

// The kinds of joins. An inner join drops rows without a match. A left join keeps them; the
// fields of the joined view are then null.
const (
	JoinInner JoinKind = "inner"
	JoinLeft  JoinKind = "left"
)

// JoinKinds lists all of them.
var JoinKinds = []JoinKind{JoinInner, JoinLeft}

// JoinPair is a field of the rows so far and one of the joined view. Left can name a field of
// an earlier join, as in c.country.
type JoinPair struct {
	Left, Right string
	// Place is the position in the request. Faults have pointers below it: /left or /right.
	Place Fault
}

// IsAlias reports whether a text can be an alias: a letter or an underscore, then letters,
// digits and underscores, all ASCII.
func IsAlias(text string) bool {
	if text == "" || len(text) > MaxAliasLen {
		return false
	}
	for i, c := range []byte(text) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// FieldName is a field and the alias of its view, which is empty for the first view.
type FieldName struct{ From, Name string }

// String returns the name with its alias, as errors show it.
func (n FieldName) String() string {
	if n.From == "" {
		return n.Name
	}
	return n.From + "." + n.Name
}

// FieldNames returns the fields that a text can mean: the text itself as a field of the first
// view, alias.field if it starts with one of the aliases, and both forms with the field in
// quotes, such as c."a.b".
func FieldNames(text string, aliases []string) []FieldName {
	names := []FieldName{{Name: text}}
	if quoted, ok := unquoteName(text); ok {
		names = append(names, FieldName{Name: quoted})
	}
	if alias, rest, ok := strings.Cut(text, "."); ok && slices.Contains(aliases, alias) {
		names = append(names, FieldName{From: alias, Name: rest})
		if quoted, ok := unquoteName(rest); ok {
			names = append(names, FieldName{From: alias, Name: quoted})
		}
	}
	return names
}

// unquoteName returns the name that is in quotes, inside of which a quote appears twice.
func unquoteName(text string) (string, bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", false
	}
	item, rest, err := ScanItem(text, "")
	return item.Text, err == nil && rest == "" && item.Text != ""
}

// ParseJoin reads a join of the form "view as alias:left=right,left=right". The view and the
// fields can be in quotes. Without an alias it is the name of the view.
func ParseJoin(text string) (Join, error) {
	wrong := errors.New(`must have the form view:left=right or "view as alias:left=right", such as customers:customer_id=id`)
	var j Join
	view, rest, err := scanView(text)
	if err != nil {
		return j, err
	}
	j.View = strings.TrimSpace(view)
	if alias, ok := strings.CutPrefix(rest, " as "); ok {
		at := strings.IndexByte(alias, ':')
		if at < 0 {
			return j, wrong
		}
		j.As, rest = strings.TrimSpace(alias[:at]), alias[at:]
		if !IsAlias(j.As) {
			return j, fmt.Errorf("%q is not a valid alias; use letters, digits and underscores", j.As)
		}
	}
	pairs, ok := strings.CutPrefix(rest, ":")
	if !ok || j.View == "" || pairs == "" {
		return j, wrong
	}
	if j.As == "" {
		if j.As = j.View[strings.LastIndexByte(j.View, '.')+1:]; !IsAlias(j.As) {
			return j, fmt.Errorf("%s needs an alias, such as \"%s as c:customer_id=id\"", j.View, j.View)
		}
	}
	for {
		left, after, err := scanName(pairs, "=")
		if err != nil {
			return j, err
		}
		if after == "" || left == "" {
			return j, wrong
		}
		right, rest, err := scanName(after[1:], ",")
		if err != nil {
			return j, err
		}
		if right == "" {
			return j, wrong
		}
		j.On = append(j.On, JoinPair{Left: left, Right: right})
		if rest == "" {
			return j, nil
		}
		pairs = rest[1:]
	}
}

// scanView reads the name of a view up to its alias or to the colon. Parts of the name can be
// in quotes, which stay.
func scanView(text string) (view, rest string, err error) {
	quoted := false
	for i := range len(text) {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case !quoted && (text[i] == ':' || strings.HasPrefix(text[i:], " as ")):
			return text[:i], text[i:], nil
		}
	}
	if quoted {
		return "", "", errors.New("a quote is not closed")
	}
	return text, "", nil
}

// scanName reads a name up to a separator. Parts of it can be in quotes, which stay.
func scanName(text, separator string) (name, rest string, err error) {
	quoted := false
	for i := range len(text) {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case !quoted && strings.HasPrefix(text[i:], separator):
			return strings.TrimSpace(text[:i]), text[i:], nil
		}
	}
	if quoted {
		return "", "", errors.New("a quote is not closed")
	}
	return strings.TrimSpace(text), "", nil
}
