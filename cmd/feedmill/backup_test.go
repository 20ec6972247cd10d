package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/blob/s3test"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// backupScene is a store whose backups are tested: SQLite with a folder, or PostgreSQL with a
// bucket.
type backupScene struct {
	folder string
	env    []string // of the original
	target string
	s3     *s3test.Server // nil with SQLite
	next   int
}

func newBackupScene(t *testing.T, postgres bool) *backupScene {
	s := &backupScene{folder: t.TempDir()}
	s.env, s.target = append([]string{sharedVaultKey}, onLoopback...), filepath.Join(s.folder, "backups")
	if postgres {
		s.s3 = s3test.New(t)
		s.env, s.target = s.on(t, "files"), s.s3.URL("backups")
	}
	return s
}

// on is the environment of a server with an empty database and an empty prefix of the bucket.
func (s *backupScene) on(t *testing.T, prefix string) []string {
	if s.s3 == nil {
		return s.env
	}
	return append(append(onPostgres(pgtest.New(t)), onLoopback...),
		"FEEDMILL_BLOB_URL="+s.s3.URL(prefix), "FEEDMILL_BLOB_ACCESS_KEY="+s.s3.AccessKey, "FEEDMILL_BLOB_SECRET_KEY="+s.s3.SecretKey)
}

// hasStore reports whether the error of a restore is that its target has a store, because the one
// before was killed after its last step.
func hasStore(text []byte) bool {
	return bytes.Contains(text, []byte("not empty: it has feedmill.db;")) || bytes.Contains(text, []byte("not empty: its schema has"))
}

// run runs a command and returns what it prints.
func (s *backupScene) run(t *testing.T, env []string, code int, args ...string) string {
	t.Helper()
	cmd, err := command(t.Context(), s.folder, env, args...)
	if err != nil {
		t.Fatal(err)
	}
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Fatalf("feedmill %s ended with %d, want %d:\n%s", strings.Join(args, " "), got, code, text)
	}
	return string(text)
}

// interrupt runs a command and kills it after at most so long. It reports whether it was faster.
func (s *backupScene) interrupt(t *testing.T, env []string, within time.Duration, args ...string) (finished bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), rand.N(within))
	defer cancel()
	cmd, err := command(ctx, s.folder, env, args...)
	if err != nil {
		t.Fatal(err)
	}
	text, err := cmd.CombinedOutput()
	if err == nil || ctx.Err() != nil {
		return err == nil
	}
	if !hasStore(text) {
		t.Fatalf("%v: %s", err, text)
	}
	return true
}

// restore restores the newest backup to an empty place, and is killed first several times.
func (s *backupScene) restore(t *testing.T, kills int, within time.Duration) (env []string, data string) {
	t.Helper()
	s.next++
	name := fmt.Sprintf("restored-%d", s.next)
	env, data = s.on(t, name), filepath.Join(s.folder, name)
	args := []string{"restore", s.target, "--data=" + data}
	for range kills {
		if s.interrupt(t, env, within, args...) {
			return env, data
		}
	}
	cmd, err := command(t.Context(), s.folder, env, args...)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := cmd.CombinedOutput(); err != nil && (kills == 0 || !hasStore(text)) {
		t.Fatalf("%v: %s", err, text)
	}
	return env, data
}

func (s *backupScene) serve(t *testing.T, env []string, data string) *process {
	p, err := launch(s.folder, env, "--data="+data)
	return p.until(t, err)
}

// TestBackups makes backups while rows are appended, files are joined, versions and feeds deleted
// and files swept. Each restores with every row that was acknowledged before it, and no batch
// in part. Backups and restores are killed meanwhile.
func TestBackups(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"sqlite and folder": false, "postgres and bucket": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backUpAndRestore(t, newBackupScene(t, postgres))
		})
	}
}

