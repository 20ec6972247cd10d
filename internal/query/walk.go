package query

// Walk calls visit for each of some predicates and all of their parts.
func Walk(all []Predicate, visit func(Predicate)) {
	for _, p := range all {
		visit(p)
		switch p := p.(type) {
		case All:
			Walk(p, visit)
		case Any:
			Walk(p, visit)
		case Not:
			Walk([]Predicate{p.Predicate}, visit)
		}
	}
}
