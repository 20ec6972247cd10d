package lake

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/share"
)

// Reader reads versions.
type Reader struct {
	blobs Blobs
	pool  *Pool
}

// NewReader makes a reader of versions that are kept in blobs.
func NewReader(blobs Blobs, pool *Pool) *Reader { return &Reader{blobs: blobs, pool: pool} }

// Spools are the bytes that rows may take on disk while they wait for clients.
func (r *Reader) Spools() *share.Budget { return r.pool.spools }

// Page says what was read.
type Page struct {
	Rows int64
	// Next is where to go on, or nil where there is nothing more.
	Next *Cursor
}

// Read writes the rows of a query over a version to out, in a format. after is
// where the page before ended, or nil. Nothing is written before the query has
// been found to be right and has given its first rows.
func (r *Reader) Read(ctx context.Context, v *Version, q feedmill.Query, format wire.Format, after *Cursor, out io.Writer) (Page, error) {
	request, err := Plan(v, "", q, format, after)
	if err != nil {
		return Page{}, fmt.Errorf("read version: %w", err)
	}
	request.Files = lentFiles(v.Files)
	tree, _ := query.Resolve(q, v.Columns) // without faults, or there would be no plan
	if after == nil {
		if end, ok, err := r.readHead(ctx, v, tree, q, format, out); ok {
			if err != nil {
				return Page{}, fmt.Errorf("read version: %w", err)
			}
			return pageOf(v, &q, tree, end), nil
		}
	}
	end, err := r.runSorted(ctx, v, &statement{tree: tree, version: v}, after, request, out)
	if err != nil {
		return Page{}, fmt.Errorf("read version: %w", err)
	}
	return pageOf(v, &q, tree, end), nil
}

// pageOf is the page that a worker has read.
func pageOf(v *Version, q *feedmill.Query, tree *query.Tree, end wire.End) Page {
	page := Page{Rows: end.Rows}
	if end.Next != nil {
		next := NextPage(v, q, end.Next)
		next.shorten(tree.Sort)
		page.Next = &next
	}
	return page
}

// Count counts the rows that a query would give.
func (r *Reader) Count(ctx context.Context, v *Version, q feedmill.Query) (int64, error) {
	request, err := PlanCount(v, "", q)
	if err != nil {
		return 0, fmt.Errorf("count rows: %w", err)
	}
	request.Files = lentFiles(v.Files)
	var out bytes.Buffer
	if _, err := r.runRequest(ctx, request, &out); err != nil {
		return 0, fmt.Errorf("count rows: %w", err)
	}
	var answer struct {
		Count int64 `json:"count"`
	}
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		return 0, fmt.Errorf("count rows: %w", err)
	}
	return answer.Count, nil
}

// CheckFiles fails where files of a version are not here, or damaged.
func (r *Reader) CheckFiles(ctx context.Context, v *Version) error {
	_, release, err := r.lease(ctx, lentFiles(v.Files))
	release()
	return err
}

// lentFiles are what a worker calls files, and the names of their blobs.
func lentFiles(of []feedmill.VersionFile) map[string]string {
	files := make(map[string]string, len(of))
	for i := range of {
		files[lentName(of[i].Name)] = of[i].Name
	}
	return files
}

// lease finds where files are, which stay there until they are released.
func (r *Reader) lease(ctx context.Context, files map[string]string) (paths map[string]string, release func(), err error) {
	paths = make(map[string]string, len(files))
	var leases []feedmill.FileLease
	release = func() {
		for _, l := range leases {
			l.Release()
		}
	}
	for lent, name := range files {
		l, err := r.blobs.Lease(ctx, name)
		if err != nil {
			return nil, release, Elsewhere(err)
		}
		leases, paths[lent] = append(leases, l), l.Path
	}
	return paths, release, nil
}

// run has a worker run a request, with a lease on its files.
func (r *Reader) run(ctx context.Context, request wire.Request, out io.Writer) (wire.End, error) {
	paths, release, err := r.lease(ctx, request.Files)
	defer release()
	if err != nil {
		return wire.End{}, err
	}
	request.Files = paths
	return r.pool.Run(ctx, request, out)
}

// spoolMemory is how many bytes wait in memory for a client, before they wait on disk.
const spoolMemory = 4 << 20

// runRequest runs a request and gives the rows to out, without keeping the worker
// longer than it works.
func (r *Reader) runRequest(ctx context.Context, request wire.Request, out io.Writer) (wire.End, error) {
	s := newSpool(spoolMemory, r.pool.config.TempBytes, r.pool.config.Temp)
	holder := share.Holder(ctx)
	// If the disk has no room, the worker waits for the client.
	s.take = func(n int64) bool { return r.pool.config.TakeDisk(n) == nil && r.pool.spools.Take(holder, n) }
	s.give = func(n int64) { r.pool.spools.Give(holder, n) }
	var end wire.End
	var worker sync.WaitGroup
	worker.Go(func() {
		var err error
		end, err = r.run(ctx, request, s)
		s.end(err)
	})
	stop := context.AfterFunc(ctx, func() { s.abandon(context.Cause(ctx)) })
	defer stop()
	err := s.copyTo(out)
	worker.Wait()
	return end, errors.Join(err, s.close())
}
