package manual

import (
	"html/template"
	"regexp"
	"strings"
)

// language says how the tokens of a language are found.
type language struct {
	tokens   *regexp.Regexp
	keywords map[string]bool
}

const (
	doubleQuoted = `"(?:[^"\\\n]|\\.)*"`
	singleQuoted = `'(?:[^'\\\n]|\\.)*'`
	anyNumber    = `\b\d+(?:\.\d+)?\b`
	anyWord      = `\b[A-Za-z_]\w*\b`
)

func newLanguage(comment, text, keywords string) language {
	l := language{regexp.MustCompile(`(?m)(` + comment + `)|(` + text + `)|(` + anyNumber + `)|(` + anyWord + `)`), make(map[string]bool)}
	for word := range strings.FieldsSeq(keywords) {
		l.keywords[word] = true
	}
	return l
}

const hash = `(?:^|\s)#.*$`

var languages = map[string]language{
	"sh":     newLanguage(hash, doubleQuoted+`|'[^']*'`, "export curl printf cat python3 psql make sqlite3"),
	"json":   newLanguage(`\x00`, doubleQuoted, "true false null"),
	"yaml":   newLanguage(hash, doubleQuoted+`|`+singleQuoted, "true false null"),
	"python": newLanguage(hash, doubleQuoted+`|`+singleQuoted, "import from class def return if else for in with as not and or while try except raise self None True False"),
	"js":     newLanguage(`//.*$`, doubleQuoted+`|`+singleQuoted+"|`[^`]*`", "import from const let function return if else for of await async new try catch throw null undefined export"),
	"go":     newLanguage(`//.*$`, doubleQuoted+"|`[^`]*`", "package import func return if else for range var const type struct defer go nil map switch case err"),
	"sql":    newLanguage(`--.*$`, singleQuoted, "SELECT FROM WHERE INSERT INTO VALUES CREATE TABLE ON CONFLICT DO NOTHING"),
}

// escape escapes text outside of attributes, where quotes need no escape.
var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// highlight marks comments, strings, numbers and keywords of known languages.
func highlight(name, code string) template.HTML {
	l, ok := languages[name]
	if !ok {
		return template.HTML(escape.Replace(code))
	}
	var b strings.Builder
	at := 0
	for _, m := range l.tokens.FindAllStringSubmatchIndex(code, -1) {
		token, class := code[m[0]:m[1]], ""
		switch {
		case m[2] >= 0:
			class = "c"
		case m[4] >= 0:
			class = "s"
			if name == "json" && strings.HasPrefix(strings.TrimLeft(code[m[1]:], " "), ":") {
				class = "k"
			}
		case m[6] >= 0 && name != "sh": // an address stays in one piece
			class = "n"
		case m[8] >= 0 && l.keywords[token]:
			class = "k"
		}
		if class == "" {
			continue
		}
		b.WriteString(escape.Replace(code[at:m[0]]))
		b.WriteString(`<i class="` + class + `">` + escape.Replace(token) + `</i>`)
		at = m[1]
	}
	b.WriteString(escape.Replace(code[at:]))
	return template.HTML(b.String())
}
