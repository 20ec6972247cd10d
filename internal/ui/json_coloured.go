package ui

import (
	"encoding/json"
	"html/template"
	"strings"
)

// jsonColoured is JSON with its names, texts and other values in their colours, or the text as
// it is where it is none. Every part of it is escaped.
func jsonColoured(text string) template.HTML {
	if len(text) > shownText || !json.Valid([]byte(text)) {
		return template.HTML(template.HTMLEscapeString(text))
	}
	var b strings.Builder
	for text != "" {
		part, class := jsonPart(text)
		if class != "" {
			b.WriteString(`<span class="json-` + class + `">` + template.HTMLEscapeString(part) + `</span>`)
		} else {
			b.WriteString(template.HTMLEscapeString(part))
		}
		text = text[len(part):]
	}
	return template.HTML(b.String())
}

// jsonPart is the first part of a valid JSON text: a name, a text, another value, or what
// stands between them.
func jsonPart(text string) (part, class string) {
	switch c := text[0]; {
	case c == '"':
		end := 1
		for text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		if strings.HasPrefix(strings.TrimLeft(text[end+1:], " \t\r\n"), ":") {
			return text[:end+1], "key"
		}
		return text[:end+1], "text"
	case strings.IndexByte("{}[],: \t\r\n", c) >= 0:
		end := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("{}[],: \t\r\n", r) })
		if end < 0 {
			return text, ""
		}
		return text[:end], ""
	default:
		end := strings.IndexAny(text, "{}[],: \t\r\n")
		if end < 0 {
			return text, "value"
		}
		return text[:end], "value"
	}
}
