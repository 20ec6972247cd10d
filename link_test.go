package feedmill

import (
	"testing"
	"time"
)

func TestLinkColumns(t *testing.T) {
	columns := []Column{{ID: "c1", Name: "now"}, {ID: "c2", Name: "b", Hidden: true}}
	for _, test := range []struct {
		column        LinkColumn
		name          string
		hidden, there bool
	}{
		{LinkColumn{"c1", "then"}, "now", false, true},
		{LinkColumn{"c2", "b"}, "b", true, true},
		{LinkColumn{"c3", "gone"}, "gone", false, false},
	} {
		if name, hidden, there := test.column.In(columns); name != test.name || hidden != test.hidden || there != test.there {
			t.Errorf("%+v is %q, hidden %v, there %v", test.column, name, hidden, there)
		}
	}
}

func TestLinkExpires(t *testing.T) {
	end := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	l := Link{ExpiresAt: end}
	if l.Expired(end.Add(-1)) || !l.Expired(end) || (&Link{}).Expired(end) {
		t.Error("a link does not end at its time")
	}
}
