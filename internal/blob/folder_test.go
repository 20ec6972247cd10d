package blob_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/blob"
)

// halfWay is set for a process that writes half of a blob, says so, and waits to be killed.
const halfWay = "BLOB_TEST_HALF_WAY"

func TestMain(m *testing.M) {
	if folder := os.Getenv(halfWay); folder != "" {
		writeHalf(folder)
	}
	os.Exit(m.Run())
}

func writeHalf(folder string) {
	f, err := blob.Open(folder)
	if err == nil {
		err = f.Put(context.Background(), "a/half", func(w io.Writer) error {
			if _, err := w.Write(make([]byte, 100_000)); err != nil {
				return err
			}
			fmt.Println("half")
			_, err := io.Copy(io.Discard, os.Stdin)
			return err
		})
	}
	fmt.Println(err)
	os.Exit(1)
}

func open(t *testing.T) (*blob.Folder, string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "blobs")
	f, err := blob.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, folder
}

func put(f *blob.Folder, name, text string) error {
	return f.Put(context.Background(), name, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

func names(t *testing.T, f *blob.Folder) []string {
	t.Helper()
	var out []string
	for name, err := range f.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, name)
	}
	return out
}

func TestPutAndRead(t *testing.T) {
	f, _ := open(t)
	if err := put(f, "df_1/v_1.parquet", "hello, world"); err != nil {
		t.Fatal(err)
	}
	b, err := f.Open(t.Context(), "df_1/v_1.parquet")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := f.Delete(t.Context(), "df_1/v_1.parquet"); err != nil {
		t.Fatal(err)
	}
	part := make([]byte, 5)
	if _, err := b.ReadAt(part, 7); err != nil || string(part) != "world" || b.Size() != 12 {
		t.Errorf("read %q of %d bytes, %v", part, b.Size(), err)
	}
	if err := f.Delete(t.Context(), "df_1/v_1.parquet"); err != nil {
		t.Errorf("deleting again: %v", err)
	}
	if _, err := f.Open(t.Context(), "df_1/v_1.parquet"); !errors.Is(err, feedmill.ErrNotFound) {
		t.Errorf("opening a deleted blob: %v", err)
	}
}

func TestLeaseLeadsToTheBytes(t *testing.T) {
	f, _ := open(t)
	if err := put(f, "a/b", "text"); err != nil {
		t.Fatal(err)
	}
	lease, err := f.Lease(t.Context(), "a/b")
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Release()
	if got, err := os.ReadFile(lease.Path); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
	if want := filepath.Join(f.Dir(), "a", "b"); lease.Path != want {
		t.Errorf("%s, want %s", lease.Path, want)
	}
	for _, name := range []string{"a", "a/c", "a/b/c"} {
		if _, err := f.Lease(t.Context(), name); !errors.Is(err, feedmill.ErrNotFound) {
			t.Errorf("path of %s: %v", name, err)
		}
		if _, err := f.Open(t.Context(), name); !errors.Is(err, feedmill.ErrNotFound) {
			t.Errorf("opening %s: %v", name, err)
		}
	}
}

