package manifest

import (
	"slices"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// inToken is a parameter that stands where the request has {{filter.NAME}}.
const inToken = "token"

// passes reads which parameters of the API make the answer smaller.
func (r *reading) passes(o *strictjson.Object, f *Field) {
	given, ok := o.Given("filters")
	if !ok {
		return
	}
	all, ok := given.Object()
	if !ok {
		return
	}
	for _, kind := range []PassKind{PassEqual, PassFrom, PassTo} {
		given, ok := all.Given(string(kind))
		if !ok {
			continue
		}
		if kind != PassEqual && (f.Type == columnar.TypeText || f.Type == columnar.TypeBoolean || f.Type == columnar.TypeJSON) {
			given.Fault("from and to apply only to numbers, dates and timestamps.")
		}
		if o, ok := given.Object(); ok {
			f.Pass = append(f.Pass, r.pass(kind, o))
			o.RefuseUnknown()
		}
	}
	all.RefuseUnknown()
}

func (r *reading) pass(kind PassKind, o *strictjson.Object) Pass {
	p := Pass{Kind: kind, In: "query", Format: "rfc3339"}
	if f, ok := o.Need("param"); ok {
		p.Param = f.Name(maxName)
	}
	if f, ok := o.Given("in"); ok {
		p.In, _ = f.Choice("query", "headers", "body", inToken)
		if p.In == inToken && kind == PassEqual {
			f.Fault("in can be token only for from and to.")
		}
	}
	if f, ok := o.Given("default"); ok {
		if p.Default, _ = f.Text(); p.In != inToken {
			f.Fault("default applies only with in: token; without a filter, other parameters are left out.")
		}
	} else if p.In == inToken {
		o.Fault("default", "default is required with in: token; it replaces the token of a query without the filter.")
	}
	if f, ok := o.Given("format"); ok {
		p.Format, _ = f.Choice("rfc3339", "date", "unix", "unixMs")
	}
	if f, ok := o.Given("separator"); ok {
		p.Separator, _ = f.Text()
	}
	f, ok := o.Given("values")
	if !ok {
		return p
	}
	switch f.Kind {
	case '[':
		for _, value := range f.Elements() {
			text, _ := value.Text()
			p.Values, p.As = append(p.Values, text), append(p.As, text)
		}
	case '{': // what each is called there
		for _, m := range f.Members {
			p.Values = append(p.Values, m.Name)
			p.As = append(p.As, m.Value.Text())
			if m.Value.Kind != '"' {
				f.Fault("The API's value for " + m.Name + " must be a string.")
			}
		}
	default:
		f.Fault("values must be a list of values, or an object that maps each value to the API's value.")
	}
	if kind != PassEqual {
		f.Fault("values applies only to eq.")
	}
	return p
}

// as is what a value is called in the API. Not every one is known there.
func (p *Pass) as(value string) (string, bool) {
	if p.Values == nil {
		return value, true
	}
	i := slices.Index(p.Values, value)
	if i < 0 {
		return "", false
	}
	return p.As[i], true
}
