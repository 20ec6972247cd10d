package subscribe

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// field reads a text as a field of a document that notes its faults.
func field(t *testing.T, text string) (strictjson.Field, *feedmill.Faults) {
	t.Helper()
	faults := new(feedmill.Faults)
	v, ok := strictjson.Read([]byte(`{"x":`+text+`}`), strictjson.Part{}, faults.Note)
	if !ok {
		t.Fatalf("%s is no JSON", text)
	}
	f, _ := strictjson.NewObject(&v, "", faults.Note).Get("x")
	return f, faults
}

func TestRetriesAreBounded(t *testing.T) {
	for n, wrong := range map[int]bool{0: true, 1: false, feedmill.MaxRetries: false, feedmill.MaxRetries + 1: true} {
		f, faults := field(t, "["+strings.TrimSuffix(strings.Repeat(`"5m",`, n), ",")+"]")
		if waits := readRetries(f); (len(faults.List) > 0) != wrong || len(waits) != min(n, feedmill.MaxRetries) {
			t.Errorf("%d waits: %d are read, %+v", n, len(waits), faults.List)
		}
	}
}
