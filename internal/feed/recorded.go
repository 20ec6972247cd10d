package feed

import (
	"context"
	"io"
	"time"
)

// Objects records files before they are written.
type Objects interface {
	BeginObject(ctx context.Context, name, holder, location string) error
	RenewObjects(ctx context.Context, holder string) error
	ForgetObject(ctx context.Context, name string) error
}

// RecordedFiles are files that have a row in the store from before their first byte is
// written, so that a file that no record names is always found again.
type RecordedFiles struct {
	Files
	objects Objects
	// location is where the store has its files, as this process was started with it.
	holder, location string
}

// NewRecordedFiles records files as those of a holder, which is this process, at a location.
func NewRecordedFiles(files Files, objects Objects, holder, location string) *RecordedFiles {
	return &RecordedFiles{files, objects, holder, location}
}

// Renew extends the lease on the files that this process writes.
func (r *RecordedFiles) Renew(ctx context.Context) error {
	return r.objects.RenewObjects(ctx, r.holder)
}

// Put writes a blob, whole or not at all.
func (r *RecordedFiles) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	return r.record(ctx, name, func() error { return r.Files.Put(ctx, name, write) })
}

// Begin begins a blob, which is recorded when it is kept.
func (r *RecordedFiles) Begin(name string) (Draft, error) {
	draft, err := r.Files.Begin(name)
	if err != nil {
		return nil, err
	}
	return &recordedDraft{draft, r, name}, nil
}

// Discard deletes a file that no record has.
func (r *RecordedFiles) Discard(ctx context.Context, name string) error {
	if err := r.Files.Delete(ctx, name); err != nil {
		return err
	}
	return r.objects.ForgetObject(ctx, name)
}

// record writes a file after its row. If that fails, nothing is left of the file, and the row is
// removed. A row that cannot be removed expires with its lease.
func (r *RecordedFiles) record(ctx context.Context, name string, write func() error) error {
	if err := r.objects.BeginObject(ctx, name, r.holder, r.location); err != nil {
		return err
	}
	err := write()
	if err != nil {
		const forgetTime = 5 * time.Second
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), forgetTime)
		defer cancel()
		_ = r.objects.ForgetObject(ctx, name)
	}
	return err
}

type recordedDraft struct {
	Draft
	files *RecordedFiles
	name  string
}

// Keep makes a blob of what was written.
func (d *recordedDraft) Keep(ctx context.Context) error {
	return d.files.record(ctx, d.name, func() error { return d.Draft.Keep(ctx) })
}
