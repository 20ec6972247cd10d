package sqlite

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/feedmill/feedmill"
)

// TestRestoreAfterAnInterruptedOne holds that nothing that an interrupted restore has left changes
// what the next one writes, which is another store with all records.
func TestRestoreAfterAnInterruptedOne(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	db, err := Open(t.Context(), filepath.Join(folder, "feedmill.db"), feedmill.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.StoreID(t.Context(), "original"); err != nil {
		t.Fatal(err)
	}
	var records bytes.Buffer
	if s, err := db.Snapshot(t.Context(), folder, false, &records); err != nil || s.Engine != feedmill.EngineSQLite {
		t.Fatalf("%+v, %v", s, err)
	}
	file := filepath.Join(folder, "restored.db")
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		if err := os.WriteFile(file+suffix, []byte("left behind"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"first", "second"} {
		if err := Restore(t.Context(), file, bytes.NewReader(records.Bytes()), id, "bkp_1"); err != nil {
			t.Fatal(err)
		}
		if left, err := filepath.Glob(file + "-*"); len(left) != 0 || err != nil {
			t.Errorf("%q are left, %v", left, err)
		}
		restored, err := Attach(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := restored.StoreID(t.Context(), "other")
		backup, failed := restored.PausedFrom(t.Context())
		if got != id || backup != "bkp_1" || errors.Join(err, failed, restored.Close()) != nil {
			t.Errorf("store %s of backup %s, %v, %v", got, backup, err, failed)
		}
	}
}
