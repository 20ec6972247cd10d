package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/feedmill/feedmill"
)

// The problems of files.
const (
	missing = "missing"
	damaged = "damaged: its checksum does not match"
)

// copies is how many files are copied concurrently.
const copies = 4

// sumFile reads a file and returns its size and checksum.
func sumFile(ctx context.Context, in Files, name string) (p Part, err error) {
	file, err := in.Open(ctx, name)
	if err != nil {
		return p, err
	}
	defer file.Close()
	return copyTo(ctx, file, io.Discard)
}

func copyTo(ctx context.Context, from io.Reader, to io.Writer) (Part, error) {
	sum := sha256.New()
	n, err := io.CopyBuffer(io.MultiWriter(to, sum), contextReader{ctx, from}, make([]byte, 1<<20))
	return Part{Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}

// contextReader ends with its context.
type contextReader struct {
	ctx context.Context
	of  io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.of.Read(p)
}

// mismatch is why a file that was read is not the one that is known, empty if it is.
func mismatch(f feedmill.KeptFile, got Part) string {
	switch {
	case f.Bytes >= 0 && f.Bytes != got.Bytes:
		return fmt.Sprintf("damaged: it has %d bytes instead of %d", got.Bytes, f.Bytes)
	case f.SHA256 != "" && f.SHA256 != got.SHA256:
		return damaged
	}
	return ""
}

// problem is the problem of a file that could not be read, empty if the error is another one.
func problem(err error) string {
	switch {
	case errors.Is(err, feedmill.ErrNotFound):
		return missing
	case errors.Is(err, feedmill.ErrDamaged):
		return damaged
	}
	return ""
}

// copyFile copies a file, unless it is not as it is known: then it returns the problem.
func copyFile(ctx context.Context, from Files, f feedmill.KeptFile, to Files, name string, source string) (got Part, found string, err error) {
	file, err := from.Open(ctx, source)
	if err != nil {
		if found := problem(err); found != "" {
			return got, found, nil
		}
		return got, "", fmt.Errorf("%s: %w", source, err)
	}
	defer file.Close()
	draft, err := to.Begin(name)
	if err != nil {
		return got, "", err
	}
	defer draft.Close()
	if got, err = copyTo(ctx, file, draft); err != nil {
		return got, "", fmt.Errorf("%s: %w", source, err)
	}
	if found := mismatch(f, got); found != "" {
		return got, found, nil
	}
	if err := draft.Keep(ctx); err != nil {
		return got, "", fmt.Errorf("%s: %w", name, err)
	}
	return got, "", nil
}

// has reports whether a target has a file that is as it is known. Another file with the name is
// removed, such as one that was damaged. A file of which no checksum is known is never as known.
func has(ctx context.Context, to Files, name string, f feedmill.KeptFile) (got Part, same bool, err error) {
	if f.SHA256 != "" {
		if got, err = sumFile(ctx, to, name); err == nil && mismatch(f, got) == "" {
			return got, true, nil
		}
		if err != nil && problem(err) == "" {
			return got, false, err
		}
	}
	return Part{}, false, to.Delete(ctx, name)
}

// each calls do for every file, several at a time, and collects what it finds.
func each(ctx context.Context, n int, do func(ctx context.Context, i int) (*Finding, error)) error {
	var mu sync.Mutex
	var found Findings
	g, working := errgroup.WithContext(ctx)
	g.SetLimit(copies)
	for i := range n {
		if working.Err() != nil {
			break
		}
		g.Go(func() error {
			finding, err := do(working, i)
			if finding != nil {
				mu.Lock()
				defer mu.Unlock()
				found = append(found, *finding)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(found) > 0 {
		return found.sorted()
	}
	return nil
}
