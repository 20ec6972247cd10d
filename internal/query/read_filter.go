package query

import (
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// readFilter reads a test of one value.
func readFilter(o *strictjson.Object) (f feedmill.Filter) {
	if v, ok := o.Need("op"); ok {
		op, _ := v.Text()
		f.Op = feedmill.FilterOp(op)
	}
	if v, ok := o.Get("inverted"); ok {
		f.Inverted, _ = v.Boolean()
	}
	if v, ok := o.Get("caseSensitive"); ok {
		f.CaseSensitive, _ = v.Boolean()
	}
	if v, ok := o.Get("values"); ok {
		if v.Kind != '[' || len(v.Items) > feedmill.MaxFilterValues {
			o.Fault("values", fmt.Sprintf("Must be an array of at most %d values.", feedmill.MaxFilterValues))
		} else {
			for _, item := range v.Elements() {
				f.Values = append(f.Values, readFilterValue(item))
			}
		}
	}
	o.RefuseUnknown()
	return f
}

// readFilterValue reads what a filter compares with. The column's type says later
// what its text means.
func readFilterValue(v strictjson.Field) (out feedmill.FilterValue) {
	switch v.Kind {
	case 'n':
		out.Null = true
	case '"':
		out.Text, _ = v.Text()
	case 't', 'f', '0':
		out.Text = string(v.Raw)
	case '{':
		p, _ := v.Object()
		out.Period = readPeriod(p)
	default:
		v.Fault("Must be a string, a number, a boolean, null, or a period such as {\"n\":7,\"unit\":\"day\"}.")
	}
	return out
}

func readPeriod(o *strictjson.Object) *feedmill.Period {
	p := &feedmill.Period{N: 1}
	if v, ok := o.Get("n"); ok {
		p.N, _ = v.Integer(1, feedmill.MaxPeriod)
	}
	if v, ok := o.Need("unit"); ok {
		unit, _ := v.Choice(texts(feedmill.PeriodUnits)...)
		p.Unit = feedmill.PeriodUnit(unit)
	}
	if v, ok := o.Get("includeCurrent"); ok {
		p.IncludeCurrent, _ = v.Boolean()
	}
	o.RefuseUnknown()
	return p
}
