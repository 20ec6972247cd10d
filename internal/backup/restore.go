package backup

import (
	"context"
	"errors"
	"fmt"

	"github.com/feedmill/feedmill"
)

// RestoreFiles writes the files of a backup to a location. Files that an interrupted restore has
// written stay if they are as in the backup. Files of the backup that are missing or damaged are
// [Findings].
func (m *Manifest) RestoreFiles(ctx context.Context, from, to Files) error {
	at, err := list(ctx, to)
	if err != nil {
		return err
	}
	return each(ctx, len(m.Files), func(ctx context.Context, i int) (*Finding, error) {
		part := m.Files[i]
		f := feedmill.KeptFile{Name: part.Name, Bytes: part.Bytes, SHA256: part.SHA256}
		if at.names[part.Name] {
			if _, same, err := has(ctx, to, part.Name, f); err != nil || same {
				return nil, err
			}
		}
		_, found, err := copyFile(ctx, from, f, to, part.Name, filesFolder+part.Name)
		f.Name = filesFolder + f.Name
		return finding(f, found), err
	})
}

// ErrNotEmpty is the error of a location for files that has some.
var ErrNotEmpty = errors.New("it is not empty")

// CheckEmpty refuses a location that has files. One in which a restore of the same backup was
// interrupted is accepted, with its claim.
func (m *Manifest) CheckEmpty(ctx context.Context, to Files, parse func(claim string) (store, backup string, ok bool)) (store string, err error) {
	owner, err := to.Owner(ctx)
	if err != nil {
		return "", err
	}
	if owner != "" {
		store, backup, ok := parse(owner)
		if ok && backup == m.ID {
			return store, nil
		}
		return "", fmt.Errorf("%w: it has the files of a store (%s)", ErrNotEmpty, owner)
	}
	for name, err := range to.List(ctx) {
		if err != nil {
			return "", err
		}
		return "", fmt.Errorf("%w: it has the file %s", ErrNotEmpty, name)
	}
	return "", nil
}
