package manual

import (
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill/docs"
)

// Comments around a group of tabs. Each heading between them begins a tab; other readers of
// the Markdown see sections.
const tabsBegin, tabsEnd = "<!-- tabs -->", "<!-- end of tabs -->"

// tabs renders a group of tabs. The first tab is shown; a script follows links to the others.
func (r *renderer) tabs(lines []string, i int) int {
	from := i + 1
	end := from
	for end < len(lines) && strings.TrimSpace(lines[end]) != tabsEnd {
		end++
	}
	level, fenced := 0, false
	var starts []int // the headings of the tabs
	for n := from; n < end; n++ {
		if strings.HasPrefix(lines[n], "```") {
			fenced = !fenced
		}
		m := headingLine.FindStringSubmatch(lines[n])
		if m == nil || fenced {
			continue
		}
		if level == 0 {
			level = len(m[1])
		}
		if len(m[1]) == level {
			starts = append(starts, n)
		}
	}
	r.groups++
	name := "tabs-" + strconv.Itoa(r.groups)
	r.out.WriteString(`<div class="choice"><fieldset><legend class="unseen">Language</legend>`)
	for n, start := range starts {
		title := plain(headingLine.FindStringSubmatch(lines[start])[2])
		checked := ""
		if n == 0 {
			checked = " checked"
		}
		r.out.WriteString(`<label><input type="radio" name="` + name + `" value="` + docs.Anchor(title) + `"` + checked + `>` + html.EscapeString(title) + `</label>`)
	}
	r.out.WriteString("</fieldset>\n")
	for n, start := range starts {
		title := plain(headingLine.FindStringSubmatch(lines[start])[2])
		id := docs.Anchor(title)
		if r.heading != nil {
			id = r.heading(level, title)
		}
		stop := end
		if n+1 < len(starts) {
			stop = starts[n+1]
		}
		r.out.WriteString(`<section class="panel" id="` + id + `" aria-label="` + html.EscapeString(title) + `">` + "\n" + `<h` + strconv.Itoa(level) + ` class="unseen">` + html.EscapeString(title) + `</h` + strconv.Itoa(level) + ">\n")
		r.blocks(slices.Clone(lines[start+1 : stop]))
		r.out.WriteString("</section>\n")
	}
	r.out.WriteString("</div>\n")
	return min(end+1, len(lines))
}
