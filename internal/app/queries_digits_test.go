package app

import (
	"slices"
	"strings"
	"testing"
)

// TestDecimalsOfManyDigits: values with more than 38 digits are numbers where each of them
// survives, and else text with all digits. Keys stay distinct.
func TestDecimalsOfManyDigits(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := start(t, setup{env: append(slices.Clone(webhooks.env), "FEEDMILL_DATABASE_DIRS="+folder)})
	s.sumsOfFeeds(t)
	const long, near = "1234567890123456789012345678901234567890", "1234567890123456789012345678901234567891"
	for _, test := range []struct {
		name, kind string
		open       func(testing.TB) *realDatabase
	}{
		{"postgres", "numeric", realPostgres},
		{"mysql", "decimal(60,2)", realMariaDB},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := test.open(t)
			db.do(t, "CREATE TABLE orders (id "+test.kind+", big "+test.kind+", round "+test.kind+", at integer, step "+test.kind+")",
				"INSERT INTO orders VALUES ("+long+", 1.50, 1e40, 1, 9), ("+near+", "+long+".25, 2.5, 2, "+long+")")
			s.connectTo(t, db, test.name)
			const fields = `"query":{"fields":[{"field":"id"},{"field":"big"},{"field":"round"},{"field":"at"},{"field":"step"}]}`
			spec := `{"serviceName":"` + test.name + `","viewName":"orders",` + fields + `,"mode":"merge","key":["id"],"incremental":{"field":"step"}`
			f := s.queried(t, spec+`}`)
			if f.types() != "id text, big text, round number, at integer, step text" {
				t.Fatalf("%s %+v", f.types(), f.LastError)
			}
			const first = `{"id":"` + long + `","big":"1.5","round":1e+40,"at":1,"step":"9"}` + "\n"
			if got := s.read(t, f.ID, "&sort=at"); got != first+`{"id":"`+near+`","big":"`+long+`.25","round":2.5,"at":2,"step":"`+long+`"}`+"\n" {
				t.Error(got)
			}
			// Only the later row is fetched, and short keys do not become numbers.
			db.do(t, "UPDATE orders SET big = 7 WHERE at = 2", "INSERT INTO orders VALUES (3, 1, 1, 3, "+near+"), (4, 1, 1, 4, 10)")
			f, r := s.refreshed(t, f.ID)
			if r.RowsIn != 2 || f.types() != "id text, big text, round number, at integer, step text" {
				t.Errorf("%d rows, %s %+v", r.RowsIn, f.types(), r.Error)
			}
			if got := s.read(t, f.ID, "&sort=at"); got != first+`{"id":"`+near+`","big":"7","round":2.5,"at":2,"step":"`+long+`"}`+"\n"+`{"id":"3","big":"1","round":1,"at":3,"step":"`+near+`"}`+"\n" {
				t.Error(got)
			}
			// Filters compare all digits, and so do groups that are made here.
			one := s.queried(t, `{"serviceName":"`+test.name+`","viewName":"orders","query":{"fields":[{"field":"at"},{"field":"id","filters":[{"op":"eq","values":["`+near+`"]}]}]}}`)
			if got := s.read(t, one.ID, ""); got != `{"at":2,"id":"`+near+`"}`+"\n" {
				t.Error(got)
			}
			short := s.queried(t, `{"serviceName":"`+test.name+`","viewName":"orders","query":{"fields":[{"field":"at"},{"field":"id","filters":[{"op":"lt","values":[100]}]}],"sort":[{"field":"id"}]}}`)
			if got := s.read(t, short.ID, "&sort=at"); !strings.HasPrefix(short.types(), "at integer, id decimal") || !strings.HasPrefix(got, `{"at":3,"id":3`) {
				t.Errorf("%s %s", short.types(), got)
			}
			// Under the first rules, the column is of numbers, as it was.
			lossy := s.queried(t, `{"rules":1,`+spec[1:]+`}`)
			if lossy.types() != "id number, big decimal, round number, at integer, step number" || !s.warned(t, lossy.ID, "too-many-digits", "id") {
				t.Errorf("%s %+v", lossy.types(), lossy.LastError)
			}
		})
	}
}

// sumsOfFeeds tests sums over a feed with more digits than a decimal, and those of which only the running
// ones are beyond the range of a number.
func (s *service) sumsOfFeeds(t *testing.T) {
	const wide, wider = "60000000000000000000000000000000000001", "90000000000000000000000000000000000000"
	f := s.upload(t, "", "text/csv", "g,d,f\n1,"+wide+",1e308\n1,"+wide+",1e308\n2,"+wider+",-1e308\n2,"+wider+",-1e308\n3,"+wide+",0.5\n")
	for body, want := range map[string]string{
		`{"fields":[{"field":"d","aggregate":"sum"},{"field":"g","select":false,"filters":[{"op":"eq","values":[1]}]}]}`: "too-many-digits",
		`{"fields":[{"field":"d","aggregate":"sum"},{"field":"g","select":false,"filters":[{"op":"eq","values":[2]}]}]}`: "too-many-digits",
		`{"fields":[{"field":"d","aggregate":"avg"},{"field":"g","select":false,"filters":[{"op":"eq","values":[2]}]}]}`: "too-many-digits",
		`{"fields":[{"field":"d","aggregate":"sum"},{"field":"g","select":false,"filters":[{"op":"eq","values":[3]}]}]}`: `[{"d":` + wide + `}]`,
		`{"fields":[{"field":"d","aggregate":"sum"},{"field":"g","select":false,"filters":[{"op":"eq","values":[9]}]}]}`: `[{"d":null}]`,
		`{"fields":[{"field":"f","aggregate":"sum"}]}`:                                                                   `[{"f":0.5}]`,
	} {
		got := s.send(t, request{method: "POST", path: "/data_feeds/" + f.ID + "/query", body: body})
		if status := map[bool]int{true: 422, false: 200}[want == "too-many-digits"]; got.status != status || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
		if query := s.queried(t, `{"serviceName":"feeds","viewName":"`+f.ID+`","query":`+body+`}`); (query.State == "ready") != (got.status == 200) || got.status != 200 && !strings.Contains(query.LastError.Detail, "more than 38 digits") {
			t.Errorf("%s: %+v", body, query)
		}
	}
}
