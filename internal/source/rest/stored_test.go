package rest

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

func TestUnreadableStoredDefinitionIsRefused(t *testing.T) {
	spool, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer spool.Close()
	_, err = NewSource(Options{}).Fetch(t.Context(), feedmill.Fetch{Spec: []byte(`{"request":{"url":"https://api.test/"},"errors":[{"bodyPath":"$[","action":"fail"}]}`), Spool: spool}, nil)
	if f, ok := errors.AsType[*feedmill.SourceFailure](err); !ok || f.Type != "definition" || !strings.Contains(err.Error(), "/errors/0/bodyPath") {
		t.Error(err)
	}
}
