package query

import (
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// readWhere reads the condition tree of a query.
func readWhere(v strictjson.Field) *feedmill.WhereNode {
	w := &whereReader{}
	n, ok := w.node(v, 1)
	if w.filters > feedmill.MaxWhereFilters {
		v.Fault(fmt.Sprintf("where can have at most %d filters; it has %d.", feedmill.MaxWhereFilters, w.filters))
	}
	if !ok {
		return nil
	}
	return &n
}

// whereReader counts the filters of a tree.
type whereReader struct{ filters int }

// node reads a part of the tree on a level. It reports false for one that could not be read.
func (w *whereReader) node(v strictjson.Field, level int) (n feedmill.WhereNode, ok bool) {
	o, ok := v.Object()
	if !ok {
		return n, false
	}
	n.Place = feedmill.Fault{Pointer: o.Pointer}
	all, any := o.Has("all"), o.Has("any")
	switch {
	case !all && !any:
		w.filters++
		if f, ok := o.Need("field"); ok {
			n.Name, _ = f.Text()
		}
		n.From = readFrom(o)
		n.Filter = readFilter(o)
		return n, true
	case all && any:
		o.Fault("any", "any cannot be combined with all in one object. Nest one in the other.")
		return n, false
	case level >= feedmill.MaxWhereDepth:
		v.Fault(fmt.Sprintf("where can have at most %d levels.", feedmill.MaxWhereDepth))
		return n, false
	case all:
		n.All, ok = w.list(o, "all", level)
	default:
		n.Any, ok = w.list(o, "any", level)
	}
	o.RefuseUnknown()
	return n, ok
}

func (w *whereReader) list(o *strictjson.Object, name string, level int) (list []feedmill.WhereNode, ok bool) {
	v, _ := o.Get(name)
	if v.Kind != '[' || len(v.Items) == 0 || len(v.Items) > feedmill.MaxWhereFilters {
		o.Fault(name, fmt.Sprintf("%s must be an array of 1 to %d conditions.", name, feedmill.MaxWhereFilters))
		return nil, false
	}
	ok = true
	for _, item := range v.Elements() {
		n, right := w.node(item, level+1)
		list, ok = append(list, n), ok && right
	}
	return list, ok
}

// readHaving reads the filters on aggregates of a field.
func readHaving(o *strictjson.Object) (all []feedmill.Having) {
	for _, filter := range readObjects(o, "having", feedmill.MaxHaving) {
		h := feedmill.Having{Place: feedmill.Fault{Pointer: filter.Pointer}}
		if v, ok := filter.Get("fn"); ok {
			h.Fn = readAggregateName(v)
		}
		h.Filter = readFilter(filter)
		all = append(all, h)
	}
	return all
}
