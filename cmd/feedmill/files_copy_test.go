package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/blob/s3test"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestFilesAreMoved moves the files of a store from a folder to a bucket, to another bucket and back,
// while rows are appended. The command is killed several times. No acknowledged row is lost, the
// server with the former location stores nothing any more, and no other store accepts the files.
func TestFilesAreMoved(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"sqlite": false, "postgres": true} {
		t.Run(name, func(t *testing.T) {
			if t.Parallel(); postgres && longOr(true, false) {
				t.Skip("the short form has one engine; storetest has both")
			}
			moveFiles(t, postgres)
		})
	}
}

func moveFiles(t *testing.T, postgres bool) {
	s3 := s3test.New(t)
	s := &backupScene{folder: t.TempDir(), s3: s3}
	common := append([]string{sharedVaultKey, "FEEDMILL_BLOB_ACCESS_KEY=" + s3.AccessKey, "FEEDMILL_BLOB_SECRET_KEY=" + s3.SecretKey}, onLoopback...)
	if postgres {
		common = append(common, onPostgres(pgtest.New(t))...)
	}
	data := filepath.Join(s.folder, "data")
	folder := filepath.Join(data, "files")
	places := longOr([]string{folder, s3.URL("one"), folder}, []string{folder, s3.URL("one"), s3.URL("two"), folder, s3.URL("one")})
	env := func(place string) []string {
		if place == folder {
			return common
		}
		return append(append([]string{}, common...), "FEEDMILL_BLOB_URL="+place)
	}
	p := s.serve(t, common, data)
	feeds := [2]string{s.newFeed(t, p), s.newFeed(t, p)}
	var at atomic.Pointer[string]
	var acknowledged [2]atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	defer writers.Wait()
	defer stop()
	at.Store(&p.url)
	for i, feed := range feeds {
		writers.Go(func() {
			for n := 1; ctx.Err() == nil; {
				status, text, err := request(ctx, sharedFirstKey, http.MethodPut, *at.Load()+"/data_feeds/"+feed+"/data?mode=merge&key=id", map[string]string{"Content-Type": "text/csv"},
					strings.NewReader(fmt.Sprintf("id,v\n%d,a\n%d,b\n", 2*n, 2*n+1)))
				switch {
				case err == nil && status == http.StatusOK:
					acknowledged[i].Store(int64(n))
					n++
				case err == nil && (status != http.StatusServiceUnavailable || !strings.Contains(text, "storage-unavailable")):
					t.Errorf("while files are moved: %d %s", status, text)
					return
				}
				time.Sleep(20 * time.Millisecond) // so that a feed has few files
			}
		})
	}
	written := func() {
		t.Helper()
		was := [2]int64{acknowledged[0].Load(), acknowledged[1].Load()}
		eventually(t, "rows are appended", func() bool { return acknowledged[0].Load() > was[0]+1 && acknowledged[1].Load() > was[1]+1 })
	}
	for i, to := range places[1:] {
		from := places[i]
		written()
		args := []string{"files", "copy", "--to=" + to, "--data=" + data}
		done := false
		for range longOr(1, 20) {
			done = done || s.interruptCopy(t, env(from), args)
		}
		if !done {
			if text := s.run(t, env(from), 0, args...); !strings.Contains(text, "Restart all servers") {
				t.Error(text)
			}
		}
		// The server that runs keeps what it has, and stores nothing more.
		status, text, err := request(t.Context(), sharedFirstKey, http.MethodPut, p.url+"/data_feeds/"+feeds[0]+"/data?mode=append", map[string]string{"Content-Type": "text/csv"}, strings.NewReader("id,v\n1,z\n"))
		if status != http.StatusServiceUnavailable || !strings.Contains(text, "restart it") || err != nil {
			t.Errorf("after the switch: %d %s, %v", status, text, err)
		}
		acked := [2]int64{acknowledged[0].Load(), acknowledged[1].Load()}
		p.mustStop(t)
		if old, err := launch(s.folder, env(from), "--data="+data); err == nil {
			old.kill()
			t.Fatal("a server starts with the former location")
		} else if !strings.Contains(err.Error(), "were moved to") {
			t.Error(err)
		}
		if text := s.run(t, env(from), 1, "files", "check", "--data="+data); !strings.Contains(text, "were moved to") {
			t.Error(text)
		}
		if text := s.run(t, env(from), 1, args...); !strings.Contains(text, "there already") {
			t.Error(text)
		}
		p = s.serve(t, env(to), data)
		at.Store(&p.url)
		s.run(t, env(to), 0, "files", "check", "--deep", "--data="+data)
		for i, feed := range feeds {
			rows := storedRows(t, p, feed)
			if batches := int64(len(rows)-1) / 2; len(rows)%2 != 1 || batches < acked[i] {
				t.Errorf("%s has %d rows of at least %d batches", to, len(rows), acked[i])
			}
		}
	}
	written()
	p.mustStop(t)

	// A target with other files, and one of another store, are refused, and stay as they are.
	other := &backupScene{folder: t.TempDir(), s3: s3}
	otherEnv := append([]string{sharedVaultKey, "FEEDMILL_BLOB_ACCESS_KEY=" + s3.AccessKey, "FEEDMILL_BLOB_SECRET_KEY=" + s3.SecretKey}, onLoopback...)
	o := other.serve(t, otherEnv, filepath.Join(other.folder, "data"))
	other.newFeed(t, o)
	o.mustStop(t)
	if err := os.MkdirAll(filepath.Join(s.folder, "taken", "files"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.folder, "taken", "files", "mine.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for to, want := range map[string]string{
		filepath.Join(other.folder, "data", "files"): "another store",
		filepath.Join(s.folder, "taken", "files"):    "not empty",
		filepath.Join(s.folder, "taken"):             `must be the folder files`,
		"s3://feeds/x?color=red":                     "unknown parameter",
		folder:                                       "there already",
	} {
		if text := s.run(t, common, 1, "files", "copy", "--to="+to, "--data="+data); !strings.Contains(text, want) {
			t.Errorf("%s: %s", to, text)
		}
	}
	other.run(t, otherEnv, 0, "files", "check", "--deep", "--data="+filepath.Join(other.folder, "data"))
}

// interruptCopy runs a command and kills it at a random time. It reports whether it had finished.
func (s *backupScene) interruptCopy(t *testing.T, env, args []string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond+rand.N(longOr(500*time.Millisecond, 2*time.Second)))
	defer cancel()
	cmd, err := command(ctx, s.folder, env, args...)
	if err != nil {
		t.Fatal(err)
	}
	text, err := cmd.CombinedOutput()
	if err != nil && ctx.Err() == nil && !bytes.Contains(text, []byte("there already")) {
		t.Fatalf("%v: %s", err, text)
	}
	return err == nil || bytes.Contains(text, []byte("there already"))
}
