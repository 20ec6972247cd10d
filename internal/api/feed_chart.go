package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/picture"
)

// chartParameters are the query parameters of a chart.
var chartParameters = []string{"measure", "aggregate", "group", "split", "filter", "timezone", "version", "kind"}

// The limits of a chart.
const (
	maxChartGroups = 10_000
	maxChartSeries = 8
	// maxChartBytes bounds the groups of a chart with their values, which can be long texts.
	maxChartBytes = 4 << 20
)

// chartUnits are the periods that a chart can group by.
var chartUnits = []feedmill.PeriodUnit{feedmill.UnitHour, feedmill.UnitDay, feedmill.UnitWeek, feedmill.UnitMonth, feedmill.UnitQuarter, feedmill.UnitYear}

// chartAsked is a chart that a request asks for. A column is empty if the request does not name it.
type chartAsked struct {
	kind, measure, group, split string
	aggregate                   feedmill.Aggregate
	period                      feedmill.PeriodUnit
	zone                        *time.Location
	where                       []feedmill.Condition
	number                      int64
}

// readChart answers an aggregate of the rows of a feed for each group, as values or as a picture.
func (s *Server) readChart(c *call) (answer, error) {
	asked := c.chartAsked()
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	f, v, err := s.feedVersion(c, asked.number)
	if err != nil {
		return answer{}, err
	}
	if err := c.takeChart(); err != nil {
		return answer{}, err
	}
	r := chartReader{c: c, feeds: s.Feeds, version: v, asked: asked}
	chart, err := r.read()
	if err != nil {
		return answer{}, inSentences(err)
	}
	a := jsonAnswer(http.StatusOK, resource{resourceMeta{feedURL(f.ID) + "/chart?" + c.r.URL.Query().Encode()}, chart})
	if wantsSVG(c.r.Header.Values("Accept")) {
		if len(chart.Groups) > picture.MaxGroups {
			return answer{}, chartTooLarge(fmt.Sprintf("The chart has %d groups; a picture can have at most %d. Choose a longer period or add a filter, or request JSON.", len(chart.Groups), picture.MaxGroups))
		}
		a.contentType, a.body = "image/svg+xml", picture.Draw(chart)
	}
	a.set("Vary", "Accept")
	return a, nil
}

// wantsSVG reports whether a client prefers SVG to JSON.
func wantsSVG(accept []string) bool {
	ranges := mediaRanges(strings.Join(accept, ","))
	svg, svgPlace := (&outputFormat{types: []string{"image/svg+xml"}}).wanted(ranges)
	text, textPlace := (&outputFormat{types: []string{"application/json"}}).wanted(ranges)
	return svg > text || svg > 0 && svg == text && svgPlace < textPlace
}

func chartTooLarge(detail string) error {
	return &feedmill.Error{Kind: feedmill.ErrUnprocessable, Type: "chart-too-large", Detail: detail}
}

// chartAsked reads the query parameters of a chart.
func (c *call) chartAsked() (asked chartAsked) {
	asked.measure, asked.split = c.columnParameter("measure", ""), c.columnParameter("split", "")
	asked.group = c.columnParameter("group", ":")
	if _, given := c.query["group"]; !given {
		c.fault(feedmill.Fault{Parameter: "group", Detail: "group is required. Set it to a column, or to a column and a period, such as created_at:month."})
	}
	asked.period = c.chartPeriod()
	if asked.split != "" && asked.split == asked.group {
		c.fault(feedmill.Fault{Parameter: "split", Detail: "split must be another column than group."})
	}
	asked.kind = c.oneOf("kind", picture.Kinds)
	asked.aggregate = feedmill.Aggregate(c.oneOf("aggregate", append([]string{""}, aggregateNames()...)))
	if asked.measure == "" && asked.aggregate != "" && asked.aggregate != feedmill.AggregateCount {
		c.fault(feedmill.Fault{Parameter: "measure", Detail: fmt.Sprintf("measure is required with aggregate=%s. Set it to the column to aggregate.", asked.aggregate)})
	}
	asked.zone = time.UTC
	if text, given := c.query["timezone"]; given {
		zone, err := time.LoadLocation(text)
		if err != nil || text == "" || text == "Local" {
			c.fault(feedmill.Fault{Parameter: "timezone", Detail: "timezone is not a known time zone. Use an IANA name such as Europe/Paris or UTC."})
		} else {
			asked.zone = zone
		}
	}
	asked.where = c.readQueryParameters().Where
	asked.number = c.versionNumber("version")
	return asked
}

