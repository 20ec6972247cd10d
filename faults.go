package feedmill

// MaxFaults is how many faults of a request are listed. Past it a client has
// sent something else than it thinks, and the rest says nothing new.
const MaxFaults = 1000

// Faults collects the places where a request is wrong, so that its refusal
// lists all of them.
type Faults struct {
	List []Fault
	// Max is how many are kept, [MaxFaults] where it is 0.
	Max int
	// problem is the type of the first typed faults; typed is how many of the
	// list are of it.
	problem string
	typed   int
}

// Add notes a place where the request is wrong.
func (f *Faults) Add(at Fault) {
	if !f.full() {
		f.List = append(f.List, at)
	}
}

// AddOf notes a place where the request is wrong in the way that err tells. A
// refusal whose faults are all of one type is of that type.
func (f *Faults) AddOf(err *Error, at Fault) {
	if f.typed == 0 {
		f.problem = err.Type
	}
	if f.problem == err.Type && !f.full() {
		f.typed++
	}
	f.Add(at)
}

// Note notes a place of the body that is wrong. It reports whether there is
// room for more.
func (f *Faults) Note(pointer, detail string) bool {
	f.Add(Fault{Pointer: pointer, Detail: detail})
	return !f.full()
}

func (f *Faults) full() bool {
	most := f.Max
	if most == 0 {
		most = MaxFaults
	}
	return len(f.List) >= most
}

// Refusal is nil, or the error that lists every fault noted so far.
func (f *Faults) Refusal() error {
	if len(f.List) == 0 {
		return nil
	}
	refusal := Invalid("", f.List...)
	if f.typed == len(f.List) {
		refusal.Type = f.problem
	}
	return refusal
}
