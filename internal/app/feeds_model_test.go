package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// modelRow is a row by what the data calls its columns. Nulls are not in it, and numbers
// are as they are written at their shortest, whatever their type.
type modelRow map[string]string

func (r modelRow) String() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(r)) {
		all = append(all, name+"="+r[name])
	}
	return strings.Join(all, " ")
}

// feedModel is a feed as it should be, version by version.
type feedModel struct {
	s        *service
	id       string
	random   *rand.Rand
	versions [][]modelRow // the first is that before the first version
	renames  int
	// spelled says that a column of numbers was text: what stays where in a merge is then a
	// question of how it was written.
	spelled bool
	log     []string
}

func (m *feedModel) last() []modelRow { return m.versions[len(m.versions)-1] }

// batch makes rows, and the CSV of them.
func (m *feedModel) batch(unique bool) (rows []modelRow, csv string) {
	names := []string{"k", "t", "n"}
	if m.random.IntN(3) == 0 {
		names = append(names, "e")
	}
	if m.random.IntN(5) == 0 {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "t" })
	}
	csv = strings.Join(names, ",") + "\n"
	keys := m.random.Perm(8)[:1+m.random.IntN(5)]
	for i, key := range keys {
		if !unique && i > 0 && m.random.IntN(3) == 0 {
			key = keys[0]
		}
		row := modelRow{"k": strconv.Itoa(key)}
		var cells []string
		for _, name := range names {
			switch {
			case name == "k":
			case m.random.IntN(4) == 0: // null
			case name == "n" && m.random.IntN(3) == 0:
				row[name] = fmt.Sprintf("%d.5", m.random.IntN(3))
			case name == "n":
				row[name] = strconv.Itoa(m.random.IntN(3))
			default:
				row[name] = fmt.Sprintf("%s%d", name, m.random.IntN(3))
			}
			cells = append(cells, row[name])
		}
		rows = append(rows, row)
		csv += strings.Join(cells, ",") + "\n"
	}
	// Each column has a value, so that its type is what it seems.
	full := modelRow{"k": "99"}
	var cells []string
	for _, name := range names {
		if name != "k" {
			full[name] = name + "0"
		}
		if name == "n" {
			full[name] = "7"
		}
		cells = append(cells, full[name])
	}
	return append(rows, full), csv + strings.Join(cells, ",") + "\n"
}

// merged are rows with others merged into them by their key.
func merged(old, fresh []modelRow) []modelRow {
	wins := make(map[string]int)
	for i, row := range fresh {
		wins[row["k"]] = i
	}
	count := make(map[string]int)
	for _, row := range old {
		count[row["k"]]++
	}
	var rows []modelRow
	stays := make(map[string]bool)
	for _, row := range old {
		i, replaced := wins[row["k"]]
		if replaced && count[row["k"]] == 1 && maps.Equal(row, fresh[i]) {
			stays[row["k"]], replaced = true, false
		}
		if !replaced {
			rows = append(rows, row)
		}
	}
	for i, row := range fresh {
		if wins[row["k"]] == i && !stays[row["k"]] {
			rows = append(rows, row)
		}
	}
	return rows
}

// step does one thing to the feed and to the model.
func (m *feedModel) step(t *testing.T) {
	t.Helper()
	path := "/data_feeds/" + m.id
	var next []modelRow
	var f shownFeed
	switch what := []string{"replace", "append", "merge", "merge", "rename", "retype", "restore", "join"}[m.random.IntN(8)]; what {
	case "rename":
		m.renames++
		id, name := m.column(t, "t")
		m.note("rename %s", name)
		m.s.send(t, request{method: "PATCH", path: path + "/columns", body: fmt.Sprintf(`[{"id":%q,"name":"t_r%d"}]`, id, m.renames)}).data(t, &f)
		next = m.last()
	case "retype":
		id, _ := m.column(t, "n")
		kind := []string{"text", "decimal"}[m.random.IntN(2)]
		m.note("retype n %s", kind)
		m.spelled = true
		m.s.send(t, request{method: "PATCH", path: path + "/columns", body: fmt.Sprintf(`[{"id":%q,"type":%q}]`, id, kind)}).data(t, &f)
		next = m.last()
	case "restore":
		n := 1 + m.random.IntN(len(m.versions)-1)
		m.note("restore %d", n)
		m.s.send(t, request{method: "POST", path: fmt.Sprintf("%s/versions/%d/restore", path, n)}).data(t, &f)
		next = m.versions[n]
	case "join":
		m.note("join")
		if _, err := m.s.feeds(t).JoinFiles(t.Context()); err != nil {
			t.Fatal(err)
		}
		m.s.send(t, request{method: "GET", path: path}).data(t, &f)
		next = m.last()
	default:
		rows, csv := m.batch(what == "replace" && m.random.IntN(2) == 0)
		m.note("%s %q", what, csv)
		f = m.s.put(t, m.id, "?mode="+what, csv)
		switch what {
		case "replace":
			next = rows
		case "append":
			next = slices.Concat(m.last(), rows)
		case "merge":
			next = merged(m.last(), rows)
		}
	}
	switch f.Version {
	case int64(len(m.versions) - 1):
		m.want(t, "what is not a new version", m.last(), next)
	case int64(len(m.versions)):
		m.versions = append(m.versions, next)
	default:
		t.Fatalf("version %d after %d: %s", f.Version, len(m.versions)-1, m.log)
	}
	m.check(t, len(m.versions)-1)
}

