package fault

import (
	"errors"
	"fmt"
	"testing"
)

func TestErrorsWithoutTheirKind(t *testing.T) {
	kind := errors.New("not usable")
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("the URL is not absolute"), "the URL is not absolute"},
		{fmt.Errorf("port 0 is not between 1 and 65535: %w", kind), "port 0 is not between 1 and 65535"},
		{fmt.Errorf("host h: %w", fmt.Errorf("it has no name: %w", kind)), "host h: it has no name"},
		{fmt.Errorf("10.0.0.1 is %w; ask the operator", kind), "10.0.0.1 is not usable; ask the operator"},
		{fmt.Errorf("host h: %w", fmt.Errorf("10.0.0.1 is %w", kind)), "host h: 10.0.0.1 is not usable"},
	} {
		if got := WithoutKind(c.err); got != c.want {
			t.Errorf("%v became %q, want %q", c.err, got, c.want)
		}
	}
}
