package feedmill

import (
	"errors"
	"slices"
	"testing"
)

func TestSourceFailure(t *testing.T) {
	cause := errors.New("refused")
	var err error = &SourceFailure{Type: "unreachable", Detail: "The source cannot be reached.", Cause: cause}
	if err.Error() != "The source cannot be reached." || !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}

func TestValuesOfAHeader(t *testing.T) {
	a := HTTPAnswer{Header: [][2]string{{"Via", "a"}, {"Retry-After", "5"}, {"Via", "b"}}}
	for name, want := range map[string][]string{"Via": {"a", "b"}, "Retry-After": {"5"}, "Server": nil} {
		if got := a.Values(name); !slices.Equal(got, want) {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
