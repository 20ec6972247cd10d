package lake

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/query/duckdb"
)

const (
	// profileAtOnce is of how many columns the values are added up in one statement.
	profileAtOnce = 50
	// exactDistinct is up to how many different values of a column they are counted
	// one by one.
	exactDistinct = 100_000
	// exactQuantiles is up to how many rows quartiles are exact.
	exactQuantiles = 100_000
	// profileTop is how many of the values that most rows have are listed, and
	// profileBins into how many parts the range of values is divided.
	profileTop, profileBins = 10, 20
	// profileText is how much is shown of a text.
	profileText = 200
)

// Profile says what the values of a version are like, or of those rows of it that a query
// leaves. Of the query only the conditions count.
func (r *Reader) Profile(ctx context.Context, v *Version, q feedmill.Query) (feedmill.FeedProfile, error) {
	tree, faults := query.Resolve(feedmill.Query{Where: q.Where, WeekStart: q.WeekStart, Now: q.Now}, v.Columns)
	if err := faults.Err(); err != nil {
		return feedmill.FeedProfile{}, fmt.Errorf("profile of a version: %w", err)
	}
	p := &profiling{r: r, version: v}
	p.profile.Columns = make([]feedmill.ColumnProfile, len(v.Columns))
	for i := range v.Columns {
		p.profile.Columns[i] = feedmill.ColumnProfile{ID: v.Columns[i].ID, Histogram: []feedmill.ProfileBin{}, Top: []feedmill.ProfileValue{}}
	}
	if v.Rows == 0 || len(v.Columns) == 0 {
		return p.profile, nil
	}
	w := query.NewWriter(duckdb.Dialect{}, columnName)
	p.from = " FROM " + v.scan("", 0)
	if len(tree.Where) > 0 {
		p.from += " WHERE " + w.Predicate(tree.Where)
	}
	p.args = w.Args()
	p.files = lentFiles(v.Files)
	if err := p.measure(ctx); err != nil {
		return feedmill.FeedProfile{}, fmt.Errorf("profile of a version: %w", err)
	}
	return p.profile, nil
}

// profiling is a profile while it is made.
type profiling struct {
	r       *Reader
	version *Version
	from    string
	args    []string
	files   map[string]string
	profile feedmill.FeedProfile
}

