package fetch

import (
	"strings"
)

// nextLink finds the target of rel="next" in the values of a Link header
// (RFC 8288), or nothing.
func nextLink(values []string) string {
	for _, rest := range values {
		for rest != "" {
			start := strings.IndexByte(rest, '<')
			if start < 0 {
				break
			}
			target, params, closed := strings.Cut(rest[start+1:], ">")
			if !closed {
				break
			}
			var next bool
			next, rest = linkParams(params)
			if next {
				return strings.TrimSpace(target)
			}
		}
	}
	return ""
}

// linkParams reads the parameters of a link. It returns whether the link is to
// the next page, and what follows it.
func linkParams(text string) (next bool, rest string) {
	named := false // Of several rels only the first counts.
	for {
		text = strings.TrimLeft(text, " \t")
		if !strings.HasPrefix(text, ";") {
			_, rest, _ = strings.Cut(text, ",")
			return next, rest
		}
		text = strings.TrimLeft(text[1:], " \t")
		end := strings.IndexAny(text, "=;, \t")
		if end < 0 {
			return next, ""
		}
		name := text[:end]
		text = strings.TrimLeft(text[end:], " \t")
		if !strings.HasPrefix(text, "=") {
			continue
		}
		var value string
		value, text = linkValue(strings.TrimLeft(text[1:], " \t"))
		if strings.EqualFold(name, "rel") && !named {
			named = true
			for word := range strings.FieldsSeq(value) {
				next = next || strings.EqualFold(word, "next")
			}
		}
	}
}

// linkValue reads a word or a quoted text, and returns what follows it.
func linkValue(text string) (value, rest string) {
	if !strings.HasPrefix(text, `"`) {
		end := strings.IndexAny(text, ";, \t")
		if end < 0 {
			return text, ""
		}
		return text[:end], text[end:]
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return b.String(), text[i+1:]
		case '\\':
			if i++; i < len(text) {
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String(), ""
}