func backUpAndRestore(t *testing.T, s *backupScene) {
	data := filepath.Join(s.folder, "data")
	p := s.serve(t, s.env, data)
	var at atomic.Pointer[string]
	at.Store(&p.url)
	var feeds [2]string
	var acknowledged [2]atomic.Int64
	for i := range feeds {
		feeds[i] = s.newFeed(t, p)
	}
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	defer writers.Wait()
	defer stop()
	turns := make(chan struct{}) // of the writers, so that a feed has few files
	for i, feed := range feeds {
		writers.Go(func() {
			for n := 1; ; {
				select {
				case <-turns:
				case <-ctx.Done():
					return
				}
				// Merged by key, so that a request whose response was lost can be repeated.
				status, _, err := request(ctx, sharedFirstKey, http.MethodPut, *at.Load()+"/data_feeds/"+feed+"/data?mode=merge&key=id", map[string]string{"Content-Type": "text/csv"},
					strings.NewReader(fmt.Sprintf("id,v\n%d,a\n%d,b\n", 2*n, 2*n+1)))
				if err == nil && status == http.StatusOK {
					acknowledged[i].Store(int64(n))
					n++
				}
			}
		})
	}
	grant := func(n int) {
		writers.Go(func() {
			for range n {
				select {
				case turns <- struct{}{}:
				case <-ctx.Done():
				}
			}
		})
	}
	within := longOr(400*time.Millisecond, 2*time.Second)
	for range longOr(1, 10) {
		gone := s.newFeed(t, p)
		had := acknowledged[0].Load() + acknowledged[1].Load()
		grant(20)
		eventually(t, "rows are appended", func() bool { return acknowledged[0].Load()+acknowledged[1].Load() > had+4 })
		if err := p.client(sharedFirstKey).DeleteDataFeed(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
		age(t, s.env, data, "feed_versions", "stale_at", 2)
		age(t, s.env, data, "objects", "since", 25)
		for range longOr(2, 8) {
			s.interrupt(t, s.env, within, "backup", s.target, "--data="+data)
		}
		before := [2]int64{acknowledged[0].Load(), acknowledged[1].Load()}
		grant(20)
		running, err := command(t.Context(), s.folder, s.env, "backup", s.target, "--data="+data)
		if err != nil {
			t.Fatal(err)
		}
		backup, err := begin(running)
		if err != nil {
			t.Fatal(err)
		}
		p.kill()
		p = s.serve(t, s.env, data) // which joins files, forgets versions and sweeps
		at.Store(&p.url)
		if err := backup.wait(); err != nil {
			t.Fatal(err)
		}
		if text := s.run(t, s.env, 0, "backup", "verify", s.target); !strings.Contains(text, "All backups are complete") {
			t.Fatal(text)
		}
		env, restored := s.restore(t, longOr(2, 6), within)
		r := s.serve(t, env, restored)
		for i, feed := range feeds {
			rows := storedRows(t, r, feed)
			if batches := int64(len(rows)-1) / 2; len(rows)%2 != 1 || batches < before[i] {
				t.Errorf("%d rows are restored of at least %d batches", len(rows), before[i])
			}
		}
		r.kill()
		s.run(t, env, 0, "files", "check", "--deep", "--data="+restored)
	}
	s.run(t, s.env, 0, "files", "check", "--deep", "--data="+data)
	stop()
	writers.Wait()
	s.damage(t, data)
}

// newFeed creates a feed with one row that keeps one version.
func (s *backupScene) newFeed(t *testing.T, p *process) string {
	t.Helper()
	made, err := p.client(sharedFirstKey).CreateDataFeed(t.Context(), client.Upload{Data: strings.NewReader("id,v\n0,0\n"), Format: "csv"})
	if err == nil {
		_, err = p.client(sharedFirstKey).ChangeDataFeed(t.Context(), made.ID, client.DataFeedChange{Keep: client.To(client.Keep{Versions: 1})})
	}
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// damage flips a bit of a file and removes another, in the backup and in the store. Each is named.
func (s *backupScene) damage(t *testing.T, data string) {
	t.Helper()
	backups, files := s.target, filepath.Join(data, "files")
	if s.s3 != nil {
		backups, files = filepath.Join(s.s3.Folder, "backups"), filepath.Join(s.s3.Folder, "files")
	}
	manifest, records, feed := newestManifest(t, backups)
	db, _ := openStore(t, s.env, data)
	defer db.Close()
	var stored string
	if err := db.QueryRowContext(t.Context(), `SELECT max(file) FROM version_files`).Scan(&stored); err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		what, file string
		check      []string
	}{
		{"a backup", feed, []string{"backup", "verify", s.target}},
		{"the records of a backup", records, []string{"backup", "verify", s.target}},
		{"a store", filepath.Join(files, stored), []string{"files", "check", "--deep", "--data=" + data}},
		{"a manifest", manifest, []string{"backup", "verify", s.target}},
	} {
		s.run(t, s.env, 0, one.check...)
		file, name := one.file, filepath.Base(one.file)
		original, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		flipped := bytes.Clone(original)
		flipped[len(flipped)/2] ^= 1 << rand.N(8)
		if err := os.WriteFile(file, flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		if text := s.run(t, s.env, 1, one.check...); !strings.Contains(text, name+": damaged") {
			t.Errorf("a flipped bit of %s: %s", one.what, text)
		}
		if one.what == "a manifest" {
			continue // a backup without a manifest does not count
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if text := s.run(t, s.env, 1, one.check...); !strings.Contains(text, name+": missing") {
			t.Errorf("a missing file of %s: %s", one.what, text)
		}
		if err := os.WriteFile(file, original, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// newestManifest is the newest manifest in a folder of backups: its file, and a file with records
// and one of a feed that it names.
func newestManifest(t *testing.T, backups string) (file, records, feed string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(backups, "backups", "bkp_*.json"))
	if err != nil || len(all) == 0 {
		t.Fatalf("the manifest is missing: %v", err)
	}
	file = all[len(all)-1]
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	type part struct{ Name string }
	var m struct {
		Manifest struct{ Records, Files []part }
	}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return file, filepath.Join(backups, m.Manifest.Records[0].Name), filepath.Join(backups, "files", m.Manifest.Files[0].Name)
}

// TestRestoredStoreIsPaused holds that a restored store sends nothing and refreshes nothing until it
// is resumed, and then what was due.
func TestRestoredStoreIsPaused(t *testing.T) {
	t.Parallel()
	s := newBackupScene(t, false)
	var hits, fetches atomic.Int64
	sink := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer sink.Close()
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetches.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `[{"id":1}]`) // the client reports what is missing
	}))
	defer source.Close()
	data := filepath.Join(s.folder, "data")
	p := s.serve(t, s.env, data)
	post := func(p *process, path, body string, want int) string {
		t.Helper()
		status, answer, err := request(t.Context(), sharedFirstKey, http.MethodPost, p.url+path, map[string]string{"Content-Type": "application/json"}, strings.NewReader(body))
		if status != want || err != nil {
			t.Fatalf("POST %s: %d %s, %v", path, status, answer, err)
		}
		return answer
	}
	p.subscribe(t, fmt.Sprintf(`{"url":%q,"events":["metric.created"]}`, sink.URL))
	post(p, "/data_feeds?type=rest", fmt.Sprintf(`{"request":{"url":%q},"schedule":{"every":"1h"}}`, source.URL), http.StatusCreated)
	eventually(t, "the source is fetched", func() bool { return fetches.Load() == 1 })
	s.run(t, s.env, 0, "backup", s.target, "--data="+data)
	p.kill()
	env, restored := s.restore(t, 0, 0)
	age(t, env, restored, "sources", "due_at", 2)
	for range 2 { // also after another start
		r := s.serve(t, env, restored)
		post(r, "/events", `{"type":"metric.created","resourceId":"m_1"}`, http.StatusAccepted)
		if n := countRows(t, env, restored, "deliveries"); n == 0 {
			t.Fatal("no delivery was created")
		}
		if hits.Load() != 0 || fetches.Load() != 1 {
			t.Fatalf("a paused store has sent %d deliveries and fetched %d times", hits.Load(), fetches.Load()-1)
		}
		r.kill()
	}
	r := s.serve(t, env, restored)
	if text := s.run(t, env, 0, "resume", "--data="+restored); !strings.Contains(text, "again") {
		t.Error(text)
	}
	eventually(t, "what was due is sent and fetched", func() bool { return hits.Load() == 2 && fetches.Load() == 2 })
	r.kill()
}
