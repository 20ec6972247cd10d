package record

import (
	"context"
	"slices"

	"github.com/feedmill/feedmill"
)

// Export finds the newest file with the result of a query that a version has: one whose name
// begins with a prefix.
func (s Store) Export(ctx context.Context, of feedmill.VersionRef, prefix string) (name string, err error) {
	err = s.db.One(ctx, `SELECT file FROM version_files WHERE workspace_id = ?1 AND feed_id = ?2 AND number = ?3 AND substr(file, 1, length(?4)) = ?4
		ORDER BY file DESC LIMIT 1`, []any{of.Workspace, of.Feed, of.Number, prefix}, &name)
	return name, err
}

// KeepExport keeps a file with a version in place of another, if that is not empty, and
// returns the files that the version had too many of.
func (s Store) KeepExport(ctx context.Context, of feedmill.VersionRef, file feedmill.VersionFile, replaced string, most int) (dropped []string, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		if err := s.lock(ctx, tx, `feeds WHERE workspace_id = ?1 AND id = ?2`, of.Workspace, of.Feed); err != nil {
			return err
		}
		v, err := one(ctx, tx, s, Version, versionsOf+`AND number = ?3`, of.Workspace, of.Feed, of.Number)
		if err != nil {
			return err
		}
		names, err := s.exports(ctx, tx, of, file.Name)
		if err != nil {
			return err
		}
		others := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == replaced })
		dropped = others[min(most-1, len(others)):]
		if len(others) < len(names) {
			dropped = append(dropped, replaced)
		}
		v.Files = []feedmill.VersionFile{file}
		all := append([]Statement{{`DELETE FROM file_sums WHERE file = ?1`, []any{file.Name}}}, s.useFiles(of.Workspace, &v)...)
		for _, name := range dropped {
			all = append(all, Statement{`DELETE FROM version_files WHERE file = ?1 AND workspace_id = ?2 AND feed_id = ?3 AND number = ?4`, []any{name, of.Workspace, of.Feed, of.Number}}, forgetSums(name))
		}
		return tx.Send(ctx, all...)
	})
	return dropped, err
}

// exports are the names of the files with results that a version has, but for one.
func (s Store) exports(ctx context.Context, tx Tx, of feedmill.VersionRef, but string) (names []string, err error) {
	err = tx.Each(ctx, func(row Row) error {
		var name string
		err := row.Scan(&name)
		names = append(names, name)
		return err
	}, `SELECT file FROM version_files WHERE workspace_id = ?1 AND feed_id = ?2 AND number = ?3 AND file LIKE ?4 AND file <> ?5 ORDER BY file`,
		of.Workspace, of.Feed, of.Number, "%"+feedmill.ExportSuffix, but)
	return names, err
}
