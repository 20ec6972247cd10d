package ui

import (
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// columnPicture is what the values of a column are like, for people.
type columnPicture struct {
	feedmill.Column
	Numeric, Key bool
	// Nulls and Distinct are counts, of as many rows as there are.
	Nulls, Distinct, Rows int64
	DistinctExact         bool
	// Low and High are the ends of what the histogram shows, and Middle what stands in
	// the middle of it.
	Low, High string
	Middle    []pair
	Bins      []pictureBin
	Top       []pictureValue
	Notes     []string
	filtered  bool
}

// pictureBin is a part of the range of values; Left are those that the filters leave.
type pictureBin struct {
	From, To string
	Count    int64
	Left     float64
}

// pictureValue is a value that many rows have.
type pictureValue struct {
	Text        string
	Count       int64
	Share, Left float64
}

// picturesOf draws the columns of a feed that are shown. Where only some of the rows are
// left, the pictures show them in front of all.
func picturesOf(f client.DataFeed, all client.FeedProfile, left *client.FeedProfile) []columnPicture {
	pictures := make([]columnPicture, 0, len(all.Columns))
	for _, c := range all.Columns {
		p := columnPicture{
			Numeric: numeric(c.Type), Key: slices.Contains(f.Key, c.Name), Nulls: c.Nulls, Distinct: c.Distinct, DistinctExact: c.DistinctExact,
			Rows: all.RowCount, filtered: left != nil, Middle: middleOf(c),
		}
		p.Column = feedmill.Column{ID: c.ID, Name: c.Name}
		if at := slices.IndexFunc(f.Columns, func(known feedmill.Column) bool { return known.ID == c.ID }); at >= 0 {
			p.Column = f.Columns[at]
		}
		var some *client.ColumnProfile
		if left != nil {
			if at := slices.IndexFunc(left.Columns, func(other client.ColumnProfile) bool { return other.ID == c.ID }); at >= 0 {
				some = &left.Columns[at]
			}
		}
		p.addBins(c, some)
		p.addTop(c, some)
		for _, w := range f.Warnings {
			if w.Column == c.Name {
				p.Notes = append(p.Notes, w.Detail)
			}
		}
		pictures = append(pictures, p)
	}
	return pictures
}

func (p *columnPicture) addBins(c client.ColumnProfile, some *client.ColumnProfile) {
	if len(c.Histogram) == 0 {
		return
	}
	p.Low, p.High = briefValue(c.Min), briefValue(c.Max)
	for _, bin := range c.Histogram {
		b := pictureBin{From: briefValue(bin.From), To: briefValue(bin.To), Count: bin.Count}
		if some != nil {
			b.Left = min(spread(some.Histogram, bin), float64(bin.Count))
		}
		p.Bins = append(p.Bins, b)
	}
}

// spread is how many values of other parts are in one part, where each part's are spread
// evenly: the parts of some rows are not those of all.
func spread(bins []feedmill.ProfileBin, in feedmill.ProfileBin) (count float64) {
	from, to, ok := ends(in)
	if !ok {
		return 0
	}
	for _, bin := range bins {
		low, high, ok := ends(bin)
		switch {
		case !ok:
		case high <= low: // one value alone
			if low >= from && (low < to || low == to && from == to) {
				count += float64(bin.Count)
			}
		default:
			if shared := math.Min(high, to) - math.Max(low, from); shared > 0 {
				count += float64(bin.Count) * shared / (high - low)
			}
		}
	}
	return count
}

func ends(bin feedmill.ProfileBin) (from, to float64, ok bool) {
	from, a := onLine(bin.From)
	to, b := onLine(bin.To)
	return from, to, a && b
}

// onLine is the place of a number or a time on a line of numbers.
func onLine(raw json.RawMessage) (float64, bool) {
	text := plainValue(raw)
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n, true
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return float64(t.UnixMilli()), true
		}
	}
	return 0, false
}

// shownTop is how many of the most frequent values a picture has.
const shownTop = 2

func (p *columnPicture) addTop(c client.ColumnProfile, some *client.ColumnProfile) {
	values := float64(max(p.Rows-p.Nulls, 1))
	for _, top := range c.Top {
		value := pictureValue{Text: clip(plainValue(top.Value)), Count: top.Count, Share: float64(top.Count) / values}
		if some != nil {
			for _, other := range some.Top {
				if string(other.Value) == string(top.Value) {
					value.Left = float64(other.Count) / values
				}
			}
		}
		p.Top = append(p.Top, value)
	}
}

