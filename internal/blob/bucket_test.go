package blob_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/blob/s3test"
)

func openBucket(t *testing.T, s *s3test.Server, prefix, cache string, most int64) *blob.Bucket {
	t.Helper()
	return openStalling(t, s, prefix, cache, most, 0)
}

func openStalling(t *testing.T, s *s3test.Server, prefix, cache string, most int64, stall time.Duration) *blob.Bucket {
	t.Helper()
	at, err := blob.ParseLocation(s.URL(prefix))
	if err != nil {
		t.Fatal(err)
	}
	b, err := blob.OpenBucket(t.Context(), blob.BucketOptions{Location: at, AccessKey: s.AccessKey, SecretKey: s.SecretKey, Cache: cache, CacheBytes: most, StallTime: stall})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func putIn(t *testing.T, b *blob.Bucket, name string, content []byte) {
	t.Helper()
	if err := b.Put(t.Context(), name, func(w io.Writer) error { _, err := w.Write(content); return err }); err != nil {
		t.Fatal(err)
	}
}

func readFrom(t *testing.T, b *blob.Bucket, name string) []byte {
	t.Helper()
	file, err := b.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got, err := io.ReadAll(file)
	if err != nil || int64(len(got)) != file.Size() {
		t.Fatalf("read %d bytes of %d, %v", len(got), file.Size(), err)
	}
	return got
}

func cached(t *testing.T, folder string) (bytes int64) {
	t.Helper()
	err := filepath.Walk(folder, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// TestBucket writes through one replica and reads through another.
func TestBucket(t *testing.T) {
	s := s3test.New(t)
	one, two := openBucket(t, s, "a/b", t.TempDir(), 1<<30), openBucket(t, s, "a/b", t.TempDir(), 1<<30)
	other := openBucket(t, s, "", t.TempDir(), 1<<30)
	large := bytes.Repeat([]byte("0123456789abcdef"), 20<<20/16) // more than minio's limit for one part
	for name, content := range map[string][]byte{"df_1/a.parquet": large, "df_1/empty": nil, "df_2/ü b.csv": []byte("x")} {
		putIn(t, one, name, content)
		if got := readFrom(t, two, name); !bytes.Equal(got, content) {
			t.Errorf("%s has %d bytes, want %d", name, len(got), len(content))
		}
		if size, err := two.Size(t.Context(), name); size != int64(len(content)) || err != nil {
			t.Errorf("%s: size %d, %v", name, size, err)
		}
	}
	if stored, err := os.ReadFile(filepath.Join(s.Folder, "a/b/df_1/a.parquet")); err != nil || !bytes.Equal(stored, large) {
		t.Errorf("the object has %d bytes, %v", len(stored), err)
	}
	var names []string
	for name, err := range two.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if want := []string{"df_1/a.parquet", "df_1/empty", "df_2/ü b.csv"}; !slices.Equal(names, want) {
		t.Errorf("listed %q", names)
	}
	lease, err := two.Lease(t.Context(), "df_1/a.parquet")
	if err != nil {
		t.Fatal(err)
	}
	if err := two.Delete(t.Context(), "df_1/a.parquet"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(lease.Path); err != nil || !bytes.Equal(got, large) {
		t.Errorf("a leased file has %d bytes after it was deleted, %v", len(got), err)
	}
	lease.Release()
	for _, b := range []*blob.Bucket{two, other} {
		if _, err := b.Open(t.Context(), "df_1/a.parquet"); !errors.Is(err, feedmill.ErrNotFound) {
			t.Errorf("a deleted object: %v", err)
		}
		if err := b.Delete(t.Context(), "df_1/a.parquet"); err != nil {
			t.Errorf("deleting again: %v", err)
		}
		if _, err := b.Open(t.Context(), "../x"); err == nil {
			t.Error("a name that leads out was opened")
		}
	}
}

// TestColdReadersShareADownload has many readers ask for one file that no replica has cached.
func TestColdReadersShareADownload(t *testing.T) {
	s := s3test.New(t)
	content := bytes.Repeat([]byte("x"), 1<<20)
	putIn(t, openBucket(t, s, "", t.TempDir(), 1<<30), "df_1/a", content)
	cold := openBucket(t, s, "", t.TempDir(), 1<<30)
	var readers sync.WaitGroup
	for range 64 {
		readers.Go(func() {
			if got := readFrom(t, cold, "df_1/a"); !bytes.Equal(got, content) {
				t.Errorf("read %d bytes", len(got))
			}
		})
	}
	readers.Wait()
	if n := s.Requests(t, "s3_GetObject"); n != 1 {
		t.Errorf("%d downloads", n)
	}
}

// TestCacheHasALimit reads more than the cache may hold. Files in use stay.
func TestCacheHasALimit(t *testing.T) {
	s, folder := s3test.New(t), t.TempDir()
	const files, size, most = 10, 100_000, 350_000
	b := openBucket(t, s, "", folder, most)
	name := func(i int) string { return fmt.Sprintf("df_1/%d.parquet", i) }
	var leases []feedmill.FileLease
	for i := range files {
		putIn(t, b, name(i), bytes.Repeat([]byte{byte(i)}, size))
		if n := cached(t, folder); n > most {
			t.Errorf("%d bytes are cached after %d files", n, i+1)
		}
	}
	for i := range files {
		lease, err := b.Lease(t.Context(), name(i))
		if err != nil {
			t.Fatal(err)
		}
		leases = append(leases, lease)
	}
	for i, lease := range leases {
		if got, err := os.ReadFile(lease.Path); err != nil || !bytes.Equal(got, bytes.Repeat([]byte{byte(i)}, size)) {
			t.Errorf("a leased file has %d bytes, %v", len(got), err)
		}
		lease.Release()
		lease.Release() // has no effect
	}
	if n := cached(t, folder); n > most || n < most-size {
		t.Errorf("%d bytes are cached", n)
	}
	if got := readFrom(t, b, name(0)); !bytes.Equal(got, bytes.Repeat([]byte{0}, size)) {
		t.Errorf("a file that was removed from the cache has %d bytes", len(got))
	}

	// A removed file is downloaded again, and a new process keeps Parquet files.
	if err := os.RemoveAll(filepath.Join(folder, "df_1")); err != nil {
		t.Fatal(err)
	}
	putIn(t, b, "df_2/original", []byte("x"))
	if got := readFrom(t, b, name(0)); len(got) != size {
		t.Errorf("a file that was taken away has %d bytes", len(got))
	}
	again, before := openBucket(t, s, "", folder, most), s.Requests(t, "s3_GetObject")
	for range 2 {
		readFrom(t, again, name(0))
		readFrom(t, again, "df_2/original")
	}
	if n := s.Requests(t, "s3_GetObject") - before; n != 1 {
		t.Errorf("%d downloads after a restart", n)
	}
}

// TestDamagedObject changes an object. It is not cached.
func TestDamagedObject(t *testing.T) {
	s := s3test.New(t)
	putIn(t, openBucket(t, s, "", t.TempDir(), 1<<30), "df_1/a", []byte("text"))
	if err := os.WriteFile(filepath.Join(s.Folder, "df_1/a"), []byte("Text"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := openBucket(t, s, "", t.TempDir(), 1<<30)
	if _, err := b.Open(t.Context(), "df_1/a"); !errors.Is(err, feedmill.ErrDamaged) {
		t.Errorf("a damaged object: %v", err)
	}
	if err := os.WriteFile(filepath.Join(s.Folder, "df_1/a"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := readFrom(t, b, "df_1/a"); string(got) != "text" {
		t.Errorf("after it was restored: %s", got)
	}
}

// TestBucketOutage kills the server. What is cached stays readable, and nothing else changes.
func TestBucketOutage(t *testing.T) {
	s := s3test.New(t)
	b := openBucket(t, s, "", t.TempDir(), 1<<30)
	putIn(t, b, "df_1/a", []byte("text"))
	s.Kill()
	var problem *feedmill.Error
	err := b.Put(t.Context(), "df_1/b", func(w io.Writer) error { _, err := w.Write([]byte("x")); return err })
	if !errors.As(err, &problem) || problem.Type != "storage-unavailable" || b.Outage() == nil {
		t.Errorf("during an outage: %v, %v", err, b.Outage())
	}
	if got := readFrom(t, b, "df_1/a"); string(got) != "text" {
		t.Errorf("a cached file: %s", got)
	}
	if refused, err := b.Check(t.Context()); refused || err == nil {
		t.Errorf("a server that is away: %v, %v", refused, err)
	}
	s.Start(t)
	putIn(t, b, "df_1/b", []byte("x"))
	if b.Outage() != nil {
		t.Errorf("after the outage: %v", b.Outage())
	}
}

// TestFrozenBucket freezes the server: requests end, and later ones succeed.
func TestFrozenBucket(t *testing.T) {
	s := s3test.New(t)
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	putIn(t, openBucket(t, s, "", t.TempDir(), 1<<30), "df_1/a", content)
	b := openStalling(t, s, "", t.TempDir(), 1<<30, 300*time.Millisecond)
	s.Freeze(t)
	var problem *feedmill.Error
	if _, err := b.Open(t.Context(), "df_1/a"); !errors.As(err, &problem) || problem.Type != "storage-unavailable" {
		t.Errorf("a read of a frozen bucket: %v", err)
	}
	put := func() error {
		return b.Put(t.Context(), "df_1/b", func(w io.Writer) error { _, err := w.Write(content); return err })
	}
	if err := put(); !errors.As(err, &problem) || problem.Type != "storage-unavailable" {
		t.Errorf("a write to a frozen bucket: %v", err)
	}
	s.Thaw(t)
	err := put()
	for range 50 { // a busy machine can be as slow as a frozen server
		if err == nil {
			break
		}
		err = put()
	}
	if err != nil {
		t.Fatal(err)
	}
	b = openBucket(t, s, "", t.TempDir(), 1<<30)
	for _, name := range []string{"df_1/a", "df_1/b"} {
		if got := readFrom(t, b, name); !bytes.Equal(got, content) {
			t.Errorf("after the freeze %s has %d other bytes", name, len(got))
		}
	}
}

// TestBucketThatRefuses holds which errors refuse a start.
func TestBucketThatRefuses(t *testing.T) {
	s := s3test.New(t)
	good := s.URL("")
	for _, c := range []struct{ url, secret, want string }{
		{good, s.SecretKey, ""},
		{good, "wrong-secret", "access denied (403)"},
		{strings.Replace(good, "s3://feeds", "s3://other", 1), s.SecretKey, "does not exist (404)"},
		{strings.Replace(good, s3test.Region, "eu-central-1", 1), s.SecretKey, `another region than "eu-central-1"`},
	} {
		at, err := blob.ParseLocation(c.url)
		if err != nil {
			t.Fatal(err)
		}
		b, err := blob.OpenBucket(t.Context(), blob.BucketOptions{Location: at, AccessKey: s.AccessKey, SecretKey: c.secret, Cache: t.TempDir(), CacheBytes: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		refused, err := b.Check(t.Context())
		if refused != (c.want != "") || c.want != "" && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v", c.want, refused, err)
		}
		if err != nil && strings.Contains(err.Error(), c.secret) {
			t.Error("the error has the secret")
		}
	}
}

// TestBucketOfAnotherStore holds that one store has a prefix, and another one next to it.
func TestBucketOfAnotherStore(t *testing.T) {
	s := s3test.New(t)
	claim := func(prefix, store string, refused bool) *blob.Bucket {
		t.Helper()
		b := openBucket(t, s, prefix, t.TempDir(), 1)
		if err := b.Claim(t.Context(), store); (err != nil) != refused || err != nil && !strings.Contains(err.Error(), "files of another store (one), and this store is two") {
			t.Errorf("%s for %s: %v", prefix, store, err)
		}
		return b
	}
	claim("a", "one", false)
	claim("a", "one", false)
	two := claim("a", "two", true)
	claim("b", "two", false)
	if err := two.Delete(t.Context(), "df_1/a"); err == nil {
		t.Error("a file of another store was deleted")
	}
	for _, err := range two.List(t.Context()) {
		if err == nil {
			t.Error("files of another store were listed")
		}
	}
	// A server that starts during an outage claims the bucket later.
	s.Kill()
	later := claim("a", "two", false)
	s.Start(t)
	if err := later.Delete(t.Context(), "df_1/a"); err == nil {
		t.Error("a file of another store was deleted after an outage")
	}
}

func TestParseLocation(t *testing.T) {
	at, err := blob.ParseLocation("s3://feeds/a/b/?region=eu-central-1&endpoint=http://127.0.0.1:9000&pathStyle=true&role=instance")
	want := blob.Location{Bucket: "feeds", Prefix: "a/b", Region: "eu-central-1", Endpoint: "127.0.0.1:9000", Plain: true, PathStyle: true, Role: "instance"}
	if err != nil || at != want {
		t.Errorf("%+v, %v", at, err)
	}
	for text, want := range map[string]string{
		"https://feeds":                     "must have the form s3://",
		"s3:///a":                           "must have the form s3://",
		"s3://key:hunter2@feeds":            "must not contain credentials",
		"s3://feeds?region=a&region=b":      "region more than once",
		"s3://feeds?endpoint=127.0.0.1":     "endpoint must have the form",
		"s3://feeds?endpoint=https://u:p@h": "endpoint must have the form",
		"s3://feeds?pathStyle=1":            "pathStyle must be true or false",
		"s3://feeds?role=admin":             "role must be instance or container",
		"s3://feeds?secret=hunter2":         `unknown parameter "secret"`,
	} {
		if _, err := blob.ParseLocation(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
