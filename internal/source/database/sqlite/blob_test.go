package sqlite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill/internal/source/database/databasetest"
)

func TestEmptyBlobs(t *testing.T) {
	writer, db := create(t, "UTF-8")
	exec(t, writer, "CREATE TABLE blobs (id INTEGER PRIMARY KEY, v BLOB)")
	exec(t, writer, "INSERT INTO blobs VALUES (1, x''), (2, x'00'), (3, NULL), (4, x'41')")
	table := databasetest.Describe(t, db, "blobs")
	for filter, want := range map[string][][]string{
		`"op":"isEmpty"`: {{"1"}, {"3"}}, `"op":"isEmpty","inverted":true`: {{"2"}, {"4"}}, `"op":"eq","values":[""]`: {{"1"}},
	} {
		got, _, err := databasetest.Read(t.Context(), table, databasetest.Parse(t, `{"fields":[{"field":"id"},{"field":"v","select":false,"filters":[{`+filter+`}]}],"sort":[{"field":"id"}]}`))
		if err != nil || !cmp.Equal(want, got.Rows) {
			t.Errorf("%s: %v, want %v: %v", filter, got, want, err)
		}
	}
}
