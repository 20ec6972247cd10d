package database

import (
	"errors"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

func TestInventoriesAreBounded(t *testing.T) {
	var n Inventory
	mebibyte := strings.Repeat("x", 1<<20)
	for range 15 {
		if err := n.Add(mebibyte, ""); err != nil {
			t.Fatal(err)
		}
	}
	failure, ok := errors.AsType[*feedmill.SourceFailure](n.Add("", mebibyte))
	if !ok || failure.Type != ProblemStatement || !strings.Contains(failure.Detail, "more than 16 MiB") {
		t.Errorf("%+v", failure)
	}
}
