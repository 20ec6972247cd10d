package ui

import (
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// lineagePage is what a feed is built from, and what is built from it.
type lineagePage struct {
	Head feedHead
	// Columns are the steps of the graph, from upstream to downstream.
	Columns []lineageColumn
	Reads   []lineageUse
	// Upstream and Downstream count the feeds in each direction.
	Upstream, Downstream int
	Truncated            bool
	// Earlier and Later show steps that the graph does not show; empty if there are none.
	Earlier, Later string

	edges []lineageEdge
}

// lineageColumn is a step of the graph. More counts the feeds for which it has no space.
type lineageColumn struct {
	Step  int
	Title string
	Nodes []client.LineageFeed
	More  int
}

// lineageUse is a row of the table: a feed next to this one.
type lineageUse struct {
	Direction string
	Feed      client.LineageFeed
	client.LineageRead
	// Current is the version of the feed that is read.
	Current int64
}

// lineageEdge is a line of the graph.
type lineageEdge struct {
	x1, y1, x2, y2 float64
	text           string
	failed         bool
}

// The measures of the graph.
const (
	lineageColumns          = 4
	lineageNodes            = 6
	nodeWidth, nodeHeight   = 212.0, 72.0
	columnGap, nodeGap      = 117.0, 16.0
	lineageNodeSpan         = nodeHeight + nodeGap
	lineageWidth            = lineageColumns*nodeWidth + (lineageColumns-1)*columnGap
	lineageDefaultUpstreams = 2
)

func showLineage(v *visit) error {
	head, err := headOf(v, "lineage")
	if err != nil {
		return err
	}
	l, err := v.api.Lineage(v.r.Context(), head.ID)
	if err != nil {
		return err
	}
	p := lineagePage{Head: head, Truncated: l.Truncated}
	p.arrange(l, v.r.URL.Query().Get("first"))
	p.uses(l)
	p.draw(l)
	return v.render(http.StatusOK, "feed_lineage", head.Name, p)
}

// arrange puts the feeds into the columns of the graph, of which the first is given.
func (p *lineagePage) arrange(l client.Lineage, given string) {
	least, most := 0, 0
	for _, f := range l.Feeds {
		least, most = min(least, f.Step), max(most, f.Step)
		switch {
		case f.Step < 0:
			p.Upstream++
		case f.Step > 0:
			p.Downstream++
		}
	}
	first, err := strconv.Atoi(given)
	if err != nil {
		first = max(least, -lineageDefaultUpstreams)
		first = max(min(first, most-lineageColumns+1), least, -lineageColumns+1)
	}
	first = max(min(first, most), least)
	last := min(first+lineageColumns-1, most)
	if first > least {
		p.Earlier = "?first=" + strconv.Itoa(max(first-2, least))
	}
	if last < most {
		p.Later = "?first=" + strconv.Itoa(min(first+2, most))
	}
	for step := first; step <= last; step++ {
		c := lineageColumn{Step: step, Title: stepTitle(step)}
		for _, f := range l.Feeds {
			if f.Step == step {
				c.Nodes = append(c.Nodes, f)
			}
		}
		slices.SortFunc(c.Nodes, func(a, b client.LineageFeed) int {
			if failedFeed(a) != failedFeed(b) {
				return map[bool]int{true: -1, false: 1}[failedFeed(a)]
			}
			return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
		})
		if len(c.Nodes) > lineageNodes {
			c.More = len(c.Nodes) - lineageNodes
			c.Nodes = c.Nodes[:lineageNodes]
		}
		p.Columns = append(p.Columns, c)
	}
}

func stepTitle(step int) string {
	direction := "Upstream"
	if step > 0 {
		direction = "Downstream"
	}
	switch step {
	case 0:
		return "This feed"
	case 1, -1:
		return direction + ", direct"
	}
	return fmt.Sprintf("%s, %d steps", direction, max(step, -step))
}

func failedFeed(f client.LineageFeed) bool {
	return f.Deleted || f.State == feedmill.FeedFailed || f.State == feedmill.FeedAuthRequired
}

// uses lists the reads of this feed and by this feed.
func (p *lineagePage) uses(l client.Lineage) {
	feeds := make(map[string]client.LineageFeed, len(l.Feeds))
	for _, f := range l.Feeds {
		feeds[f.ID] = f
	}
	for _, direction := range []string{"Upstream", "Downstream"} {
		for _, r := range l.Reads {
			switch {
			case direction == "Upstream" && r.Reader == p.Head.ID:
				p.Reads = append(p.Reads, lineageUse{direction, feeds[r.Read], r, feeds[r.Read].Version})
			case direction == "Downstream" && r.Read == p.Head.ID:
				p.Reads = append(p.Reads, lineageUse{direction, feeds[r.Reader], r, feeds[r.Read].Version})
			}
		}
	}
}

// Use is how the rows are used, in words.
func (u lineageUse) UsedAs() string {
	return map[string]string{"view": "rows of a query", "join": "joined in a query", "each": "one request for each row"}[u.LineageRead.Use]
}

// top is where the column begins in a graph of a number of rows.
func (c lineageColumn) top(rows int) float64 {
	return float64(rows-c.rows()) * lineageNodeSpan / 2
}

// rows is how many places the column takes, with that of the link to more.
func (c lineageColumn) rows() int { return len(c.Nodes) + min(c.More, 1) }

// Rows is how many nodes the highest column has.
func (p lineagePage) Rows() (rows int) {
	for _, c := range p.Columns {
		rows = max(rows, c.rows())
	}
	return rows
}

// draw places the lines between the nodes of the graph.
func (p *lineagePage) draw(l client.Lineage) {
	type place struct{ x, y float64 }
	places := make(map[string]place)
	feeds := make(map[string]client.LineageFeed)
	for i, c := range p.Columns {
		for k, f := range c.Nodes {
			places[f.ID] = place{float64(i) * (nodeWidth + columnGap), c.top(p.Rows()) + float64(k)*lineageNodeSpan + nodeHeight/2}
			feeds[f.ID] = f
		}
	}
	for _, r := range l.Reads {
		from, drawn := places[r.Read]
		to, both := places[r.Reader]
		if !drawn || !both {
			continue
		}
		e := lineageEdge{from.x + nodeWidth, from.y, to.x, to.y, "", failedFeed(feeds[r.Read])}
		if r.Version != nil {
			e.text = number(*r.Version)
			if e.failed && !feeds[r.Read].UpdatedAt.IsZero() {
				e.text += ", " + span(time.Since(feeds[r.Read].UpdatedAt)) + " old"
			}
		}
		p.edges = append(p.edges, e)
	}
}

// Lines draws the lines of the graph.
func (p lineagePage) Lines() template.HTML {
	var b strings.Builder
	height := float64(p.Rows())*lineageNodeSpan - nodeGap
	fmt.Fprintf(&b, `<svg class="lineage-lines" viewBox="0 0 %g %g" width="%g" height="%g" aria-hidden="true"><defs>`, lineageWidth, height, lineageWidth, height)
	for _, class := range []string{"edge", "bad"} {
		fmt.Fprintf(&b, `<marker id="to-%s" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" markerHeight="6" orient="auto"><path class="%s" d="M0 0L6 3L0 6z"/></marker>`, class, class)
	}
	b.WriteString("</defs>")
	for _, e := range p.edges {
		class := "edge"
		if e.failed {
			class = "bad"
		}
		bend := (e.x2 - e.x1) / 2
		fmt.Fprintf(&b, `<path class="line %s" marker-end="url(#to-%s)" d="M%g %gC%g %g %g %g %g %g"/>`, class, class, e.x1, e.y1, e.x1+bend, e.y1, e.x2-bend, e.y2, e.x2, e.y2)
	}
	for _, e := range p.edges {
		if e.text == "" {
			continue
		}
		x, y := (e.x1+e.x2)/2, (e.y1+e.y2)/2
		const letter = 7.0
		width := letter*float64(len([]rune(e.text))) + 8
		fmt.Fprintf(&b, `<rect x="%g" y="%g" width="%g" height="16"/><text class="%s" x="%g" y="%g" text-anchor="middle">%s</text>`,
			x-width/2, y-8, width, map[bool]string{true: "bad", false: ""}[e.failed], x, y+4, e.text)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// Kind is what kind of feed a node is.
func (lineagePage) Kind(f client.LineageFeed) string { return f.Type.Kind().Title }
