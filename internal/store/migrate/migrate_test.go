package migrate

import (
	"errors"
	"os"
	"testing"
	"testing/fstest"
)

func TestLoad(t *testing.T) {
	good := fstest.MapFS{
		"migrations/0002_b.sql": {Data: []byte("two")},
		"migrations/0001_a.sql": {Data: []byte("one")},
	}
	all, err := Load(good)
	if err != nil || len(all) != 2 || all[0].SQL != "one" || all[1].Number != 2 || all[1].Name != "b" {
		t.Errorf("Load = %+v, %v", all, err)
	}
	all, err = Load(fstest.MapFS{"migrations/0001_a.sql": {Data: []byte("-- below 7\nUPDATE")}})
	if err != nil || all[0].Below != 7 {
		t.Errorf("Load = %+v, %v; want a migration below 7", all, err)
	}
	if _, err := Load(fstest.MapFS{"migrations/0001_a.sql": {Data: []byte("-- below x\nUPDATE")}}); err == nil {
		t.Error("below x was taken")
	}
	for _, name := range []string{"0003_gap.sql", "0001.sql", "x_y.sql"} {
		if _, err := Load(fstest.MapFS{"migrations/" + name: {}}); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestPending(t *testing.T) {
	all := []Migration{{Number: 1}, {Number: 2}}
	for version, want := range []int{2, 1, 0} {
		if got, err := Pending(all, Schema{Version: version}); err != nil || len(got) != want {
			t.Errorf("at version %d: %d pending, %v; want %d", version, len(got), err, want)
		}
	}
	all[1].SQL, all[1].Below = "change", 1
	for version, want := range []string{"change", "SELECT 1"} {
		if got, err := Pending(all, Schema{Version: version}); err != nil || got[len(got)-1].SQL != want {
			t.Errorf("below 1, at version %d: %+v, %v; want %s", version, got, err, want)
		}
	}
	// A database of the next release supports programs from this one.
	for oldest, want := range []error{nil, nil, nil, ErrNewer} {
		if got, err := Pending(all, Schema{Version: 9, Oldest: oldest}); !errors.Is(err, want) || len(got) != 0 {
			t.Errorf("of version 9, for programs from %d: %+v, %v; want %v", oldest, got, err, want)
		}
	}
}

func TestPreviousReleaseIsNotAhead(t *testing.T) {
	all, err := Load(os.DirFS("../sqlite"))
	if err != nil || PreviousRelease > len(all) {
		t.Errorf("the previous release has schema %d, this one %d, %v", PreviousRelease, len(all), err)
	}
}

// The engines change together: the same numbers stand for the same changes.
func TestEnginesHaveTheSameMigrations(t *testing.T) {
	names := make(map[string][]Migration)
	for _, engine := range []string{"sqlite", "postgres"} {
		all, err := Load(os.DirFS("../" + engine))
		if err != nil {
			t.Fatal(err)
		}
		names[engine] = all
	}
	a, b := names["sqlite"], names["postgres"]
	if len(a) == 0 || len(a) != len(b) {
		t.Fatalf("sqlite has %d migrations, postgres %d", len(a), len(b))
	}
	for i := range a {
		if a[i].Name != b[i].Name {
			t.Errorf("migration %d is %s in sqlite and %s in postgres", i+1, a[i].Name, b[i].Name)
		}
	}
}
