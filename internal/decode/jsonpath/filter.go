package jsonpath

// expression is a filter or a part of one: true or false for a value.
type expression interface {
	test(e *evaluation, at Node) (bool, error)
}

// operand is one side of a comparison or an argument of a function.
type operand interface {
	value(e *evaluation, at Node) (value, error)
}

type (
	anyOf []expression
	allOf []expression
	not   struct{ of expression }
)

func (x anyOf) test(e *evaluation, at Node) (bool, error) {
	for _, part := range x {
		if yes, err := part.test(e, at); yes || err != nil {
			return yes, err
		}
	}
	return false, nil
}

func (x allOf) test(e *evaluation, at Node) (bool, error) {
	for _, part := range x {
		if yes, err := part.test(e, at); !yes || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (x not) test(e *evaluation, at Node) (bool, error) {
	yes, err := x.of.test(e, at)
	return !yes && err == nil, err
}

// query is a path inside a filter, from the root or from the current value.
type query struct {
	absolute bool
	segments []segment
}

func (q *query) nodes(e *evaluation, at Node) ([]Node, error) {
	if q.absolute {
		at = 0
	}
	return e.query(q.segments, at)
}

// test holds where the query selects anything.
func (q *query) test(e *evaluation, at Node) (bool, error) {
	nodes, err := q.nodes(e, at)
	return len(nodes) > 0, err
}

// value is the one value that a singular query selects, or nothing.
func (q *query) value(e *evaluation, at Node) (value, error) {
	nodes, err := q.nodes(e, at)
	if err != nil || len(nodes) != 1 {
		return value{}, err
	}
	return e.tree.value(nodes[0]), nil
}

// singular reports whether the query can select one value at most.
func (q *query) singular() bool {
	for _, segment := range q.segments {
		if segment.deep || len(segment.selectors) != 1 {
			return false
		}
		if kind := segment.selectors[0].kind; kind != selectName && kind != selectIndex {
			return false
		}
	}
	return true
}

type comparison struct {
	operator    string
	left, right operand
}

func (x comparison) test(e *evaluation, at Node) (bool, error) {
	left, err := x.left.value(e, at)
	if err != nil {
		return false, err
	}
	right, err := x.right.value(e, at)
	if err != nil {
		return false, err
	}
	switch x.operator {
	case "==":
		return e.equal(left, right)
	case "!=":
		same, err := e.equal(left, right)
		return !same, err
	case "<":
		return e.less(left, right)
	case ">":
		return e.less(right, left)
	case ">=":
		left, right = right, left
	}
	if same, err := e.equal(left, right); same || err != nil {
		return same, err
	}
	return e.less(left, right)
}
