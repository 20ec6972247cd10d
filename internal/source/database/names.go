package database

import "strings"

// ViewName is the name of a view as it is listed: bare in the default schema, else
// schema.name. A part with a dot or a quote in it is quoted, so that no two views
// have the same name.
func ViewName(schema, name string, isDefault bool) string {
	if isDefault || schema == "" {
		return quotePart(name, false)
	}
	return quotePart(schema, false) + "." + quotePart(name, false)
}

// QualifiedName is the name of a view in a schema, whichever schema is the default.
func QualifiedName(schema, name string) string {
	return quotePart(schema, true) + "." + quotePart(name, true)
}

func quotePart(part string, always bool) string {
	if !always && part != "" && !strings.ContainsAny(part, `."`) {
		return part
	}
	return `"` + strings.ReplaceAll(part, `"`, `""`) + `"`
}

// ParseViewName reads a name as [ViewName] and [QualifiedName] write it. The schema is
// empty for the default one. It reports false for a text that is not such a name.
func ParseViewName(view string) (schema, name string, ok bool) {
	first, rest, ok := cutPart(view)
	if !ok || rest == "" {
		return "", first, ok
	}
	second, rest, ok := cutPart(rest[1:])
	return first, second, ok && rest == ""
}

// cutPart takes the first part of a name, and what follows it from its dot on.
func cutPart(text string) (part, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		end := strings.IndexAny(text, `."`)
		if end < 0 {
			return text, "", text != ""
		}
		return text[:end], text[end:], end > 0 && text[end] == '.'
	}
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] != '"':
		case strings.HasPrefix(text[i+1:], `"`):
			i++
		default:
			part, rest = strings.ReplaceAll(text[1:i], `""`, `"`), text[i+1:]
			return part, rest, rest == "" || rest[0] == '.'
		}
	}
	return "", "", false
}

// earlierNames are the names that a view of an earlier release can have meant, in the
// order in which that release looked for them: names were not quoted.
func earlierNames(view string) (names []string) {
	names = append(names, quotePart(view, true))
	for i, c := range view {
		if c == '.' && i > 0 && i+1 < len(view) {
			names = append(names, QualifiedName(view[:i], view[i+1:]))
		}
	}
	return names
}
