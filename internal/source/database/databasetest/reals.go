package databasetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/source/database"
)

// RealTable are the statements that create the table of [Reals], whose column r is of 4-byte
// floats of the type real. In exact are random ones.
func RealTable(real string) []string {
	statements := []string{
		"CREATE TABLE reals (id integer, r " + real + ")",
		"INSERT INTO reals VALUES (1, 0.1), (2, 0.2), (3, 0.3), (4, 16777216), (5, 1.2345679e10), (6, -3.4028235e38), (7, NULL), (8, 7), (9, 0.1)",
		"CREATE TABLE exact (id integer, r " + real + ")",
	}
	for id, f := range randomReals() {
		statements = append(statements, fmt.Sprintf("INSERT INTO exact VALUES (%d, %s)", id, strconv.FormatFloat(float64(f), 'e', -1, 64)))
	}
	return statements
}

func randomReals() []float32 {
	r := rand.New(rand.NewPCG(seed, 2))
	var all []float32
	for len(all) < 100 {
		if f := math.Float32frombits(r.Uint32()); f == f && !math.IsInf(float64(f), 0) && (f == 0 || math.Abs(float64(f)) > 1.2e-38) {
			all = append(all, f)
		}
	}
	return all
}

// Reals tests floats of 4 bytes: they are shown, compared and grouped by their shortest decimals, and by
// their exact values with the first rules.
func Reals(t *testing.T, db database.Database) {
	t.Logf("FEEDMILL_SEED=%d", seed)
	table := Describe(t, db, "reals")
	ids := func(filter string) string {
		return `{"fields":[{"field":"id"},{"field":"r","select":false,"filters":[` + filter + `]}],"sort":[{"field":"id"}]}`
	}
	for text, want := range map[string]string{
		`{"fields":[{"field":"r"}],"sort":[{"field":"r"},{"field":"id"}]}`:                                                     "[[-3.4028235e+38] [0.1] [0.1] [0.2] [0.3] [7] [16777216] [12345679000] [<null>]]",
		`{"fields":[{"field":"r"},{"field":"id","aggregate":"count"}],"sort":[{"field":"r"}],"limit":2}`:                       "[[-3.4028235e+38 1] [0.1 2]]",
		`{"fields":[{"field":"r","aggregate":[{"fn":"min","as":"a"},{"fn":"max","as":"b"},{"fn":"countDistinct","as":"c"}]}]}`: "[[-3.4028235e+38 12345679000 7]]",
		ids(`{"op":"eq","values":[0.1]}`):                                 "[[1] [9]]",
		ids(`{"op":"eq","values":[0.1],"inverted":true}`):                 "[[2] [3] [4] [5] [6] [7] [8]]",
		ids(`{"op":"eq","values":[0.10000000149011612]}`):                 "[]",
		ids(`{"op":"gt","values":[0.1]}`):                                 "[[2] [3] [4] [5] [8]]",
		ids(`{"op":"gte","values":[0.1]}`):                                "[[1] [2] [3] [4] [5] [8] [9]]",
		ids(`{"op":"gt","values":[0.09999999999]}`):                       "[[1] [2] [3] [4] [5] [8] [9]]",
		ids(`{"op":"lt","values":[0.3]}`):                                 "[[1] [2] [6] [9]]",
		ids(`{"op":"lte","values":[0.30000001]}`):                         "[[1] [2] [3] [6] [9]]",
		ids(`{"op":"between","values":[0.1,0.2]}`):                        "[[1] [2] [9]]",
		ids(`{"op":"lt","values":[1e39]}`):                                "[[1] [2] [3] [4] [5] [6] [8] [9]]",
		ids(`{"op":"gt","values":[1e39]}`):                                "[]",
		ids(`{"op":"gte","values":[-1e39]}`):                              "[[1] [2] [3] [4] [5] [6] [8] [9]]",
		ids(`{"op":"lt","values":[1e400]}`):                               "[[1] [2] [3] [4] [5] [6] [8] [9]]",
		ids(`{"op":"gt","values":[1e400]},{"op":"gt","values":[-1e400]}`): "[]",
		ids(`{"op":"gt","values":[-1e400]}`):                              "[[1] [2] [3] [4] [5] [6] [8] [9]]",
	} {
		got, _, err := Read(t.Context(), table, Parse(t, text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if shown := fmt.Sprint(got.Rows); shown != shownReals(want) {
			t.Errorf("%s: %s, want %s", text, shown, shownReals(want))
		}
	}
	var want [][]string
	for id, f := range randomReals() {
		want = append(want, []string{strconv.Itoa(id), show(query.Single(f))})
	}
	got, _, err := Read(t.Context(), Describe(t, db, "exact"), Parse(t, `{"fields":[{"field":"id"},{"field":"r"}],"sort":[{"field":"id"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Rows); diff != "" {
		t.Error(diff)
	}
	first, err := db.Table(t.Context(), "reals", feedmill.RulesFirst)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"fields":[{"field":"r","filters":[{"op":"lt","values":[0.2]},{"op":"gt","values":[0]}]}]}`: "[[0.10000000149011612] [0.10000000149011612]]",
		ids(`{"op":"eq","values":[0.1]}`): "[]",
	} {
		got, _, err := Read(t.Context(), first, Parse(t, text))
		if err != nil || fmt.Sprint(got.Rows) != shownReals(want) {
			t.Errorf("with the first rules, %s: %v %v, want %s", text, got.Rows, err, shownReals(want))
		}
	}
}

// shownReals is a text of rows with its numbers as rows show them.
func shownReals(rows string) string {
	for _, n := range []float64{-3.4028235e+38, 0.10000000149011612} {
		rows = strings.ReplaceAll(rows, strconv.FormatFloat(n, 'g', -1, 64), show(n))
	}
	return rows
}
