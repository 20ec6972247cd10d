package feedmill

import (
	"errors"
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
