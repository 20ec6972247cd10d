package manual

import (
	"html"
	"html/template"
	"regexp"
	"strconv"
	"strings"
)

// The documentation uses a small part of Markdown: headings, paragraphs, lists, tables, fenced
// and indented code, links, images, code, bold and italic text. A general library would add 0.9 MB
// to the program. HTML is left out; the files have it only in comments for tests.

var (
	headingLine = regexp.MustCompile(`^(#{1,6}) +(.*?) *$`)
	itemLine    = regexp.MustCompile(`^([-*]|\d{1,3}\.) +`)
	tableRule   = regexp.MustCompile(`^\|?[ :|-]*-[ :|-]*$`)
	listed      = regexp.MustCompile(`^- \[([^\]]+)\]\(([^)#]+\.md)\)`)
)

// renderer turns Markdown into HTML.
type renderer struct {
	out strings.Builder
	// heading is called for every heading and returns its id; without an id it is left out.
	heading func(level int, text string) (id string)
	// link returns the target of a link.
	link func(target string) string
	// groups counts the groups of tabs.
	groups int
	// lead is called for the first paragraph; true leaves it out.
	lead func(text string) bool
}

// markdown renders a text of the OpenAPI document.
func markdown(text string) template.HTML {
	r := &renderer{link: func(target string) string { return target }}
	r.blocks(strings.Split(text, "\n"))
	return template.HTML(r.out.String())
}

// blocks renders lines as paragraphs, lists and so on.
func (r *renderer) blocks(lines []string) {
	for i := 0; i < len(lines); {
		line := lines[i]
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "":
			i++
		case trimmed == tabsBegin:
			i = r.tabs(lines, i)
		case strings.HasPrefix(trimmed, "<!--"):
			for i < len(lines) && !strings.Contains(lines[i], "-->") {
				i++
			}
			i++
		case strings.HasPrefix(line, "```"):
			i = r.fenced(lines, i)
		case strings.HasPrefix(line, "    "):
			i = r.indented(lines, i)
		case headingLine.MatchString(line):
			m := headingLine.FindStringSubmatch(line)
			r.title(len(m[1]), m[2])
			i++
		case strings.HasPrefix(line, "|") && i+1 < len(lines) && tableRule.MatchString(lines[i+1]):
			i = r.table(lines, i)
		case itemLine.MatchString(line):
			i = r.list(lines, i)
		default:
			i = r.paragraph(lines, i)
		}
	}
}

func (r *renderer) title(level int, text string) {
	id := ""
	if r.heading != nil {
		if id = r.heading(level, plain(text)); id == "" {
			return
		}
	}
	tag := "h" + strconv.Itoa(level)
	if id == "" {
		r.out.WriteString("<" + tag + ">" + r.inline(text) + "</" + tag + ">\n")
		return
	}
	r.out.WriteString("<" + tag + ` id="` + id + `">` + r.inline(text) + ` <a class="anchor" href="#` + id + `" aria-label="Link">#</a></` + tag + ">\n")
}

func (r *renderer) fenced(lines []string, i int) int {
	language := strings.TrimSpace(strings.TrimPrefix(lines[i], "```"))
	from := i + 1
	for i = from; i < len(lines) && !strings.HasPrefix(lines[i], "```"); i++ {
	}
	r.out.WriteString(string(codeBlock(language, strings.Join(lines[from:i], "\n"))) + "\n")
	return i + 1
}

func (r *renderer) indented(lines []string, i int) int {
	var code []string
	for ; i < len(lines) && (strings.HasPrefix(lines[i], "    ") || strings.TrimSpace(lines[i]) == ""); i++ {
		code = append(code, strings.TrimPrefix(lines[i], "    "))
	}
	r.out.WriteString(string(codeBlock("", strings.TrimRight(strings.Join(code, "\n"), "\n"))) + "\n")
	return i
}

func (r *renderer) table(lines []string, i int) int {
	r.out.WriteString(`<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><thead><tr>`)
	for _, cell := range cells(lines[i]) {
		r.out.WriteString(`<th scope="col">` + r.inline(cell) + "</th>")
	}
	r.out.WriteString("</tr></thead><tbody>")
	for i += 2; i < len(lines) && strings.HasPrefix(lines[i], "|"); i++ {
		r.out.WriteString("<tr>")
		for _, cell := range cells(lines[i]) {
			r.out.WriteString("<td>" + r.inline(cell) + "</td>")
		}
		r.out.WriteString("</tr>")
	}
	r.out.WriteString("</tbody></table></div>\n")
	return i
}

// cells are those of a row of a table. A bar behind a backslash is text.
func cells(line string) []string {
	line = strings.TrimSpace(strings.ReplaceAll(line, `\|`, "\x00"))
	all := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
	for i, c := range all {
		all[i] = strings.TrimSpace(strings.ReplaceAll(c, "\x00", "|"))
	}
	return all
}

