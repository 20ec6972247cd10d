package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/backup"
	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/config"
	"github.com/feedmill/feedmill/internal/machine"
	"github.com/feedmill/feedmill/internal/store/postgres"
	"github.com/feedmill/feedmill/internal/store/sqlite"
	"github.com/feedmill/feedmill/internal/vault"
)

// restoredFile is the embedded store while it is restored.
const restoredFile = storeFile + ".restore"

// Restore makes a store from a backup, the newest if id is empty. An interrupted restore continues
// when it is repeated.
func Restore(ctx context.Context, c *config.Config, source, id string, out io.Writer) (err error) {
	if err := Check(c); err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "feedmill-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	from, err := openBackups(ctx, c, source, temp)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	m, err := backup.Newest(ctx, from, id)
	if err != nil {
		return err
	}
	if err := sameEngine(c, m); err != nil {
		return err
	}
	if c.DatabaseURL == "" || c.BlobURL == "" {
		if err := emptyFolder(c.Data); err != nil {
			return err
		}
		lock, err := machine.LockFolder(c.Data)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, lock.Unlock()) }()
	}
	if err := checkVaultKey(ctx, c, m.Keyset); err != nil {
		return err
	}
	var to location
	if c.BlobURL == "" {
		to, err = blob.Open(filepath.Join(c.Data, blobFolder))
	} else {
		to, err = openBucket(ctx, c, c.BlobURL, filepath.Join(temp, "files"))
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if c.DatabaseURL == "" {
		err = restoreSQLite(ctx, c, from, to, m)
	} else {
		err = restorePostgres(ctx, c, from, to, m)
	}
	if found, ok := errors.AsType[backup.Findings](err); ok {
		return fmt.Errorf("the store was not restored, because %w\nThese are files of the backup. Restore them, or choose another backup with --backup", found)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Restored backup %s of %s with %d files of feeds.\nThe store sends no deliveries and runs no refreshes until you run 'feedmill resume'.\n",
		m.ID, m.CreatedAt.Format("2006-01-02 15:04:05Z"), len(m.Files))
	return err
}

// sameEngine holds that a backup is restored to the kind of database that it is from.
func sameEngine(c *config.Config, m *backup.Manifest) error {
	switch {
	case m.Engine == feedmill.EngineSQLite && c.DatabaseURL != "":
		return fmt.Errorf("backup %s is from SQLite; restore it with --data, without --database and FEEDMILL_DATABASE_URL", m.ID)
	case m.Engine == feedmill.EnginePostgres && c.DatabaseURL == "":
		return fmt.Errorf("backup %s is from PostgreSQL; restore it with --database", m.ID)
	}
	return nil
}

// emptyFolder refuses a data folder that has more than a vault key and what an interrupted restore
// has left.
func emptyFolder(data string) error {
	entries, err := os.ReadDir(data)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	own := []string{"vault.key", "lock", blobFolder, restoredFile, restoredFile + "-journal", restoredFile + "-wal", restoredFile + "-shm"}
	for _, entry := range entries {
		if !slices.Contains(own, entry.Name()) {
			return fmt.Errorf("data folder %s is not empty: it has %s; restore into an empty folder, which can contain vault.key", data, entry.Name())
		}
	}
	return nil
}

// checkVaultKey holds that the operator has the key that opens the secrets of a backup.
func checkVaultKey(ctx context.Context, c *config.Config, keyset []byte) error {
	if len(keyset) == 0 {
		return nil
	}
	key, err := vault.FindKey(c.VaultKey, filepath.Join(c.Data, "vault.key"))
	if err != nil {
		return err
	}
	_, err = vault.Open(ctx, key, sealedKeyset(keyset))
	return err
}

// sealedKeyset is the keyset of a backup as a store of the vault.
type sealedKeyset []byte

// VaultKeyset returns the keyset.
func (k sealedKeyset) VaultKeyset(context.Context) ([]byte, error) { return k, nil }

// SwapVaultKeyset fails: the keyset of a backup does not change.
func (sealedKeyset) SwapVaultKeyset(context.Context, []byte, []byte) error {
	return feedmill.ErrConflict
}

// claimed claims the location of files for a restore. It returns the id of the new store, which an
// interrupted restore has chosen already.
func claimed(ctx context.Context, to location, m *backup.Manifest, origin string) (id, claim string, err error) {
	held, err := m.CheckEmpty(ctx, to, blob.ParseRestoreClaim)
	if err != nil {
		return "", "", fmt.Errorf("the location of the files of feeds is refused: %w; restore into an empty one", err)
	}
	if id, _, _ = strings.Cut(held, " "); id == "" {
		id = strings.ToLower(rand.Text())
	}
	claim = id
	if origin != "" {
		claim += " " + origin
	}
	return id, claim, to.SetOwner(ctx, blob.RestoreClaim(claim, m.ID))
}

// restoreSQLite writes the files and then the records, under another name until they are complete.
func restoreSQLite(ctx context.Context, c *config.Config, from, to location, m *backup.Manifest) error {
	file, temporary := filepath.Join(c.Data, storeFile), filepath.Join(c.Data, restoredFile)
	id, claim, err := claimed(ctx, to, m, "")
	if err != nil {
		return err
	}
	if err := m.RestoreFiles(ctx, from, to); err != nil {
		return err
	}
	err = m.ReadRecords(ctx, from, func(records io.Reader) error { return sqlite.Restore(ctx, temporary, records, id, m.ID) })
	if err != nil {
		return err
	}
	if err := os.Rename(temporary, file); err != nil {
		return err
	}
	if err := machine.SyncFolder(c.Data); err != nil {
		return err
	}
	if c.BlobURL != "" {
		// The claim of a bucket names the file of the store too.
		origin, err := sqlite.OriginOf(file)
		if err != nil {
			return err
		}
		claim += " " + origin
	}
	return to.SetOwner(ctx, claim)
}

// restorePostgres writes the files and then the records, in one transaction.
func restorePostgres(ctx context.Context, c *config.Config, from, to location, m *backup.Manifest) (err error) {
	db, err := postgres.OpenEmpty(ctx, c.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	origin := ""
	if c.BlobURL != "" {
		if origin, err = db.Origin(ctx); err != nil {
			return err
		}
	}
	id, claim, err := claimed(ctx, to, m, origin)
	if err != nil {
		return err
	}
	if err := m.RestoreFiles(ctx, from, to); err != nil {
		return err
	}
	err = db.Restore(ctx, m.Schema, func(load func(io.Reader) error) error { return m.ReadRecords(ctx, from, load) }, id, m.ID)
	if err != nil {
		return err
	}
	return to.SetOwner(ctx, claim)
}
