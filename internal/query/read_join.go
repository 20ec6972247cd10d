package query

import (
	"fmt"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// readJoins reads the joined views of a query.
func readJoins(o *strictjson.Object) (joins []feedmill.Join) {
	for _, inner := range readObjects(o, "joins", feedmill.MaxJoins) {
		j := feedmill.Join{Kind: feedmill.JoinInner, Place: feedmill.Fault{Pointer: inner.Pointer}}
		if v, ok := inner.Need("view"); ok {
			j.View, _ = v.Text()
		}
		if v, ok := inner.Need("as"); ok {
			j.As, ok = v.Text()
			switch {
			case ok && !feedmill.IsAlias(j.As):
				v.Fault(fmt.Sprintf("as must start with a letter or an underscore, contain only ASCII letters, digits and underscores, and have at most %d characters.", feedmill.MaxAliasLen))
			case isTaken(joins, j.As):
				v.Fault(fmt.Sprintf("as must be unique among the joins; %q is used before.", j.As))
			}
		}
		if v, ok := inner.Get("kind"); ok {
			kind, _ := v.Choice(texts(feedmill.JoinKinds)...)
			j.Kind = feedmill.JoinKind(kind)
		}
		if v, ok := inner.Need("on"); ok && v.Kind == '[' && len(v.Items) == 0 {
			v.Fault("on must have at least one pair of fields, such as {\"left\":\"customer_id\",\"right\":\"id\"}.")
		}
		for _, pair := range readObjects(inner, "on", feedmill.MaxJoinPairs) {
			p := feedmill.JoinPair{Place: feedmill.Fault{Pointer: pair.Pointer}}
			if v, ok := pair.Need("left"); ok {
				p.Left, _ = v.Text()
			}
			if v, ok := pair.Need("right"); ok {
				p.Right, _ = v.Text()
			}
			pair.RefuseUnknown()
			j.On = append(j.On, p)
		}
		inner.RefuseUnknown()
		joins = append(joins, j)
	}
	return joins
}

// isTaken reports whether a join has an alias. Databases may not distinguish its case.
func isTaken(joins []feedmill.Join, as string) bool {
	for _, j := range joins {
		if strings.EqualFold(j.As, as) {
			return true
		}
	}
	return false
}

// readFrom reads the alias of a joined view.
func readFrom(o *strictjson.Object) string {
	v, ok := o.Given("from")
	if !ok {
		return ""
	}
	from, ok := v.Text()
	if ok && from == "" {
		v.Fault("from must be the alias of a join. Remove it to name a field of the first view.")
	}
	return from
}
