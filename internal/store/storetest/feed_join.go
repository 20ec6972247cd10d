package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

var filesCases = []testCase{
	{name: "files are joined in all versions from one on that have them", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx, at := open(t), t.Context(), now()
		f := makeVersions(t, s, at, 1)
		name := func(i int) string { return fmt.Sprintf("%s/%d", f.ID, i) }
		var files []feedmill.VersionFile
		for i := range feedmill.CrowdedFiles + 1 {
			crowded, err := s.CrowdedVersions(ctx, 10)
			must(t, err)
			equal(t, "crowded", 0, len(crowded))
			files = append(files, feedmill.VersionFile{Name: name(i), Rows: 1, Bytes: 10})
			v, r := nextVersion(f)
			v.Files = files
			f, err = s.SwitchVersion(ctx, f.Workspace, v, r, telling("refreshed"))
			must(t, err)
		}
		crowded, err := s.CrowdedVersions(ctx, 10)
		must(t, err)
		last := feedmill.VersionRef{Workspace: f.Workspace, Feed: f.ID, Number: f.Version}
		equal(t, "crowded", []feedmill.VersionRef{last}, crowded)

		// While the files were joined came one more version.
		v, r := nextVersion(f)
		v.Files = append(files, feedmill.VersionFile{Name: name(99), Rows: 1, Bytes: 10})
		f, err = s.SwitchVersion(ctx, f.Workspace, v, r, telling("refreshed"))
		must(t, err)
		joined := feedmill.VersionFile{Name: "joined", Rows: 8, Bytes: 15}
		var run []string
		for i := range feedmill.CrowdedFiles {
			run = append(run, name(i+1))
		}
		take := func(v feedmill.FeedVersion, file *feedmill.VersionFile) bool {
			file.Sum = fmt.Sprint(v.Number)
			return true
		}
		must(t, s.JoinFiles(ctx, last, run, joined, take))
		for i, wanted := range [][]string{{name(0), "joined"}, {name(0), "joined", name(99)}} {
			v, err := s.FeedVersion(ctx, f.Workspace, f.ID, last.Number+int64(i))
			must(t, err)
			equal(t, "files", wanted, v.FileNames())
			equal(t, "bytes", int64(25+10*i), v.Bytes)
			equal(t, "what take says", fmt.Sprint(v.Number), v.Files[1].Sum)
		}
		got, err := s.Feed(ctx, f.Workspace, f.ID)
		must(t, err)
		equal(t, "bytes of the feed", 35, got.ByteSize)
		before, err := s.FeedVersion(ctx, f.Workspace, f.ID, last.Number-1)
		must(t, err)
		equal(t, "an older one", feedmill.CrowdedFiles, len(before.Files))
		unused, err := s.UnusedFiles(ctx, []string{"joined", name(0), name(1), name(feedmill.CrowdedFiles)})
		must(t, err)
		equal(t, "unused", []string{name(feedmill.CrowdedFiles)}, unused)
		crowded, err = s.CrowdedVersions(ctx, 10)
		must(t, err)
		equal(t, "crowded", 0, len(crowded))

		want(t, s.JoinFiles(ctx, last, run, joined, take), feedmill.ErrConflict)
		want(t, s.JoinFiles(ctx, last, []string{"joined"}, joined, func(feedmill.FeedVersion, *feedmill.VersionFile) bool { return false }), feedmill.ErrConflict)
		err = s.DeleteFeed(ctx, f.Workspace, f.ID, at, nil)
		must(t, err)
		want(t, s.JoinFiles(ctx, last, []string{"joined"}, joined, take), feedmill.ErrConflict)
		_, _, err = s.ForgetVersions(ctx, at.Add(time.Hour), 100)
		must(t, err)
	}},
}
