package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill/client"
)

// TestRotIsReported flips single bits of stored Parquet files, those of exports too, while
// the server is killed in the middle of the scrub and of writing sums. Every read is as
// before, or it is a 500 that names the damaged version. What is restored can be read again.
func TestRotIsReported(t *testing.T) { onBothStores(t, flipBits) }

// rotting is a server with two feeds and the responses that it gave before any damage.
type rotting struct {
	*process
	env    []string
	folder string
	feeds  [2]string
	want   map[string]string
}

func flipBits(t *testing.T, env []string) {
	r := &rotting{env: env, folder: t.TempDir(), want: make(map[string]string)}
	r.begin(t)
	for i := range r.feeds {
		made, err := r.client(sharedFirstKey).CreateDataFeed(t.Context(), client.Upload{Data: strings.NewReader(csvOfNumbers(i, 300)), Format: "csv"})
		if err != nil {
			t.Fatal(err)
		}
		r.feeds[i] = made.ID
		status, answer, err := request(t.Context(), sharedFirstKey, http.MethodPut, r.url+"/data_feeds/"+made.ID+"/data?mode=append", map[string]string{"Content-Type": "text/csv"}, strings.NewReader(csvOfNumbers(i+2, 100)))
		if status != http.StatusOK || err != nil {
			t.Fatalf("%d %s, %v", status, answer, err)
		}
	}
	for _, feed := range r.feeds {
		for _, read := range []string{
			"data?version=1", "data?version=2", "data?version=2&format=csv&limit=7", "data?version=1&format=parquet", "data?version=2&format=parquet&fields=v,id",
			"changes?from=1&to=2", "data?version=2&filter=id:gt:5&count=true",
		} {
			at := "/data_feeds/" + feed + "/" + read
			status, answer := r.read(t, at)
			if status != http.StatusOK {
				t.Fatalf("GET %s: %d %s", at, status, answer)
			}
			r.want[at] = answer
		}
	}
	damaged, first := 0, rand.Int()
	for round := range longOr(4, 60) {
		if round%2 == 1 {
			r.forgetSums(t) // as after an upgrade
		}
		r.killInScrub(t)
		r.awaitSums(t)
		files := r.files(t)
		at := (first%len(files) + round) % len(files) // some are only read by the scrub
		r.kill()
		undo := flipBit(t, files[at])
		r.begin(t)
		n := r.readAll(t)
		if n > 0 && !strings.Contains(r.metrics(t), "feedmill_files_damaged_total") {
			t.Error("no metric counts damaged files")
		}
		damaged += n
		undo()
		if n := r.readAll(t); n > 0 {
			t.Fatalf("%d reads fail after the file was restored", n)
		}
	}
	if damaged == 0 {
		t.Error("no damage was reported")
	}
}

func csvOfNumbers(first, n int) string {
	var out strings.Builder
	out.WriteString("id,v,name\n")
	for i := range n {
		fmt.Fprintf(&out, "%d,%d.25,name %d\n", first*1000+i, i*7%100, i%13)
	}
	return out.String()
}

func (r *rotting) begin(t *testing.T) {
	t.Helper()
	p, err := launch(r.folder, r.env, "--data="+r.data())
	r.process = p.until(t, err)
}

func (r *rotting) data() string { return filepath.Join(r.folder, "data") }

func (r *rotting) read(t *testing.T, at string) (int, string) {
	t.Helper()
	status, answer, err := request(t.Context(), sharedFirstKey, http.MethodGet, r.url+at, map[string]string{"Range": "bytes=0-"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return status, answer
}

// readAll reads everything and returns how many reads reported damage.
func (r *rotting) readAll(t *testing.T) (damaged int) {
	t.Helper()
	for at, want := range r.want {
		switch status, answer := r.read(t, at); {
		case status == http.StatusOK && answer == want:
		case status == http.StatusInternalServerError && strings.Contains(answer, "/problems/file-damaged") && strings.Contains(answer, "version"):
			damaged++
		default:
			t.Errorf("GET %s: %d %.300s", at, status, answer)
		}
	}
	if damaged > len(r.want)/2 {
		t.Errorf("%d of %d reads report damage of one file", damaged, len(r.want))
	}
	return damaged
}

func (r *rotting) metrics(t *testing.T) string {
	t.Helper()
	_, answer := r.read(t, "/metrics")
	return answer
}

// killInScrub kills the server some milliseconds after a start at which all files are due
// for the scrub.
func (r *rotting) killInScrub(t *testing.T) {
	t.Helper()
	for range 2 {
		r.kill()
		age(t, r.env, r.data(), "file_sums", "checked_at", 24*8)
		r.begin(t)
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond) // when is left to chance
	}
}

// forgetSums makes the files those of an earlier release.
func (r *rotting) forgetSums(t *testing.T) {
	t.Helper()
	db, _ := openStore(t, r.env, r.data())
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `UPDATE file_sums SET sha256 = '', footer_sha256 = ''`); err != nil {
		t.Fatal(err)
	}
}

// awaitSums waits until the scrub has given each file its sums, and holds that they are
// those of the file.
func (r *rotting) awaitSums(t *testing.T) {
	t.Helper()
	eventually(t, "all files have sums", func() bool { return countRows(t, r.env, r.data(), "file_sums WHERE sha256 = ''") == 0 })
	for _, path := range r.files(t) {
		name, err := filepath.Rel(filepath.Join(r.data(), "files"), path)
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		if countRows(t, r.env, r.data(), fmt.Sprintf("file_sums WHERE file = '%s' AND sha256 = '%s'", name, hex.EncodeToString(sum[:]))) != 1 {
			t.Fatalf("%s has other sums", name)
		}
	}
}

// files are the paths of the Parquet files.
func (r *rotting) files(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(r.data(), "files"), func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".parquet") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) < 6 {
		t.Fatalf("there are %d Parquet files: %v", len(paths), err)
	}
	return paths
}

// flipBit flips a bit of a file, whose times stay. The function that it returns puts the
// file back as it was.
func flipBit(t *testing.T, path string) (undo func()) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(content []byte) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	damaged := slices.Clone(content)
	damaged[rand.IntN(len(damaged))] ^= 1 << rand.IntN(8)
	write(damaged)
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := os.Stat(path); err == nil { // else it was an export, which has been replaced
			write(content)
		}
	}
}
