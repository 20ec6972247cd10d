package feedmill

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/columnar"
)

func testColumns() []Column {
	return []Column{
		{ID: "c1", Name: "a", SourceName: "A", Type: columnar.TypeText},
		{ID: "c2", Name: "b", SourceName: "B", Type: columnar.TypeInteger},
		{ID: "c3", Name: "c", SourceName: "C", Type: columnar.TypeDate},
	}
}

func TestChangeColumns(t *testing.T) {
	changed, err := ChangeColumns(testColumns(), []ColumnChange{
		{ID: "c1", Name: new("b"), Type: new(columnar.TypeInteger), OnMisfit: new(MisfitsReject)},
		{SourceName: "B", Name: new("a"), Type: new(columnar.TypeInteger), Hidden: new(true)},
		{ID: "c3", Position: new(1), Description: new("d")},
	})
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "retyped", changed[0], Column{ID: "c1", Name: "b", SourceName: "A", Type: columnar.TypeText, Retype: columnar.TypeInteger, OnMisfit: MisfitsReject, Position: 2})
	wantEqual(t, "fixed", changed[1], Column{ID: "c2", Name: "a", SourceName: "B", Type: columnar.TypeInteger, Fixed: true, Hidden: true, Position: 3})
	var shown []string
	for _, c := range ShownColumns(changed) {
		shown = append(shown, c.ID)
	}
	wantEqual(t, "order", shown, []string{"c3", "c1", "c2"})
}

func TestChangeColumnsListsEveryFault(t *testing.T) {
	_, err := ChangeColumns(testColumns(), []ColumnChange{
		{ID: "c9", Place: Fault{Pointer: "/0"}},
		{ID: "c1", Name: new("B"), Place: Fault{Pointer: "/1"}},
		{ID: "c3", Name: new(" "), Place: Fault{Pointer: "/2"}},
		{SourceName: "C", Place: Fault{Parameter: "columns"}},
		{SourceName: "A", Place: Fault{Pointer: "/3"}},
	})
	refusal, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatal(err)
	}
	var at []string
	for _, f := range refusal.Faults {
		at = append(at, f.Pointer+f.Parameter)
	}
	wantEqual(t, "places", fmt.Sprint(at), "[/0/id columns /3/sourceName /1/name /2/name]")
}

// What is said of columns while a version is made stays, and a type that it does not have
// waits for the next.
func TestSwitchKeepsWhatWasSaid(t *testing.T) {
	f := Feed{Columns: testColumns(), Key: []string{"a"}, State: FeedReady}
	made := testColumns()
	made[2].Type = columnar.TypeText
	if err := f.Relabel([]ColumnChange{{ID: "c1", Name: new("renamed"), Type: new(columnar.TypeNumber)}, {ID: "c2", Hidden: new(true)}}); err != nil {
		t.Fatal(err)
	}
	f.Switch(FeedVersion{Number: 1, Columns: made}, Refresh{State: RefreshSucceeded})
	wantEqual(t, "renamed", f.Columns[0], Column{ID: "c1", Name: "renamed", SourceName: "A", Type: columnar.TypeText, Retype: columnar.TypeNumber})
	wantEqual(t, "hidden", f.Columns[1].Hidden, true)
	wantEqual(t, "the version's type", f.Columns[2].Type, columnar.TypeText)
	wantEqual(t, "key", f.Key, []string{"renamed"})
}

func TestNamesOfColumns(t *testing.T) {
	for name, right := range map[string]bool{
		"a": true, "ü b": true, strings.Repeat("x", MaxColumnName): true, strings.Repeat("x", MaxColumnName+1): false,
		"": false, "  ": false, " a": false, "a ": false, "a\x7fb": false, "a\nb": false, "a\xffb": false,
	} {
		if wrong := wrongColumnName(name); (wrong == "") != right {
			t.Errorf("%.20q: %q", name, wrong)
		}
	}
}

// A column is known by its id and by what the data calls it; how it is written stays
// with its type.
func TestLabel(t *testing.T) {
	described := []Column{
		{ID: "c1", SourceName: "a", Name: "A", Type: columnar.TypeDecimal, Format: "EUR"},
		{ID: "c2", SourceName: "b", Name: "B", Type: columnar.TypeDecimal, Format: "EUR"},
		{ID: "c3", SourceName: "c", Name: "C"},
	}
	got := Label([]Column{
		{ID: "c1", SourceName: "a", Name: "a", Type: columnar.TypeDecimal},
		{ID: "c2", SourceName: "b", Name: "b", Type: columnar.TypeText, Format: "plain"},
		{ID: "c3", SourceName: "other", Name: "other"},
		{ID: "c4", SourceName: "c", Name: "c"},
	}, described)
	want := []Column{
		{ID: "c1", SourceName: "a", Name: "A", Type: columnar.TypeDecimal, Format: "EUR"},
		{ID: "c2", SourceName: "b", Name: "B", Type: columnar.TypeText, Format: "plain"},
		{ID: "c3", SourceName: "other", Name: "other"},
		{ID: "c4", SourceName: "c", Name: "c"},
	}
	wantEqual(t, "columns", got, want)

	if _, fault := (&ColumnChange{ID: "nothing like these"}).find(described); strings.Contains(fault.Detail, "mean") {
		t.Error(fault.Detail)
	}
	f := Feed{Columns: []Column{{ID: "c1", SourceName: "a", Retype: columnar.TypeText}}}
	for _, c := range f.label([]Column{{ID: "c1", SourceName: "z"}, {ID: "c2", SourceName: "a"}}) {
		if c.Retype != "" {
			t.Errorf("%+v is to be another type", c)
		}
	}
}
