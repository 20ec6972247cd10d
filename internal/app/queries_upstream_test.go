package app

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// table is what statements call the table, whatever the search path is.
func (u *upstream) table() string {
	switch {
	case u.schema != "":
		return u.schema + ".b"
	case u.connector == "postgres":
		return "public." + u.name
	}
	return u.name
}

// view is what the query calls it.
func (u *upstream) view() string {
	switch {
	case u.db == nil:
		return u.parent
	case u.schema != "":
		return u.schema + ".b"
	}
	return u.name
}

// putBeside makes another table that the name of the view could mean as well: one whose name has
// a dot in it, or one in a schema that the search path has first.
func (u *upstream) putBeside(t *testing.T) {
	if u.db == nil {
		return
	}
	name := `"` + u.table() + `"`
	if u.connector == "mysql" {
		name = "`shop." + u.name + "`"
	}
	if u.connector == "postgres" && u.schema == "" {
		name = "beside." + u.name
		u.db.do(t, "CREATE SCHEMA IF NOT EXISTS beside")
		u.setPath(t, "beside, public")
		u.moved = true
	}
	u.db.do(t, "DROP TABLE IF EXISTS "+name, "CREATE TABLE "+name+" (id integer, v integer)", "INSERT INTO "+name+" VALUES (98, 7), (99, 5000)")
}

// setPath sets the search path of the sessions to come. Those that are open have the old one; a change
// of the connection opens others.
func (u *upstream) setPath(t *testing.T, path string) {
	u.db.do(t, fmt.Sprintf("ALTER DATABASE %q SET search_path = %s", u.db.config["database"], path))
	got := u.service.send(t, request{method: "PATCH", path: "/connections/" + u.connection, body: fmt.Sprintf(`{"config":{"connectTimeout":"%ds"}}`, 5+u.r.IntN(50))})
	if got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
}

// setBack makes the feed one of an earlier release, and has it refreshed: fields that are not selected are
// pinned at the first refresh.
func (u *upstream) setBack(t *testing.T) {
	u.earlier = true
	u.store.do(t, fmt.Sprintf("UPDATE feeds SET pins = '{}', rules = 1 WHERE id = '%s'", u.feed.ID),
		fmt.Sprintf("UPDATE sources SET rules = 1 WHERE id = (SELECT source_id FROM feeds WHERE id = '%s')", u.feed.ID))
	u.refresh(t)
	u.verify(t, "set back", true)
}

// read is the rows of the feed, sorted.
func (u *upstream) read(t *testing.T) []string {
	lines := []string{}
	for line := range strings.Lines(u.service.read(t, u.feed.ID, "")) {
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.UseNumber()
		row := map[string]any{}
		if err := decoder.Decode(&row); err != nil {
			t.Fatal(err)
		}
		show := func(name string) string {
			value, ok := row[name]
			if !ok {
				return ""
			}
			if value == nil {
				return "null"
			}
			if _, isNumber := value.(json.Number); isNumber || u.numbers {
				return rational(fmt.Sprint(value)).RatString()
			}
			return fmt.Sprint(value)
		}
		parts := []string{show("id"), show("v")}
		if strings.HasPrefix(u.query.spec, `{"fields":[{"field":"v"`) {
			slices.Reverse(parts)
		}
		lines = append(lines, strings.TrimSpace(strings.Join(parts, " ")))
	}
	slices.Sort(lines)
	return lines
}

// write makes the table what it is now.
func (u *upstream) write(t *testing.T) {
	u.wasText = u.wasText || u.kind == "text"
	if u.db == nil {
		u.upload(t)
		return
	}
	kind := map[string]string{"integer": "integer", "decimal": "decimal(10,2)", "double": "double precision", "text": "varchar(20)"}[u.kind]
	if u.db.connector == "sqlite" {
		switch {
		case !u.declared:
			kind = ""
		case u.kind == "text" && u.numbers:
			kind = "integer" // into which any text goes
		}
	}
	statements := []string{"DROP TABLE IF EXISTS " + u.table()}
	if u.gone {
		u.db.do(t, statements...)
		return
	}
	columns := "id integer, " + u.column + " " + kind
	if u.wide {
		columns = "more varchar(10), " + u.column + " " + kind + ", other integer, id integer"
	}
	statements = append(statements, "CREATE TABLE "+u.table()+" ("+columns+")")
	var values []string
	for _, r := range u.rows {
		v := "NULL"
		if r.v != nil {
			v = *r.v
			if u.kind == "text" && (u.db.connector != "sqlite" || !u.numbers || !isNumber(v)) {
				v = "'" + v + "'"
			}
		}
		values = append(values, fmt.Sprintf("(%d, %s)", r.id, v))
	}
	if len(values) > 0 {
		statements = append(statements, "INSERT INTO "+u.table()+" (id, "+u.column+") VALUES "+strings.Join(values, ", "))
	}
	u.db.do(t, statements...)
}

// upload uploads the rows as a feed's data.
func (u *upstream) upload(t *testing.T) {
	body := "id,v\n"
	for _, r := range u.rows {
		v := ""
		if r.v != nil {
			v = *r.v
		}
		body += fmt.Sprintf("%d,%s\n", r.id, v)
	}
	sent := request{method: "POST", path: "/data_feeds?type=dataUpload&name=" + u.name, body: body, header: [][2]string{{"Content-Type", "text/csv"}}}
	if u.parent != "" {
		sent.method, sent.path = "PUT", "/data_feeds/"+u.parent+"/data"
	}
	var f restFeed
	got := u.service.send(t, sent)
	if got.status != 201 && got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	got.data(t, &f)
	u.parent = f.ID
}
