package manual

import (
	"fmt"
	"html/template"
	"path"
	"strings"

	"github.com/feedmill/feedmill/docs"
)

// render renders a file. Its first heading is the title of the page, and a plain paragraph that
// follows the title is the lead.
func render(file string, source []byte) *page {
	p := &page{Path: address(file), Kind: "guide", Source: file}
	used := make(map[string]int)
	r := &renderer{link: func(to string) string { return target(file, to) }}
	r.heading = func(level int, text string) string {
		if level == 1 {
			p.Title = text
			return ""
		}
		r.lead = nil
		id := docs.Anchor(text)
		if used[id]++; used[id] > 1 {
			id = fmt.Sprintf("%s-%d", id, used[id]-1)
		}
		p.TOC = append(p.TOC, heading{Level: level, Text: text, ID: id})
		return id
	}
	r.lead = func(text string) bool {
		p.Summary = plain(text)
		if strings.ContainsAny(text, "[`") {
			return false
		}
		p.Lead = p.Summary
		return true
	}
	lines := strings.Split(string(source), "\n")
	r.blocks(lines)
	p.HTML = template.HTML(r.out.String())
	summarize(p.TOC, lines)
	p.Long = len(p.TOC) > 40
	return p
}

// summarize sets the first paragraph below each heading, for the search.
func summarize(headings []heading, lines []string) {
	n, fenced := -1, false
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced || strings.TrimSpace(line) == "" || strings.HasPrefix(line, "<!--") || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "    "):
		case headingLine.MatchString(line):
			if !strings.HasPrefix(line, "# ") {
				n++
			}
		case n >= 0 && n < len(headings) && headings[n].Paragraph == "":
			text := line
			for _, more := range lines[i+1:] {
				if strings.TrimSpace(more) == "" || len(text) > maxText {
					break
				}
				text += " " + strings.TrimSpace(more)
			}
			headings[n].Paragraph = plain(text)
		}
	}
}

// target is where a link of a file leads to on the server.
func target(file, destination string) string {
	if strings.Contains(destination, ":") || strings.HasPrefix(destination, "#") || strings.HasPrefix(destination, "/") {
		return destination
	}
	name, anchor, has := strings.Cut(destination, "#")
	full := path.Join(path.Dir(file), name)
	if strings.HasPrefix(full, "..") {
		return "https://github.com/feedmill/feedmill/blob/main/" + strings.TrimPrefix(full, "../")
	}
	at := "/docs/" + address(full)
	if has {
		at += "#" + anchor
	}
	return at
}
