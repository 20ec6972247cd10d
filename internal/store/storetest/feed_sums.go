package storetest

import (
	"testing"

	"github.com/feedmill/feedmill"
)

// sumsCases hold the sums of files to being written once and to going with the files.
var sumsCases = []testCase{
	{name: "sums are kept once for all versions of a file", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		f, other := makeVersions(t, s, now(), 1), makeVersions(t, s, now(), 1)
		name, mine := string(f.ID)+"/summed", feedmill.FileSums{SHA256: "aa", Footer: "bb"}
		_, err := s.StoredFile(ctx, name)
		want(t, err, feedmill.ErrNotFound)
		for range 2 { // the second shares the file and does not know its sums
			v, r := nextVersion(f)
			v.Files = []feedmill.VersionFile{{Name: name, Rows: 1, Bytes: 10, Sums: mine}}
			if f.Version > 1 {
				v.Files[0].Sums = feedmill.FileSums{}
			}
			f, err = s.SwitchVersion(ctx, f.Workspace, v, r, telling("refreshed"))
			must(t, err)
		}
		got, err := s.StoredFile(ctx, name)
		must(t, err)
		equal(t, "a file with sums", feedmill.StoredFile{Name: name, Feed: f.ID, First: 2, Last: 3, Sums: mine}, got)
		must(t, s.NoteVerified(ctx, name, feedmill.FileSums{SHA256: "cc", Footer: "dd"}))
		got, err = s.StoredFile(ctx, name)
		must(t, err)
		equal(t, "sums that stay", mine, got.Sums)

		first, err := s.FeedVersion(ctx, other.Workspace, other.ID, 1)
		must(t, err)
		must(t, s.NoteVerified(ctx, first.Files[0].Name, mine))
		got, err = s.StoredFile(ctx, first.Files[0].Name)
		must(t, err)
		equal(t, "sums of a file that had none", mine, got.Sums)
		all, err := s.UnverifiedFiles(ctx, "", 9)
		must(t, err)
		equal(t, "files to verify", 0, len(all))
	}},
	{name: "files of a source are those of its feeds' current versions", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		source, feeds := makeSource(t, s, newWorkspace(t, s).ID, 2)
		other, _ := makeSource(t, s, source.Workspace, 1)
		for _, name := range []string{"old", "new"} {
			v, r := nextVersion(feeds[0])
			v.Files = []feedmill.VersionFile{{Name: name, Rows: 1, Bytes: 10}}
			var err error
			feeds[0], err = s.SwitchVersion(ctx, source.Workspace, v, r, telling("refreshed"))
			must(t, err)
		}
		got, err := s.SourceFiles(ctx, source.Workspace, source.ID)
		must(t, err)
		equal(t, "files", []string{"new"}, got)
		got, err = s.SourceFiles(ctx, source.Workspace, other.ID)
		must(t, err)
		equal(t, "files of a source without versions", 0, len(got))
		got, err = s.CurrentFiles(ctx, "", 9)
		must(t, err)
		equal(t, "files of all feeds", []string{"new"}, got)
		got, err = s.CurrentFiles(ctx, "new", 9)
		must(t, err)
		equal(t, "files behind the last", 0, len(got))
	}},
	{name: "sums go with their file", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx, at := open(t), t.Context(), now()
		f := makeVersions(t, s, at, 1)
		of := feedmill.VersionRef{Workspace: f.Workspace, Feed: f.ID, Number: 1}
		keep := func(name, sum string) {
			t.Helper()
			_, err := s.KeepExport(ctx, of, feedmill.VersionFile{Name: name + feedmill.ExportSuffix, Bytes: 10, Sums: feedmill.FileSums{SHA256: sum, Footer: sum}}, "", 1)
			must(t, err)
		}
		keep("a", "aa")
		keep("b", "bb")
		_, err := s.StoredFile(ctx, "a"+feedmill.ExportSuffix)
		want(t, err, feedmill.ErrNotFound)
		keep("b", "cc") // it was written again
		got, err := s.StoredFile(ctx, "b"+feedmill.ExportSuffix)
		must(t, err)
		equal(t, "sums of a new export", "cc", got.Sums.SHA256)

		v, err := s.FeedVersion(ctx, f.Workspace, f.ID, 1)
		must(t, err)
		file := v.Files[0].Name
		must(t, s.EndDeleting(ctx, []string{file}))
		_, err = s.StoredFile(ctx, file)
		must(t, err) // a version has it
		err = s.DeleteFeed(ctx, f.Workspace, f.ID, at, nil)
		must(t, err)
		_, _, err = s.ForgetVersions(ctx, at.Add(feedmill.KeepDeletedFor*2), 100)
		must(t, err)
		must(t, s.EndDeleting(ctx, []string{file, "b" + feedmill.ExportSuffix}))
		_, err = s.StoredFile(ctx, file)
		want(t, err, feedmill.ErrNotFound)
	}},
}
