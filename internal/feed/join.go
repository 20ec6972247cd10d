package feed

import (
	"context"
	"errors"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

// JoinFiles joins files of versions that have many, a few versions at a time. Nobody
// who reads sees a difference.
func (f *Feeds) JoinFiles(ctx context.Context) (more bool, err error) {
	const step = 10
	crowded, err := f.Store.CrowdedVersions(ctx, step)
	if err != nil {
		return false, err
	}
	damaged := 0
	for _, of := range crowded {
		v, err := f.Store.FeedVersion(ctx, of.Workspace, of.Feed, of.Number)
		if errors.Is(err, feedmill.ErrNotFound) {
			continue // it was deleted meanwhile
		}
		if err == nil {
			_, err = f.join(share.InBackground(ctx, string(of.Workspace)), of.Workspace, v, filesToJoin(v.Files))
		}
		if errors.Is(err, feedmill.ErrDamaged) { // which keeps no other from being joined
			damaged++
		} else if err != nil && !errors.Is(err, feedmill.ErrConflict) {
			return false, err
		}
	}
	return len(crowded) == step && damaged < step, nil
}

// filesToJoin is how many files of a version stay as they are, from the first on: the
// others are joined. A file is joined with those behind it where they have half as many rows
// together, so that a row is written again only when what it lies in has grown by half. At
// most half as many files stay as a version may have.
func filesToJoin(files []feedmill.VersionFile) (first int) {
	first = len(files) - 1
	joined := files[first].Rows
	for first > 0 && (first >= feedmill.CrowdedFiles/2 || files[first-1].Rows <= 2*joined) {
		first--
		joined += files[first].Rows
	}
	return first
}

// join writes the rows of a version's files from one on to one file, which takes their
// place in all versions from this one on that have them. It returns the version as it is
// then.
func (f *Feeds) join(ctx context.Context, workspace feedmill.ID, v feedmill.FeedVersion, first int) (feedmill.FeedVersion, error) {
	if first >= len(v.Files)-1 {
		return v, nil
	}
	if err := f.replaceFiles(ctx, workspace, v, first); err != nil {
		return v, err
	}
	return f.Store.FeedVersion(ctx, workspace, v.Feed, v.Number)
}

// replaceFiles is join for any number of files.
func (f *Feeds) replaceFiles(ctx context.Context, workspace feedmill.ID, v feedmill.FeedVersion, first int) error {
	if err := f.Room.Disk.Check(); err != nil {
		return err
	}
	name := string(v.Feed) + "/" + strings.TrimPrefix(string(feedmill.NewID(feedmill.PrefixRefresh)), feedmill.PrefixRefresh+"_") + "-joined.parquet"
	joined, err := f.Reader.Join(ctx, name, lakeVersion(v), first)
	if err != nil {
		return err
	}
	files := v.FileNames()[first:]
	replaced := make([]feedmill.UnreferencedFile, len(files))
	for i, file := range v.Files[first:] {
		replaced[i] = feedmill.UnreferencedFile{Name: file.Name, Bytes: file.Bytes}
	}
	of := feedmill.VersionRef{Workspace: workspace, Feed: v.Feed, Number: v.Number}
	err = f.Store.JoinFiles(ctx, of, files, joined.Files[0], func(in feedmill.FeedVersion, file *feedmill.VersionFile) bool {
		as, ok := joined.FileIn(in.Columns)
		*file = as
		return ok
	})
	if err != nil {
		f.dropJoined(name, err)
		return err
	}
	if err := f.markUnreferenced(ctx, replaced); err != nil {
		f.Log.Warn("joined files could not be deleted; the next sweep deletes them", "feed", v.Feed, "error", err)
	}
	return nil
}

// dropJoined removes a file that the store did not take. Where the store cannot say
// whether it did, the file stays: it is swept if it did not.
func (m *Mill) dropJoined(name string, cause error) {
	if errors.Is(cause, feedmill.ErrConflict) || errors.Is(cause, feedmill.ErrNotFound) {
		m.remove(name)
	}
}
