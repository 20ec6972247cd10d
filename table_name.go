package feedmill

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/feedmill/feedmill/internal/strictjson"
)

// MaxTableName is how many characters the table name of a feed can have.
const MaxTableName = 128

// DefaultTableName is the name of a feed in snake_case, such as order_items for "Order Items"
// and "OrderItems". It is empty if the name has no letters and no digits.
func DefaultTableName(name string) string {
	var b strings.Builder
	var before rune
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !isTableRune(unicode.ToLower(r)) || r == '_':
			before = '_'
			continue
		case unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsDigit(before)),
			unicode.IsUpper(r) && unicode.IsUpper(before) && i+1 < len(runes) && unicode.IsLower(runes[i+1]):
			b.WriteByte('_') // a new word: orderItems, HTTPStatus
		case before == '_' && b.Len() > 0, unicode.IsDigit(r) && b.Len() == 0:
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return cutTableName(b.String(), MaxTableName)
}

// FreeTableName is the first of base, base_2, base_3 and so on that is not taken, or the id of
// the feed if there is no base.
func FreeTableName(base string, id ID, taken []string) string {
	if base == "" {
		return string(id)
	}
	used := make(map[string]bool, len(taken))
	for _, name := range taken {
		used[name] = true
	}
	name := base
	for n := 2; used[name]; n++ {
		suffix := fmt.Sprintf("_%d", n)
		name = cutTableName(base, MaxTableName-len(suffix)) + suffix
	}
	return name
}

func cutTableName(name string, most int) string {
	if runes := []rune(name); len(runes) > most {
		return strings.TrimRight(string(runes[:most]), "_")
	}
	return name
}

// isTableRune reports whether a character can be in a table name. Engines that fold names to
// lower case must find the table, so there are no others.
func isTableRune(r rune) bool {
	return r == '_' || unicode.IsDigit(r) || unicode.IsLetter(r) && !unicode.IsUpper(r) && !unicode.IsTitle(r)
}

// ReadTableName reads the table name of a feed.
func ReadTableName(f strictjson.Field) string {
	name, ok := f.Text()
	if !ok {
		return ""
	}
	n := utf8.RuneCountInString(name)
	first, _ := utf8.DecodeRuneInString(name)
	switch {
	case n < 1 || n > MaxTableName:
		f.Fault(fmt.Sprintf("tableName must have between 1 and %d characters; it has %d.", MaxTableName, n))
	case strings.ContainsFunc(name, func(r rune) bool { return !isTableRune(r) }) || unicode.IsDigit(first):
		f.Fault(fmt.Sprintf("tableName must consist of lowercase letters, digits and underscores, and must not start with a digit; got %q.", name))
	}
	return name
}

// TableNameTaken is the error of a table name that another feed of the workspace has.
func TableNameTaken(name string) error {
	return &Error{
		Kind: ErrConflict, Type: "table-name-taken",
		Detail: fmt.Sprintf("Another feed in this workspace has the table name %q. Choose another tableName.", name),
	}
}
