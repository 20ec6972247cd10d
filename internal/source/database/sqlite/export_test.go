package sqlite

// Watch tells of everything that SQLite is asked to do, until stop is called.
func Watch(seen func(op int, first, second string, answer int)) (stop func()) {
	before := authorize
	authorize = func(op int, first, second string) int {
		answer := before(op, first, second)
		seen(op, first, second, answer)
		return answer
	}
	return func() { authorize = before }
}

// MayOnlyRead is what SQLite is let do.
var MayOnlyRead = mayOnlyRead
