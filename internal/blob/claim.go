package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// owner is the name of the file with the id of the store that the files belong to.
const owner = ".store"

// Claim records that the files belong to a store. It fails if they belong to another store.
func (f *Folder) Claim(ctx context.Context, store string) error {
	held, err := f.root.ReadFile(owner)
	if errors.Is(err, fs.ErrNotExist) {
		d, err := f.begin(owner)
		if err != nil {
			return fmt.Errorf("claim blob folder: %w", err)
		}
		defer d.Close()
		if _, err := d.Write([]byte(store + "\n")); err != nil {
			return fmt.Errorf("claim blob folder: %w", err)
		}
		return d.Keep(ctx)
	}
	if err != nil {
		return fmt.Errorf("claim blob folder: %w", classify(err))
	}
	if id := strings.TrimSpace(string(held)); id != store {
		return fmt.Errorf("%s has the files of another store (%s), and this store is %s; restore the folder that belongs to this database", f.Dir(), id, store)
	}
	return nil
}