// measure fills in the profile, some columns at a time.
func (p *profiling) measure(ctx context.Context) error {
	for first := 0; first < len(p.version.Columns); first += profileAtOnce {
		if err := p.sums(ctx, first, min(first+profileAtOnce, len(p.version.Columns))); err != nil {
			return err
		}
	}
	for i := range p.version.Columns {
		if err := p.values(ctx, i); err != nil {
			return err
		}
		if err := p.bins(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// ask runs a statement and reads its rows, each a list of values.
func (p *profiling) ask(ctx context.Context, selected []string, rest string, each func(values map[string]json.RawMessage) error) error {
	request := wire.Request{Format: wire.FormatNDJSON, Files: p.files, Args: p.args}
	for i := range selected {
		name := "f" + strconv.Itoa(i)
		request.Names = append(request.Names, name)
		selected[i] += " AS " + name
	}
	request.SQL = "SELECT " + strings.Join(selected, ", ") + ", CAST(0 AS BIGINT) AS rn" + rest
	var out bytes.Buffer
	if _, err := p.r.runRequest(ctx, request, &out); err != nil {
		return err
	}
	d := json.NewDecoder(&out)
	for d.More() {
		var values map[string]json.RawMessage
		if err := d.Decode(&values); err != nil {
			return err
		}
		if err := each(values); err != nil {
			return err
		}
	}
	return nil
}

// isRange reports whether the values of a column lie on a line.
func isRange(c *feedmill.Column) bool {
	switch c.Type {
	case columnar.TypeInteger, columnar.TypeDecimal, columnar.TypeNumber, columnar.TypeDate, columnar.TypeTimestamp:
		return true
	}
	return false
}

func isTime(c *feedmill.Column) bool {
	return c.Type == columnar.TypeDate || c.Type == columnar.TypeTimestamp
}

// onLine is a value of a column as a number: of a time the seconds.
func onLine(c *feedmill.Column, sql string) string {
	if isTime(c) {
		return "epoch(" + sql + ")"
	}
	return "CAST(" + sql + " AS DOUBLE)"
}

// quantiles is the function that finds the quartiles of a column: exactly, between
// two values where they are numbers, unless there are too many to hold.
func quantiles(c *feedmill.Column, rows int64) string {
	switch {
	case rows > exactQuantiles:
		return "approx_quantile"
	case isTime(c):
		return "quantile_disc"
	}
	return "quantile_cont"
}

// sums adds up the values of some columns.
func (p *profiling) sums(ctx context.Context, first, end int) error {
	const each = 11
	selected := []string{"count(*)"}
	for i := first; i < end; i++ {
		c, name := &p.version.Columns[i], "c"+strconv.Itoa(i)
		all := ""
		if c.Type == columnar.TypeNumber {
			all = " FILTER (WHERE isfinite(" + name + "))"
		}
		null := func(sql string, holds bool) string {
			if holds {
				return sql
			}
			return "CAST(NULL AS BIGINT)"
		}
		isText := c.Type == columnar.TypeText
		least, most := "min("+name+")"+all, "max("+name+")"+all
		line, lineMost := onLine(c, least), onLine(c, most)
		if isText {
			// Texts are cut before they are compared: the least of the heads is the head of the least.
			head := fmt.Sprintf("left(%s, %d)", name, profileText)
			least, most = "min("+head+")", "max("+head+")"
		}
		finite := name
		if all != "" {
			finite = "CASE WHEN isfinite(" + name + ") THEN " + name + " END"
		}
		quantile := func(at int) string {
			return fmt.Sprintf("%s(%s, [0.25, 0.5, 0.75])[%d]", quantiles(c, p.version.Rows), finite, at)
		}
		known := c.Type != columnar.TypeJSON
		selected = append(selected,
			"count("+name+")", "approx_count_distinct("+name+")",
			null(least, known), null(most, known),
			null("avg("+name+")"+all, isRange(c) && !isTime(c)),
			null(quantile(1), isRange(c)), null(quantile(2), isRange(c)), null(quantile(3), isRange(c)),
			null("max(length(CAST("+name+" AS VARCHAR)))", isText || !known),
			null(line, isRange(c)), null(lineMost, isRange(c)))
	}
	return p.ask(ctx, selected, p.from, func(values map[string]json.RawMessage) error {
		value := func(column, at int) json.RawMessage { return values["f"+strconv.Itoa(1+(column-first)*each+at)] }
		number := func(raw json.RawMessage) (n int64) {
			_ = json.Unmarshal(raw, &n) // null is 0
			return n
		}
		p.profile.RowCount = number(values["f0"])
		for i := first; i < end; i++ {
			c := &p.profile.Columns[i]
			there := number(value(i, 0))
			c.Nulls, c.Distinct = p.profile.RowCount-there, min(number(value(i, 1)), there)
			c.DistinctExact = there == 0
			c.Min, c.Max, c.Mean = value(i, 2), value(i, 3), value(i, 4)
			if there > 0 && isRange(&p.version.Columns[i]) {
				c.Quantiles = &feedmill.ProfileQuantiles{P25: value(i, 5), P50: value(i, 6), P75: value(i, 7)}
			}
			if length := number(value(i, 8)); length > 0 || there > 0 && string(value(i, 8)) == "0" {
				c.MaxLength = &length
			}
			_ = json.Unmarshal(value(i, 9), &c.Low) // null where there are no values
			_ = json.Unmarshal(value(i, 10), &c.High)
		}
		return nil
	})
}

// values counts the different values of a column and finds those that most rows have, where
// there are not too many.
func (p *profiling) values(ctx context.Context, i int) error {
	column, c, name := &p.version.Columns[i], &p.profile.Columns[i], "c"+strconv.Itoa(i)
	if c.Distinct == 0 || c.Distinct > exactDistinct || column.Type == columnar.TypeJSON {
		return nil
	}
	shown := "v"
	if column.Type == columnar.TypeText {
		shown = fmt.Sprintf("left(v, %d)", profileText)
	}
	value, by := "x AS v", "x"
	if column.Type == columnar.TypeText && p.version.isLarge() {
		// A sum stands for a large text, of which only the head is shown.
		value, by = fmt.Sprintf("min(left(x, %d)) AS v", profileText), "sha256(x)"
	}
	grouped := " FROM (SELECT " + value + ", count(*) AS n FROM (SELECT " + name + " AS x" + p.from + ") WHERE x IS NOT NULL GROUP BY " + by + ") ORDER BY n DESC, v LIMIT " + strconv.Itoa(profileTop)
	return p.ask(ctx, []string{shown, "n", "count(*) OVER ()"}, grouped, func(values map[string]json.RawMessage) error {
		var n int64
		if err := json.Unmarshal(values["f1"], &n); err != nil {
			return err
		}
		c.Top = append(c.Top, feedmill.ProfileValue{Value: values["f0"], Count: n})
		c.DistinctExact = true
		return json.Unmarshal(values["f2"], &c.Distinct)
	})
}

// bins counts the values in each part of their range.
func (p *profiling) bins(ctx context.Context, i int) error {
	column, c, name := &p.version.Columns[i], &p.profile.Columns[i], "c"+strconv.Itoa(i)
	if !isRange(column) || c.Distinct == 0 {
		return nil
	}
	bins, width := profileBins, (c.High-c.Low)/profileBins
	switch span := c.High - c.Low; {
	case span == 0:
		bins, width = 1, 1
	case column.Type == columnar.TypeInteger && span < profileBins:
		bins, width = int(span)+1, 1
	case column.Type == columnar.TypeDate:
		const day = 24 * 60 * 60
		width = math.Ceil(span/day/profileBins) * day
		bins = int(span/width) + 1
	case math.IsInf(width, 0):
		return nil
	}
	float := func(f float64) string { return "CAST('" + strconv.FormatFloat(f, 'g', -1, 64) + "' AS DOUBLE)" }
	holds := "v IS NOT NULL"
	if column.Type == columnar.TypeNumber {
		holds = "isfinite(v)"
	}
	part := fmt.Sprintf("CAST(greatest(0, least(floor((%s - %s) / %s), %d)) AS BIGINT)", onLine(column, "v"), float(c.Low), float(width), bins-1)
	counts := make([]int64, bins)
	err := p.ask(ctx, []string{"b", "count(*)"}, " FROM (SELECT "+part+" AS b FROM (SELECT "+name+" AS v"+p.from+") WHERE "+holds+") GROUP BY b", func(values map[string]json.RawMessage) error {
		var at, n int64
		if err := json.Unmarshal(values["f0"], &at); err != nil {
			return err
		}
		err := json.Unmarshal(values["f1"], &n)
		counts[at] = n
		return err
	})
	if err != nil {
		return err
	}
	for at, n := range counts {
		from := c.Low + float64(at)*width
		to := from + width
		if at == bins-1 && (bins == profileBins || c.High == c.Low) && column.Type != columnar.TypeDate {
			to = c.High
		}
		c.Histogram = append(c.Histogram, feedmill.ProfileBin{From: edge(column, from), To: edge(column, to), Count: n})
	}
	return nil
}

// edge is where a part of a range begins or ends, as values are shown.
func edge(c *feedmill.Column, at float64) json.RawMessage {
	seconds, rest := math.Modf(at)
	switch c.Type {
	case columnar.TypeDate:
		return json.RawMessage(time.Unix(int64(seconds), 0).UTC().Format(`"2006-01-02"`))
	case columnar.TypeTimestamp:
		return json.RawMessage(time.Unix(int64(seconds), int64(rest*1e9)).UTC().Format(`"2006-01-02T15:04:05.999Z"`))
	}
	return json.RawMessage(strconv.FormatFloat(at, 'g', -1, 64))
}