func (m *feedModel) note(format string, args ...any) {
	m.log = append(m.log, fmt.Sprintf(format, args...))
}

// column finds a column by what the data calls it.
func (m *feedModel) column(t *testing.T, sourceName string) (id, name string) {
	t.Helper()
	var f struct {
		Columns []struct{ ID, Name, SourceName string }
	}
	m.s.send(t, request{method: "GET", path: "/data_feeds/" + m.id}).data(t, &f)
	for _, c := range f.Columns {
		if c.SourceName == sourceName {
			return c.ID, c.Name
		}
	}
	t.Fatalf("no column %s: %s", sourceName, m.log)
	return "", ""
}

// rowsOf reads lines of JSON as rows.
func rowsOf(t *testing.T, lines string) (rows []modelRow) {
	t.Helper()
	for line := range strings.Lines(lines) {
		row := make(modelRow)
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		var values map[string]any
		if err := d.Decode(&values); err != nil {
			t.Fatal(err)
		}
		for name, value := range values {
			name, _, _ = strings.Cut(name, "_r")
			text := fmt.Sprint(value)
			if n, err := strconv.ParseFloat(text, 64); err == nil {
				text = strconv.FormatFloat(n, 'f', -1, 64)
			}
			if before, ok := value.(map[string]any); ok {
				raw, _ := json.Marshal(before)
				text = string(raw)
			}
			if value != nil {
				row[name] = text
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// check holds a version against the model.
func (m *feedModel) check(t *testing.T, version int) {
	t.Helper()
	m.want(t, fmt.Sprintf("version %d", version), rowsOf(t, m.s.read(t, m.id, fmt.Sprintf("&version=%d", version))), m.versions[version])
}

func (m *feedModel) want(t *testing.T, what string, got, wanted []modelRow) {
	t.Helper()
	if m.spelled || strings.Contains(what, "changes") {
		got, wanted = sortedRows(got), sortedRows(wanted)
	}
	if fmt.Sprint(got) != fmt.Sprint(wanted) {
		t.Fatalf("%s: %v, not %v\n%s", what, got, wanted, strings.Join(m.log, "\n"))
	}
}

func sortedRows(rows []modelRow) []modelRow {
	return slices.SortedFunc(slices.Values(rows), func(a, b modelRow) int { return strings.Compare(a.String(), b.String()) })
}

// checkChanges applies what is different between two versions to the rows of the first.
func (m *feedModel) checkChanges(t *testing.T, from, to int) {
	t.Helper()
	rows := slices.Clone(m.versions[from])
	remove := func(row modelRow) {
		at := slices.IndexFunc(rows, func(r modelRow) bool { return maps.Equal(r, row) })
		if at < 0 {
			t.Fatalf("from %d to %d: %v is not there to be changed: %v\n%s", from, to, row, rows, strings.Join(m.log, "\n"))
		}
		rows = slices.Delete(rows, at, at+1)
	}
	for _, row := range rowsOf(t, m.s.changes(t, m.id, fmt.Sprintf("from=%d&to=%d", from, to))) {
		change, before := row["_change"], row["_before"]
		delete(row, "_change")
		delete(row, "_before")
		switch change {
		case "delete":
			remove(row)
			continue
		case "update":
			remove(rowsOf(t, before)[0])
		}
		rows = append(rows, row)
	}
	m.want(t, fmt.Sprintf("changes from %d to %d", from, to), rows, m.versions[to])
}

// Whatever is done to a feed, each of its versions is what a model of it in memory says,
// and what is different between any two makes the one of the other.
func TestFeedIsAsItsModel(t *testing.T) {
	t.Parallel()
	sequences, steps := 3, 12
	if os.Getenv("FEEDMILL_LONG") != "" {
		sequences, steps = 200, 30
	}
	s := start(t, setup{})
	for seed := range sequences {
		m := &feedModel{s: s, random: rand.New(rand.NewPCG(uint64(seed), 23)), versions: [][]modelRow{nil}}
		rows, csv := m.batch(true)
		m.note("seed %d: upload %q", seed, csv)
		if !strings.HasPrefix(csv, "k,t") {
			continue // the columns are there from the beginning
		}
		m.id = s.upload(t, "&mode=merge&key=k", "text/csv", csv).ID
		m.versions = append(m.versions, merged(nil, rows))
		for range steps {
			m.step(t)
		}
		for version := 1; version < len(m.versions); version++ {
			m.check(t, version)
			m.checkChanges(t, version, 1+m.random.IntN(len(m.versions)-1))
		}
		s.send(t, request{method: "DELETE", path: "/data_feeds/" + m.id})
		if got := s.send(t, request{method: "GET", path: "/data_feeds/" + m.id + "/data"}); got.status != 404 {
			t.Errorf("a feed that was deleted: %d %s", got.status, got.body)
		}
	}
}
