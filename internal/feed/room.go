package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

// Room is how much may be written to the disk. The zero value has no bounds.
type Room struct {
	// Disk is how much of the disk stays free.
	Disk *Floor
	// Most is how many bytes the files of a workspace may take that has no quota of its own,
	// zero for any number, and Stored knows the quotas and what there is.
	Most   int64
	Stored interface {
		WorkspaceByID(ctx context.Context, id feedmill.ID) (feedmill.Workspace, error)
		// StoredFiles adds up the files of a workspace, and names the originals
		// that an earlier release stored and that were not measured since.
		StoredFiles(ctx context.Context, workspace feedmill.ID) (bytes int64, unmeasured []string, err error)
		// MeasureOriginal notes the size of such an original.
		MeasureOriginal(ctx context.Context, original string, bytes int64) error
	}
	// Count, where it is set, is told what the files of a workspace take.
	Count func(workspace feedmill.ID, bytes int64)
}

// checkStored fails where the files of a workspace take all that they may, and
// returns how many bytes more they may take, uploads under way included.
func (m *Mill) checkStored(ctx context.Context, workspace feedmill.ID, kind error) (left, most int64, err error) {
	most, err = m.Room.most(ctx, workspace)
	if err != nil || most < 0 {
		return 1 << 62, most, err
	}
	stored, unmeasured, err := m.Room.Stored.StoredFiles(ctx, workspace)
	if err != nil {
		return 0, most, fmt.Errorf("read the stored bytes of a workspace: %w", err)
	}
	for _, name := range unmeasured {
		size, err := m.size(ctx, name)
		if errors.Is(err, feedmill.ErrNotFound) {
			continue
		}
		if err == nil {
			err = m.Room.Stored.MeasureOriginal(ctx, name, size)
		}
		if err != nil {
			return 0, most, fmt.Errorf("measure what a workspace has stored: %w", err)
		}
		stored += size
	}
	if m.Room.Count != nil {
		m.Room.Count(workspace, stored)
	}
	left = most - stored
	if left <= m.arriving.of(workspace) {
		return 0, most, quotaReached(kind, most)
	}
	return left, most, nil
}

// most is how many bytes the files of a workspace may take, negative for any number.
func (r Room) most(ctx context.Context, workspace feedmill.ID) (int64, error) {
	if r.Stored == nil {
		return -1, nil
	}
	w, err := r.Stored.WorkspaceByID(ctx, workspace)
	if err != nil && !errors.Is(err, feedmill.ErrNotFound) {
		return 0, fmt.Errorf("read the quotas of a workspace: %w", err)
	}
	if own := w.Quotas.StoredBytes; own != nil {
		return *own, nil
	}
	if r.Most <= 0 {
		return -1, nil
	}
	return r.Most, nil
}

func quotaReached(kind error, most int64) error {
	return &feedmill.Error{
		Kind: kind, Type: "stored-bytes", Transient: true,
		Detail: fmt.Sprintf("The feeds of this workspace use all of their %d bytes on disk. Delete feeds, keep fewer versions, or ask the operator to raise the quota or maxStoredBytes.", most),
	}
}

// arriving counts the bytes of uploads under way, by workspace.
type arriving struct {
	mu    sync.Mutex
	bytes map[feedmill.ID]int64
}

func (a *arriving) of(workspace feedmill.ID) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.bytes[workspace]
}

func (a *arriving) add(workspace feedmill.ID, n int64) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.bytes == nil {
		a.bytes = make(map[feedmill.ID]int64)
	}
	if a.bytes[workspace] += n; a.bytes[workspace] == 0 {
		delete(a.bytes, workspace)
	}
	return a.bytes[workspace]
}

// roomyBody is the body of an upload as long as there is room for it.
type roomyBody struct {
	io.Reader
	mill      *Mill
	workspace feedmill.ID
	// left is how many bytes the uploads of the workspace may bring together, and most its quota.
	left, most int64
	read       int64
}

// roomFor begins to count an upload. What is stored is not kept past its bounds.
func (m *Mill) roomFor(ctx context.Context, body io.Reader, stored bool) (*roomyBody, error) {
	b := &roomyBody{Reader: body, mill: m, workspace: feedmill.ID(share.Holder(ctx)), left: 1 << 62}
	if err := m.Room.Disk.Check(); err != nil {
		return nil, err
	}
	if stored {
		left, most, err := m.checkStored(ctx, b.workspace, feedmill.ErrConflict)
		if err != nil {
			return nil, err
		}
		b.left, b.most = left, most
	}
	return b, nil
}

func (b *roomyBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.read += int64(n)
	if b.mill.arriving.add(b.workspace, int64(n)) > b.left {
		return 0, quotaReached(feedmill.ErrConflict, b.most)
	}
	return n, err
}

// end says that the upload is stored, or never will be.
func (b *roomyBody) end() { b.mill.arriving.add(b.workspace, -b.read) }
