package record

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// text is the text of a value, which holds no byte that a database refuses.
func text(t *testing.T, v driver.Valuer) string {
	t.Helper()
	got, err := v.Value()
	if err != nil {
		t.Fatal(err)
	}
	return got.(string)
}

// scans holds that what is scanned from a text, in each form that a driver
// has for it, is what the text was made of.
func scans[T any](t *testing.T, text string, want T, into func(*T) sql.Scanner) {
	t.Helper()
	for _, form := range []any{text, []byte(text)} {
		var got T
		if err := into(&got).Scan(form); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestText(t *testing.T) {
	list := []string{"a b", "\x00\"ü"}
	if got := text(t, JSON(&list)); got != `["a b","\u0000\"ü"]` {
		t.Error(got)
	}
	scans(t, text(t, JSON(&list)), list, func(v *[]string) sql.Scanner { return JSON(v) })
	var none *feedmill.FeedError
	scans(t, text(t, JSON(&none)), none, func(v **feedmill.FeedError) sql.Scanner { return JSON(v) })
}

func TestScanReplaces(t *testing.T) {
	got := map[string]int{"old": 1}
	if err := JSON(&got).Scan(`{"new":2}`); err != nil || len(got) != 1 || got["new"] != 2 {
		t.Error(got, err)
	}
	if err := JSON(&got).Scan(nil); err != nil || got != nil {
		t.Errorf("NULL is %v, %v", got, err)
	}
	if err := JSON(&got).Scan(1); err == nil {
		t.Error("a number is a text")
	}
}

func TestColumns(t *testing.T) {
	list := []feedmill.Column{
		{ID: "c1", Name: "a", SourceName: "A\x00", Type: columnar.TypeDecimal, Format: "EUR", Nullable: true, Precision: 38, Scale: 2},
		{ID: "c2", Name: "b", Type: columnar.TypeText},
	}
	scans(t, text(t, columns{&list}), list, func(v *[]feedmill.Column) sql.Scanner { return columns{v} })
	if err := (columns{&list}).Scan(`{`); err == nil {
		t.Error("what is no JSON is read")
	}
}

func TestSchedule(t *testing.T) {
	for want, s := range map[string]feedmill.Schedule{
		`{}`:                      {},
		`{"every":5400000000000}`: {Every: 90 * time.Minute},
		`{"cron":"0 6 * * 1-5","timezone":"Europe/Paris"}`: {Cron: "0 6 * * 1-5", Timezone: "Europe/Paris"},
	} {
		if got := text(t, schedule{&s}); got != want {
			t.Errorf("%+v is %s, want %s", s, got, want)
		}
		scans(t, want, s, func(v *feedmill.Schedule) sql.Scanner { return schedule{v} })
	}
	if err := (schedule{new(feedmill.Schedule)}).Scan("{"); err == nil {
		t.Error("what is no JSON is read")
	}
}

func TestPacked(t *testing.T) {
	var list []string
	for i := range 10_000 {
		list = append(list, fmt.Sprintf("a line, much like line %d", i))
	}
	v, err := PackedJSON(&list).Value()
	if err != nil {
		t.Fatal(err)
	}
	packed := v.([]byte)
	if len(packed) > 40_000 {
		t.Errorf("it takes %d bytes", len(packed))
	}
	var got []string
	if err := PackedJSON(&got).Scan(packed); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(list, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, broken := range []any{nil, "[]", []byte("[]"), packed[:len(packed)/2]} {
		if err := PackedJSON(&got).Scan(broken); err == nil {
			t.Errorf("%.10v is read", broken)
		}
	}
}