// Frequent are the values that stand in the head of the column: those of which there are
// so many that a share says something.
func (p columnPicture) Frequent() []pictureValue {
	if len(p.Bins) > 0 || len(p.Top) == 0 || p.Top[0].Share < .02 {
		return nil
	}
	return p.Top[:min(len(p.Top), shownTop)]
}

// First are the most frequent values, however few rows have them.
func (p columnPicture) First() []pictureValue { return p.Top[:min(len(p.Top), shownTop)] }

// NullShare is the share of rows without a value.
func (p columnPicture) NullShare() float64 { return float64(p.Nulls) / float64(max(p.Rows, 1)) }

// The measures of a histogram, in its own units; it is as wide as its place.
const histogramWidth, histogramHeight = 240.0, 36.0

// Histogram draws how many values are in each part of the range.
func (p columnPicture) Histogram() template.HTML {
	most := int64(1)
	for _, b := range p.Bins {
		most = max(most, b.Count)
	}
	width := histogramWidth / float64(max(len(p.Bins), 1))
	var b strings.Builder
	class := "hist"
	if p.filtered {
		class += " some"
	}
	fmt.Fprintf(&b, `<svg class="%s" viewBox="0 0 %.0f %.0f" preserveAspectRatio="none" aria-hidden="true">`, class, histogramWidth, histogramHeight)
	bar := func(class string, i int, count float64) {
		if count <= 0 {
			return
		}
		height := max(count/float64(most)*histogramHeight, 1)
		fmt.Fprintf(&b, `<rect%s x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, class, float64(i)*width, histogramHeight-height, max(width-1.5, 1), height)
	}
	for i, bin := range p.Bins {
		bar("", i, float64(bin.Count))
		bar(` class="left"`, i, bin.Left)
	}
	return template.HTML(b.String() + `</svg>`)
}

// ShareBar draws a share of a line, with what is left of it in front.
func (v pictureValue) ShareBar() template.HTML {
	return template.HTML(fmt.Sprintf(`<svg class="share-bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect width="%.1f" height="1"/><rect class="left" width="%.1f" height="1"/></svg>`, v.Share*100, v.Left*100))
}

// NullBar draws the share of rows without a value.
func (p columnPicture) NullBar() template.HTML {
	return template.HTML(fmt.Sprintf(`<svg class="null-bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect width="%.1f" height="1"/></svg>`, p.NullShare()*100))
}

// middleOf is what stands in the middle of a column, each with its name.
func middleOf(c client.ColumnProfile) (middle []pair) {
	if c.Mean != nil && c.Type != "integer" {
		middle = append(middle, pair{"mean", grouped(strconv.FormatFloat(rounded(*c.Mean), 'f', -1, 64))})
	}
	if c.Quantiles != nil {
		if text := briefValue(c.Quantiles.P50); text != "" {
			middle = append(middle, pair{"median", text})
		}
	}
	if c.MaxLength != nil {
		middle = append(middle, pair{"longest", plural(*c.MaxLength, "character")})
	}
	return middle
}

// rounded is a number with four digits that say something.
func rounded(n float64) float64 {
	text := strconv.FormatFloat(n, 'g', 4, 64)
	if math.Abs(n) >= 1000 {
		text = strconv.FormatFloat(n, 'f', 1, 64)
	}
	n, _ = strconv.ParseFloat(text, 64)
	return n
}

// plainValue is a JSON value as text: null is nothing, and a text stands without quotes.
func plainValue(raw json.RawMessage) string {
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case json.Unmarshal(raw, &text) == nil:
		return text
	}
	return string(raw)
}

// briefValue is a number or a time for a place with little room: numbers in groups, times
// to the minute, and a whole day as a day.
func briefValue(raw json.RawMessage) string {
	text := plainValue(raw)
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t.UTC().Format("2006-01-02 15:04")
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		if len(text) > 12 && n != math.Trunc(n) {
			text = strconv.FormatFloat(rounded(n), 'f', -1, 64)
		}
		return grouped(text)
	}
	return clip(text)
}

// grouped is a number as it is written, with its whole part in groups.
func grouped(text string) string {
	whole, part, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || strings.ContainsAny(text, "eE") {
		return text
	}
	sign := ""
	if n == 0 && strings.HasPrefix(whole, "-") {
		sign = "-"
	}
	if part != "" {
		part = "." + part
	}
	return sign + number(n) + part
}
