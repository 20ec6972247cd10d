package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// numbered is data whose every row says which upload it is of, so that a mixture
// shows. Later uploads are longer.
func numbered(upload int) client.Upload {
	var b strings.Builder
	b.WriteString("upload,row\n")
	for row := range 1000 * (upload%20 + 1) {
		fmt.Fprintf(&b, "%d,%d\n", upload, row)
	}
	return client.Upload{Data: strings.NewReader(b.String()), Format: "csv"}
}

// checkNumbered reads a feed and returns which upload it is of.
func checkNumbered(t *testing.T, c *client.Client, feed string) (upload int) {
	t.Helper()
	rows, err := c.ReadData(t.Context(), feed, client.RowQuery{Format: "csv"})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	lines := bufio.NewScanner(rows)
	n := -1
	for ; lines.Scan(); n++ {
		if n < 0 {
			continue
		}
		var of, row int
		if _, err := fmt.Sscanf(lines.Text(), "%d,%d", &of, &row); err != nil || row != n || n > 0 && of != upload {
			t.Fatalf("row %d is %q, in upload %d: %v", n, lines.Text(), upload, err)
		}
		upload = of
	}
	if err := lines.Err(); err != nil || n != 1000*(upload%20+1) {
		t.Fatalf("%d rows of upload %d: %v", n, upload, err)
	}
	return upload
}

// dataFiles counts the files of feeds in a data folder.
func dataFiles(t *testing.T, folder string) (n int) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(folder, "files"), func(_ string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && entry.Name() != ".store" {
			n++
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went meanwhile
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestFeedsOutliveKills uploads to one feed and kills the program in the middle.
// What was acknowledged last, or an upload that was under way, is there whole;
// and the files of those that were not finished are deleted a day later.
func TestFeedsOutliveKills(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	data := filepath.Join(folder, "data")
	begin := func() *process {
		p, err := launch(folder, nil, "--data="+data)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := begin()
	key := p.mustFirstKey(t)
	feed, err := p.client(key).CreateDataFeed(t.Context(), numbered(0))
	if err != nil {
		t.Fatal(err)
	}
	next := 1
	for range longOr(4, 200) {
		ctx, cancel := context.WithCancel(t.Context())
		acknowledged, tried := 0, next-1
		var uploading sync.WaitGroup
		uploading.Go(func() {
			c := p.client(key)
			c.Tries = 1
			for ; ctx.Err() == nil; next++ {
				tried = next
				if _, err := c.ReplaceData(ctx, feed.ID, numbered(next)); err != nil {
					next++
					return
				}
				acknowledged = next
			}
		})
		time.Sleep(time.Duration(rand.IntN(int(600 * time.Millisecond))))
		p.kill()
		cancel()
		uploading.Wait()
		p = begin()
		if got := checkNumbered(t, p.client(key), feed.ID); got < acknowledged || got > tried {
			t.Errorf("upload %d is there; %d was acknowledged, and %d begun", got, acknowledged, tried)
		}
	}
	defer func() { p.kill() }()
	now, err := p.client(key).DataFeed(t.Context(), feed.ID)
	if err != nil {
		t.Fatal(err)
	}
	// Of every version there are the original and the table.
	p = sweptAfterADay(t, nil, data, p, begin, func() int { return 2 * int(now.Version) })
	checkNumbered(t, p.client(key), feed.ID)
}

// TestUploadToAFullDisk holds that an upload that does not fit is refused for the
// time being, and leaves what is there alone. Nothing of the disk is kept free, so that
// it is the disk that refuses.
func TestUploadToAFullDisk(t *testing.T) {
	t.Parallel()
	d := newDisk(t, "32m")
	p := d.serve(t, "FEEDMILL_MIN_FREE_DISK=0")
	key := p.mustFirstKey(t)
	c := p.client(key)
	c.Tries = 1
	feed, err := c.CreateDataFeed(t.Context(), numbered(0))
	if err != nil {
		t.Fatal(err)
	}
	// Long texts take room and are read fast.
	rows := strings.Repeat(strings.Repeat("x", 1023)+"\n", 40<<10)
	large := func() client.Upload { return client.Upload{Data: strings.NewReader("n\n" + rows), Format: "csv"} }
	for range 2 {
		if _, err := c.CreateDataFeed(t.Context(), large()); !errors.Is(err, feedmill.ErrNoRoom) {
			t.Errorf("an upload that does not fit: %v", err)
		}
		if _, err := c.ReplaceData(t.Context(), feed.ID, large()); !errors.Is(err, feedmill.ErrNoRoom) {
			t.Errorf("new data that does not fit: %v", err)
		}
	}
	if n := dataFiles(t, d.path("data")); n != 2 {
		t.Errorf("%d files are there", n)
	}
	checkNumbered(t, c, feed.ID)
	if _, err := c.ReplaceData(t.Context(), feed.ID, numbered(1)); err != nil {
		t.Error(err)
	}
	if got := checkNumbered(t, c, feed.ID); got != 1 {
		t.Errorf("upload %d is there", got)
	}
}
