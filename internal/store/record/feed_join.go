package record

import (
	"context"
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
)

// CrowdedVersions lists current versions that have many files.
func (s Store) CrowdedVersions(ctx context.Context, limit int) (all []feedmill.VersionRef, err error) {
	err = s.db.Each(ctx, func(row Row) error {
		var v feedmill.VersionRef
		err := row.Scan(&v.Workspace, &v.Feed, &v.Number)
		all = append(all, v)
		return err
	}, fmt.Sprintf(`SELECT workspace_id, feed_id, number FROM feed_versions WHERE file_count > %d AND stale_at IS NULL LIMIT ?1`, feedmill.CrowdedFiles), limit)
	return all, err
}

// JoinFiles puts a file in the place of those of which it has the rows.
func (s Store) JoinFiles(ctx context.Context, of feedmill.VersionRef, files []string, joined feedmill.VersionFile, take func(feedmill.FeedVersion, *feedmill.VersionFile) bool) error {
	return s.db.Write(ctx, func(tx Tx) error {
		if err := s.lock(ctx, tx, `feeds WHERE workspace_id = ?1 AND id = ?2`, of.Workspace, of.Feed); err != nil {
			return err
		}
		versions, err := list(ctx, tx, s, Version, versionsOf+`AND number >= ?3`, of.Workspace, of.Feed, of.Number)
		if err != nil {
			return err
		}
		var all []Statement
		for _, v := range versions {
			file := joined
			if joinFiles(&v, files, file) && take(v, &v.Files[slices.IndexFunc(v.Files, func(f feedmill.VersionFile) bool { return f.Name == joined.Name })]) {
				all = append(all, s.updateFiles(of.Workspace, v)...)
			}
		}
		if len(all) == 0 {
			return feedmill.ErrConflict
		}
		return tx.Send(ctx, append(all, noteTable(of.Workspace, of.Feed))...)
	})
}

// joinFiles puts a file into a version in the place of others, and reports whether
// it has them.
func joinFiles(v *feedmill.FeedVersion, files []string, joined feedmill.VersionFile) bool {
	names := v.FileNames()
	for at := range len(names) - len(files) + 1 {
		if slices.Equal(names[at:at+len(files)], files) {
			v.Files = slices.Replace(v.Files, at, at+len(files), joined)
			v.Bytes = 0
			for _, file := range v.Files {
				v.Bytes += file.Bytes
			}
			return true
		}
	}
	return false
}

// updateFiles writes which files a version has.
func (s Store) updateFiles(workspace feedmill.ID, v feedmill.FeedVersion) []Statement {
	at := []any{workspace, v.Feed, v.Number}
	all := []Statement{
		{
			`UPDATE feed_versions SET files = ?4, byte_size = ?5, file_count = CASE WHEN file_count = 0 THEN 0 ELSE ?6 END WHERE workspace_id = ?1 AND feed_id = ?2 AND number = ?3`,
			append(slices.Clone(at), Files{&v.Files}, v.Bytes, int64(len(v.Files))),
		},
		{`UPDATE feeds SET byte_size = ?4 WHERE workspace_id = ?1 AND id = ?2 AND version = ?3`, append(slices.Clone(at), v.Bytes)},
		{`DELETE FROM version_files WHERE workspace_id = ?1 AND feed_id = ?2 AND number = ?3`, at},
	}
	return append(all, s.useFiles(workspace, &v)...)
}