func TestPutIsIfAbsent(t *testing.T) {
	f, _ := open(t)
	var wins sync.Map
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			err := put(f, "a/b", fmt.Sprint(i))
			if err == nil {
				wins.Store(fmt.Sprint(i), true)
			} else if !errors.Is(err, feedmill.ErrConflict) {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	b, err := f.Open(t.Context(), "a/b")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	got, err := io.ReadAll(b)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	wins.Range(func(_, _ any) bool { count++; return true })
	if _, won := wins.Load(string(got)); !won || count != 1 {
		t.Errorf("%d writers won, and %s stands there", count, got)
	}
	if n, err := f.Sweep(t.Context(), time.Now().Add(time.Hour)); n != 0 || err != nil {
		t.Errorf("%d temporary files were left, %v", n, err)
	}
}

var errBroken = errors.New("broken")

func TestPutThatFailsKeepsNothing(t *testing.T) {
	f, _ := open(t)
	err := f.Put(t.Context(), "a", func(w io.Writer) error {
		if _, err := io.WriteString(w, "half"); err != nil {
			return err
		}
		return errBroken
	})
	if !errors.Is(err, errBroken) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = f.Put(ctx, "a", func(io.Writer) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// An error of the source is not one of the store.
	err = f.Put(t.Context(), "a", func(io.Writer) error { return os.ErrNotExist })
	if errors.Is(err, feedmill.ErrNotFound) {
		t.Error(err)
	}
	if got := names(t, f); len(got) != 0 {
		t.Errorf("kept %v", got)
	}
	if n, err := f.Sweep(t.Context(), time.Now().Add(time.Hour)); n != 0 || err != nil {
		t.Errorf("%d temporary files were left, %v", n, err)
	}
}

func TestKilledWriterLeavesNoBlob(t *testing.T) {
	f, folder := open(t)
	writer := exec.CommandContext(t.Context(), os.Args[0])
	writer.Env = append(os.Environ(), halfWay+"="+folder)
	stdin, err := writer.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if line != "half\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if err := writer.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = writer.Wait() // killed
	if got := names(t, f); len(got) != 0 {
		t.Errorf("kept %v", got)
	}
	if n, err := f.Sweep(t.Context(), time.Now().Add(-time.Hour)); n != 0 || err != nil {
		t.Errorf("swept %d that are still young, %v", n, err)
	}
	if n, err := f.Sweep(t.Context(), time.Now().Add(time.Hour)); n != 1 || err != nil {
		t.Errorf("swept %d, %v", n, err)
	}
	if err := put(f, "a/half", "whole"); err != nil {
		t.Error(err)
	}
}

// The limit on the size of a file is the one way to a disk that refuses
// without a disk of one's own.
func TestDiskThatRefuses(t *testing.T) {
	f, _ := open(t)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	limit := was
	limit.Cur = 1 << 20
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Skip("file sizes cannot be limited:", err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was)
	err := f.Put(t.Context(), "big", func(w io.Writer) error {
		_, err := w.Write(bytes.Repeat([]byte{1}, 2<<20))
		return err
	})
	if !errors.Is(err, feedmill.ErrUnavailable) {
		t.Error(err)
	}
	if got := names(t, f); len(got) != 0 {
		t.Errorf("kept %v", got)
	}
}

func TestList(t *testing.T) {
	f, _ := open(t)
	all := []string{"a/1", "a/2", "ab/1", "b"}
	for _, name := range all {
		if err := put(f, name, name); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(t, f); !slices.Equal(got, all) {
		t.Errorf("there are %v", got)
	}
	for name, err := range f.List(t.Context()) {
		if err != nil || name != "a/1" {
			t.Errorf("%s, %v", name, err)
		}
		break // a list may be left early
	}
}

func TestClaim(t *testing.T) {
	f, folder := open(t)
	for _, c := range []struct {
		store   string
		refused bool
	}{{"one", false}, {"one", false}, {"two", true}, {"one", false}} {
		if err := f.Claim(t.Context(), c.store); (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), folder+" has the files of another store (one), and this store is two") {
			t.Errorf("%s: %v", c.store, err)
		}
	}
	if got := names(t, f); len(got) != 0 {
		t.Errorf("the claim is listed: %v", got)
	}
}

func TestNamesThatLeadNowhere(t *testing.T) {
	f, folder := open(t)
	if err := os.WriteFile(filepath.Join(filepath.Dir(folder), "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../secret", filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", ".", "/etc/passwd", "../secret", "a/../../secret", "a//b", ".tmp/x", "a/.b", "link"} {
		if b, err := f.Open(t.Context(), name); err == nil {
			b.Close()
			t.Errorf("opened %q", name)
		}
		if _, err := f.Lease(t.Context(), name); err == nil {
			t.Errorf("found %q", name)
		}
		if err := put(f, name, "x"); err == nil {
			t.Errorf("put %q", name)
		}
		if err := f.Delete(t.Context(), name); err == nil && name != "link" && !strings.HasPrefix(name, "a") {
			t.Errorf("deleted %q", name)
		}
	}
}
