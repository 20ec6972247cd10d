package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// versionedFeed is a feed as it should be, version by version.
type versionedFeed struct {
	id string
	// versions are the rows of those that were acknowledged, and may what the next one has
	// if the operation under way is done.
	versions [][]string
	may      []string
	kind     string
	rows     int
}

func (f *versionedFeed) last() []string { return f.versions[len(f.versions)-1] }

// batch makes rows for ids from one on that no other batch has.
func (f *versionedFeed) batch(first, n int) (rows []string) {
	for id := range n {
		f.rows++
		rows = append(rows, fmt.Sprintf("%d,%d", first+id, f.rows))
	}
	return rows
}

func csvOf(rows []string) string { return "id,v\n" + strings.Join(rows, "\n") + "\n" }

// step does something to the feed.
func (f *versionedFeed) step(ctx context.Context, p *process, key string) (made client.DataFeed, err error) {
	c := p.client(key)
	c.Tries = 1
	upload := func(mode feedmill.FeedMode, rows []string) (client.DataFeed, error) {
		u := client.Upload{Data: strings.NewReader(csvOf(rows)), Format: "csv", Mode: mode}
		if mode == feedmill.ModeMerge {
			u.Key = []string{"id"}
		}
		return c.ReplaceData(ctx, f.id, u)
	}
	f.kind = []string{"append", "append", "merge", "restore", "retype", "parts"}[rand.IntN(6)]
	f.may = f.last()
	switch f.kind {
	case "append":
		rows := f.batch(10_000+10*f.rows, 20)
		f.may = slices.Concat(f.last(), rows)
		return upload(feedmill.ModeAppend, rows)
	case "merge":
		rows := f.batch(rand.IntN(300), 100)
		replaced := make(map[string]bool)
		for _, row := range rows {
			id, _, _ := strings.Cut(row, ",")
			replaced[id] = true
		}
		f.may = slices.Concat(slices.DeleteFunc(slices.Clone(f.last()), func(row string) bool {
			id, _, _ := strings.Cut(row, ",")
			return replaced[id]
		}), rows)
		return upload(feedmill.ModeMerge, rows)
	case "restore":
		n := 1 + rand.IntN(len(f.versions)-1)
		f.may = f.versions[n]
		return c.RestoreVersion(ctx, f.id, int64(n))
	case "retype":
		kind := []string{"text", "integer"}[rand.IntN(2)]
		return c.ChangeColumns(ctx, f.id, []client.ColumnChange{{ID: "c2", Type: client.To(kind)}})
	}
	if err := readEnd(ctx, p, key, f.id); err != nil {
		return made, err
	}
	return c.DataFeed(ctx, f.id)
}

// readEnd reads the end of a feed as Parquet, for which its files may have to be joined.
func readEnd(ctx context.Context, p *process, key, feed string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/data_feeds/"+feed+"/data?format=parquet", nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Range", "bytes=-4")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != http.StatusPartialContent || string(text) != "PAR1") {
		err = fmt.Errorf("%s: %q", resp.Status, text)
	}
	return err
}

// check reads a version.
func (f *versionedFeed) check(t *testing.T, c *client.Client, version int) {
	t.Helper()
	rows, err := c.ReadData(t.Context(), f.id, client.RowQuery{Format: "csv", Version: int64(version)})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	text, err := io.ReadAll(rows)
	if got := strings.ReplaceAll(string(text), "\r\n", "\n"); err != nil || got != csvOf(f.versions[version]) {
		t.Fatalf("version %d after %s has %d bytes, not %d: %v", version, f.kind, len(got), len(csvOf(f.versions[version])), err)
	}
}

// TestVersionsOutliveKills appends, merges, restores, retypes and has files joined, and kills the program in
// the middle. What was in flight is then done or not, all else is as it was, and a day later
// no file is left that nothing has.
func TestVersionsOutliveKills(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	data := filepath.Join(folder, "data")
	begin := func() *process {
		p, err := launch(folder, nil, "--data="+data, "--iceberg-local=true")
		return p.until(t, err)
	}
	p := begin()
	key := p.mustFirstKey(t)
	f := &versionedFeed{versions: [][]string{nil}}
	rows := f.batch(0, 300)
	made, err := p.client(key).CreateDataFeed(t.Context(), client.Upload{Data: strings.NewReader(csvOf(rows)), Format: "csv"})
	if err != nil {
		t.Fatal(err)
	}
	f.id, f.versions = made.ID, append(f.versions, rows)
	if _, err := p.client(key).ChangeDataFeed(t.Context(), f.id, client.DataFeedChange{Keep: client.To(client.Keep{Versions: 10_000})}); err != nil {
		t.Fatal(err)
	}
	for range longOr(4, 200) {
		ctx, cancel := context.WithCancel(t.Context())
		var working sync.WaitGroup
		working.Go(func() {
			for {
				made, err := f.step(ctx, p, key)
				if refused, ok := errors.AsType[*client.Problem](err); ok {
					t.Errorf("%s: %v", f.kind, refused)
				}
				if err != nil {
					return
				}
				if int(made.Version) == len(f.versions) {
					f.versions = append(f.versions, f.may)
				}
			}
		})
		time.Sleep(time.Duration(rand.IntN(int(500 * time.Millisecond))))
		p.kill()
		cancel()
		working.Wait()
		wholeTables(t, data)
		p = begin()
		c := p.client(key)
		now, err := c.DataFeed(t.Context(), f.id)
		if err != nil {
			t.Fatal(err)
		}
		switch int(now.Version) {
		case len(f.versions):
			f.versions = append(f.versions, f.may)
		case len(f.versions) - 1:
		default:
			t.Fatalf("version %d after %d that were acknowledged", now.Version, len(f.versions)-1)
		}
		f.check(t, c, int(now.Version))
		f.check(t, c, 1+rand.IntN(int(now.Version)))
		if err := readEnd(t.Context(), p, key, f.id); err != nil {
			t.Fatal(err)
		}
	}
	p.mustStop(t)
	p = begin()
	p = sweptAfterADay(t, nil, data, p, begin, func() int { return len(usedFiles(t, data)) })
	if onDisk, used := filesBelow(t, data), usedFiles(t, data); !slices.Equal(onDisk, used) {
		t.Fatalf("%d files are used, and on disk are %d: %q", len(used), len(onDisk), onDisk)
	}
	for version := range f.versions[1:] {
		f.check(t, p.client(key), version+1)
	}
}

// wholeTables holds that all files which the current metadata of tables names exist.
func wholeTables(t *testing.T, data string) {
	t.Helper()
	onDisk := filesBelow(t, data)
	for _, name := range usedFiles(t, data) {
		if _, ok := slices.BinarySearch(onDisk, name); !ok {
			t.Errorf("%s is used and does not exist", name)
		}
	}
}

// filesBelow are the names of the files of feeds in a data folder.
func filesBelow(t *testing.T, data string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(filepath.Join(data, "files")), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && name != ".store" {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// usedFiles are the names of the files that versions, refreshes and tables have.
func usedFiles(t *testing.T, data string) (names []string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(data, "feedmill.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `SELECT file FROM version_files UNION SELECT original FROM feed_versions UNION SELECT rejects FROM refreshes UNION SELECT file FROM table_files ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		if name != "" {
			names = append(names, name)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}