// columnParameter reads the name of a column, up to a separator. A name in quotes can contain it.
func (c *call) columnParameter(parameter, separator string) string {
	text, given := c.query[parameter]
	if !given {
		return ""
	}
	item, _, err := feedmill.ScanItem(text, separator)
	if err == nil && item.Text == "" {
		err = fmt.Errorf("%s must name a column", parameter)
	}
	if err != nil {
		c.fault(feedmill.Fault{Parameter: parameter, Detail: sentence(err.Error())})
	}
	return item.Text
}

// chartPeriod reads the period of the parameter group.
func (c *call) chartPeriod() feedmill.PeriodUnit {
	_, rest, err := feedmill.ScanItem(c.query["group"], ":")
	if err != nil || rest == "" {
		return ""
	}
	unit := feedmill.PeriodUnit(rest[1:])
	if !slices.Contains(chartUnits, unit) {
		c.fault(feedmill.Fault{Parameter: "group", Detail: fmt.Sprintf("The period of group must be hour, day, week, month, quarter or year; got %.20q. Put a name that contains a colon in quotes.", string(unit))})
	}
	return unit
}

func aggregateNames() (names []string) {
	for _, fn := range feedmill.Aggregates {
		names = append(names, string(fn))
	}
	return names
}

// oneOf reads a parameter with a fixed set of values, of which the first is the default.
func (c *call) oneOf(parameter string, values []string) string {
	text, given := c.query[parameter]
	if !given {
		return values[0]
	}
	if text == "" || !slices.Contains(values, text) {
		named := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
		c.fault(feedmill.Fault{Parameter: parameter, Detail: fmt.Sprintf("%s must be %s or %s; got %.20q.", parameter, strings.Join(named[:len(named)-1], ", "), named[len(named)-1], text)})
		return values[0]
	}
	return text
}

// check says what is wrong with a chart of the columns of a version, and chooses the aggregate of a
// request without one: the sum of numbers, and the count of other values.
func (a *chartAsked) check(columns []feedmill.Column) error {
	var faults []feedmill.Fault
	column := func(parameter, name string) *feedmill.Column {
		at := slices.IndexFunc(columns, func(c feedmill.Column) bool { return c.Name == name })
		if name == "" || at < 0 {
			return nil // the query reports an unknown column
		}
		return &columns[at]
	}
	for _, parameter := range []struct{ name, column string }{{"group", a.group}, {"split", a.split}} {
		if found := column(parameter.name, parameter.column); found != nil && found.Type == columnar.TypeJSON {
			faults = append(faults, feedmill.Fault{Parameter: parameter.name, Detail: fmt.Sprintf("%s must not be a column of type json; got %q.", parameter.name, found.Name)})
		}
	}
	measure := column("measure", a.measure)
	number := measure != nil && slices.Contains([]columnar.Type{columnar.TypeInteger, columnar.TypeDecimal, columnar.TypeNumber}, measure.Type)
	switch counts := a.aggregate == feedmill.AggregateCount || a.aggregate == feedmill.AggregateCountDistinct; {
	case a.aggregate == "" && number:
		a.aggregate = feedmill.AggregateSum
	case a.aggregate == "":
		a.aggregate = feedmill.AggregateCount
	case measure != nil && !number && !counts:
		faults = append(faults, feedmill.Fault{Parameter: "aggregate", Detail: fmt.Sprintf("aggregate=%s of %q cannot be drawn, because it is not a number. Use count or countDistinct.", a.aggregate, measure.Name)})
	}
	if len(faults) > 0 {
		return &feedmill.Error{Kind: feedmill.ErrInvalid, Faults: faults}
	}
	return nil
}

// chart is a chart without its values.
func (a *chartAsked) chart(v feedmill.FeedVersion) client.Chart {
	chart := client.Chart{
		Version: v.Number, Kind: a.kind, Measure: orNull(a.measure), Aggregate: string(a.aggregate), Group: a.group, Period: orNull(string(a.period)),
		Split: orNull(a.split), Timezone: cmp.Or(a.zone, time.UTC).String(), AsOf: v.CreatedAt, Total: json.RawMessage("null"),
		Groups: []client.ChartGroup{}, Series: []client.ChartSeries{},
	}
	for _, column := range v.Columns {
		if column.Name == a.measure && a.aggregate != feedmill.AggregateCount && a.aggregate != feedmill.AggregateCountDistinct {
			chart.Format = orNull(column.Format)
		}
	}
	return chart
}