// list renders a list. What is indented below an item belongs to it.
func (r *renderer) list(lines []string, i int) int {
	ordered := lines[i][0] != '-' && lines[i][0] != '*'
	tag := map[bool]string{true: "ol", false: "ul"}[ordered]
	r.out.WriteString("<" + tag + ">")
	for i < len(lines) {
		marker := itemLine.FindString(lines[i])
		if marker == "" || (marker[0] != '-' && marker[0] != '*') != ordered {
			break
		}
		item := []string{lines[i][len(marker):]}
		for i++; i < len(lines); i++ {
			text := strings.TrimLeft(lines[i], " ")
			depth := len(lines[i]) - len(text)
			if text == "" {
				if next := i + 1; next < len(lines) && strings.HasPrefix(lines[next], "  ") {
					item = append(item, "")
					continue
				}
				break
			}
			if depth == 0 && (itemLine.MatchString(text) || headingLine.MatchString(text) || strings.HasPrefix(text, "```")) {
				break
			}
			item = append(item, lines[i][min(depth, len(marker)):])
		}
		inner := &renderer{link: r.link}
		inner.blocks(item)
		text := strings.TrimSpace(inner.out.String())
		if rest, ok := strings.CutPrefix(text, "<p>"); ok { // an item of one paragraph has no tag for it
			text = strings.Replace(rest, "</p>", "", 1)
		}
		r.out.WriteString("<li>" + text + "</li>")
		for i < len(lines) && strings.TrimSpace(lines[i]) == "" && i+1 < len(lines) && itemLine.MatchString(lines[i+1]) {
			i++
		}
	}
	r.out.WriteString("</" + tag + ">\n")
	return i
}

func (r *renderer) paragraph(lines []string, i int) int {
	var text []string
	for ; i < len(lines); i++ {
		line := lines[i]
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "```") || headingLine.MatchString(line) || len(text) > 0 && itemLine.MatchString(line) {
			break
		}
		text = append(text, strings.TrimSpace(line))
	}
	words := strings.Join(text, " ")
	if r.lead != nil {
		lead := r.lead
		r.lead = nil
		if lead(words) {
			return i
		}
	}
	r.out.WriteString("<p>" + r.inline(words) + "</p>\n")
	return i
}

var inlines = regexp.MustCompile("(`+)(.+?)(`+)" + `|(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]*(?:\([^()\s]*\))?[^()\s]*)\)|<(https?://[^>\s]+)>|\*\*(.+?)\*\*|\*([^*\s][^*]*)\*|\\([\\` + "`" + `*_{}\[\]()#+.!|<>-])`)

// inline renders code, links, images, bold and italic text.
func (r *renderer) inline(text string) string {
	var b strings.Builder
	at := 0
	for _, m := range inlines.FindAllStringSubmatchIndex(text, -1) {
		if m[0] < at {
			continue
		}
		part := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return text[m[2*n]:m[2*n+1]]
		}
		b.WriteString(html.EscapeString(text[at:m[0]]))
		at = m[1]
		switch {
		case m[2] >= 0:
			b.WriteString("<code>" + html.EscapeString(strings.TrimSpace(part(2))) + "</code>")
		case m[12] >= 0 && part(4) == "!":
			b.WriteString(`<img src="` + html.EscapeString(r.link(part(6))) + `" alt="` + html.EscapeString(part(5)) + `">`)
		case m[12] >= 0:
			b.WriteString(`<a href="` + html.EscapeString(r.link(part(6))) + `">` + r.inline(part(5)) + "</a>")
		case m[14] >= 0:
			b.WriteString(`<a href="` + html.EscapeString(part(7)) + `">` + html.EscapeString(part(7)) + "</a>")
		case m[16] >= 0:
			b.WriteString("<strong>" + r.inline(part(8)) + "</strong>")
		case m[18] >= 0:
			b.WriteString("<em>" + r.inline(part(9)) + "</em>")
		default:
			b.WriteString(html.EscapeString(part(10)))
		}
	}
	b.WriteString(html.EscapeString(text[at:]))
	return b.String()
}

var tags = regexp.MustCompile(`<[^>]*>`)

// plain is a text without its markup.
func plain(text string) string {
	r := &renderer{link: func(target string) string { return target }}
	return html.UnescapeString(tags.ReplaceAllString(r.inline(text), ""))
}

var languageNames = map[string]string{
	"sh": "Shell", "json": "JSON", "yaml": "YAML", "python": "Python", "js": "JavaScript", "go": "Go", "sql": "SQL", "http": "HTTP", "": "Text",
}

// codeBlock is a block of code with its language. A script adds the copy button.
func codeBlock(language, code string) template.HTML {
	name, ok := languageNames[language]
	if !ok {
		name = language
	}
	return template.HTML(`<div class="code"><div class="bar"><span>` + html.EscapeString(name) + `</span></div><pre tabindex="0"><code>` +
		string(highlight(language, code)) + `</code></pre></div>`)
}
