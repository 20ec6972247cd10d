package jsonpath

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// boundedWork is what there is for data of any size, or less where that proves as
// much: to use up all of it takes long.
func boundedWork(t *testing.T) *Work {
	w := NewWork(t.Context(), 0)
	if !decodetest.Long() {
		w.left.Store(baseSteps / 32)
	}
	return w
}

// A path that looks at a long text again and again is charged for the text.
func TestWorkIsChargedByBytes(t *testing.T) {
	long := strings.Repeat("x", 1<<18)
	document := `{"big":"` + long + `","same":"` + long + `","digits":` + strings.Repeat("7", 1<<18) + `,"items":[` + strings.Repeat("1,", 20_000) + `1]}`
	tree := readTree(t, document)
	for _, path := range []string{
		`$.items[?length($.big)>1]`,
		`$.items[?$.big==$.same]`,
		`$.items[?$.big<$.same]`,
		`$.items[?$.digits>=$.digits]`,
		`$.items[?search($.big,'y')]`,
		`$.items[?match($.big,'(x|y)*z')]`,
		`$.items[?search('x',$.big)]`,
	} {
		t.Run(path, func(t *testing.T) {
			parsed, err := Parse(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parsed.Select(boundedWork(t), tree); !errors.Is(err, ErrTooMuchWork) {
				t.Errorf("error %v, want %v", err, ErrTooMuchWork)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := parsed.Select(NewWork(ctx, 1<<40), tree); !errors.Is(err, context.Canceled) {
				t.Errorf("after the end of the context: %v", err)
			}
		})
	}
}

// What an ordinary filter takes of the work is far less than the data allows for.
func TestOrdinaryWorkIsAllowed(t *testing.T) {
	record := `{"id":1,"name":"Anna Example","mail":"anna@example.com","tags":["a","b"],"total":12.50,"paid":true}`
	document := "[" + strings.Repeat(record+",", 5000) + record + "]"
	tree := readTree(t, document)
	for _, path := range []string{
		`$[?@.id==1 && @.paid==true && @.total>=10 && match(@.mail,'[a-z]+@example.com')]`,
		`$..name`,
		`$[?search(@.name,'Ex') || length(@.name)>3 || count(@.tags[*])>1]`,
	} {
		parsed, err := Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		w := NewWork(t.Context(), int64(len(document)))
		if nodes, err := parsed.Select(w, tree); len(nodes) != 5001 || err != nil {
			t.Errorf("%s: %d nodes, %v", path, len(nodes), err)
		}
		if used := baseSteps + byteSteps*int64(len(document)) - w.left.Load(); used > 8*int64(len(document)) {
			t.Errorf("%s takes %d steps of %d bytes", path, used, len(document))
		}
	}
}

// A text that is matched as a stream gives what it gives at once.
func TestLongTextsMatchAlike(t *testing.T) {
	long := strings.Repeat("ä", patientBytes)
	for pattern, want := range map[string]bool{`ä*`: true, `ä*b`: false, `.*ä`: true} {
		tree := readTree(t, `["`+long+`"]`)
		parsed, err := Parse(`$[?match(@,'` + pattern + `')]`)
		if err != nil {
			t.Fatal(err)
		}
		nodes, err := parsed.Select(NewWork(t.Context(), int64(len(long))), tree)
		if err != nil || (len(nodes) == 1) != want {
			t.Errorf("%s: %d nodes, %v", pattern, len(nodes), err)
		}
	}
}
