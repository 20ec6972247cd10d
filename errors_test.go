package feedmill

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
)

func TestErrorSaysItsDetailOrItsKind(t *testing.T) {
	for want, err := range map[string]*Error{
		"not found":            {Kind: ErrNotFound},
		"The feed is not here": {Kind: ErrNotFound, Type: "no-feed", Detail: "The feed is not here"},
	} {
		if err.Error() != want || !errors.Is(err, ErrNotFound) || errors.Is(err, ErrConflict) {
			t.Errorf("%q, want %q", err.Error(), want)
		}
	}
}

func TestInvalid(t *testing.T) {
	faults := []Fault{{Pointer: "/a", Detail: "x"}, {Header: "b"}}
	if got, want := Invalid("Mend it.", faults...), (&Error{Kind: ErrInvalid, Detail: "Mend it.", Faults: faults}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestFaultsMakeOneRefusal(t *testing.T) {
	var f Faults
	if err := f.Refusal(); err != nil {
		t.Errorf("nothing is wrong, and refused: %v", err)
	}
	f.Add(Fault{Parameter: "limit", Detail: "a"})
	if !f.Note("/x", "b") {
		t.Error("there is no room for a third")
	}
	var refusal *Error
	if err := f.Refusal(); !errors.As(err, &refusal) {
		t.Fatalf("%v", err)
	}
	wantEqual(t, "the refusal", fmt.Sprintf("%+v", *refusal),
		fmt.Sprintf("%+v", Error{Kind: ErrInvalid, Faults: []Fault{{Parameter: "limit", Detail: "a"}, {Pointer: "/x", Detail: "b"}}}))
}

// A refusal whose faults are all of one type is of that type.
func TestFaultsOfOneType(t *testing.T) {
	unknown, reserved := &Error{Type: "unknown-event"}, &Error{Type: "reserved-event"}
	for _, c := range []struct {
		name string
		errs []*Error // nil is a fault of no type
		want string
	}{
		{"one", []*Error{unknown}, "unknown-event"},
		{"two of one", []*Error{unknown, unknown}, "unknown-event"},
		{"two types", []*Error{unknown, reserved}, ""},
		{"two types and the first again", []*Error{unknown, reserved, unknown}, ""},
		{"one and none", []*Error{unknown, nil}, ""},
		{"none and one", []*Error{nil, unknown}, ""},
		{"as many as are kept", []*Error{unknown, unknown, unknown}, "unknown-event"},
		{"more than are kept", []*Error{unknown, unknown, unknown, unknown, reserved}, "unknown-event"},
		{"none, and more than are kept", []*Error{nil, unknown, unknown, unknown, unknown}, ""},
	} {
		f := Faults{Max: 3}
		for _, err := range c.errs {
			if err != nil {
				f.AddOf(err, Fault{Pointer: "/x"})
			} else {
				f.Add(Fault{Pointer: "/x"})
			}
		}
		var refusal *Error
		if !errors.As(f.Refusal(), &refusal) || refusal.Type != c.want || len(refusal.Faults) != min(len(c.errs), 3) {
			t.Errorf("%s: %+v, want the type %q", c.name, refusal, c.want)
		}
	}
}

func TestFaultsAreBounded(t *testing.T) {
	for bound, want := range map[int]int{0: MaxFaults, 2: 2} {
		f := Faults{Max: bound}
		n := 1
		for f.Note("/x", "wrong") {
			n++
		}
		f.Add(Fault{})
		if n != want || len(f.List) != want {
			t.Errorf("with a bound of %d there is room for %d, and %d are listed", bound, n, len(f.List))
		}
	}
}
