package backup

import (
	"context"
	"errors"
	"fmt"

	"github.com/feedmill/feedmill"
)

// Verify reads all backups and returns their manifests, oldest first. Files that are missing or
// damaged are [Findings].
func Verify(ctx context.Context, from Files) (all []*Manifest, err error) {
	c, err := list(ctx, from)
	if err != nil {
		return nil, err
	}
	if len(c.backups) == 0 {
		return nil, errors.New("the source has no backups; check the folder or URL")
	}
	var found Findings
	var files []feedmill.KeptFile
	wanted := make(map[feedmill.KeptFile]bool)
	add := func(part Part, folder string) {
		f := feedmill.KeptFile{Name: folder + part.Name, Bytes: part.Bytes, SHA256: part.SHA256}
		if !wanted[f] {
			wanted[f] = true
			files = append(files, f)
		}
	}
	for _, id := range c.backups {
		m, err := ReadManifest(ctx, from, id)
		if errors.Is(err, errManifest) || errors.Is(err, feedmill.ErrDamaged) {
			found = append(found, Finding{feedmill.KeptFile{Name: manifestName(id)}, damaged})
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, m)
		for _, part := range m.Records {
			add(part, "")
		}
		for _, part := range m.Files {
			add(part, filesFolder)
		}
	}
	err = each(ctx, len(files), func(ctx context.Context, i int) (*Finding, error) {
		return inspect(ctx, from, files[i], true)
	})
	if more, ok := errors.AsType[Findings](err); ok {
		found, err = append(found, more...), nil
	}
	if err == nil && len(found) > 0 {
		err = found.sorted()
	}
	return all, err
}

// inspect checks that a file exists with its size, and if it is deep that its bytes have their
// checksum.
func inspect(ctx context.Context, in Files, f feedmill.KeptFile, deep bool) (*Finding, error) {
	var got Part
	var err error
	if deep {
		got, err = sumFile(ctx, in, f.Name)
	} else {
		got.SHA256 = f.SHA256
		got.Bytes, err = in.Size(ctx, f.Name)
	}
	if err != nil {
		if found := problem(err); found != "" {
			return finding(f, found), nil
		}
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return finding(f, mismatch(f, got)), nil
}

// Checked is what a check of the files of a store has read.
type Checked struct {
	Files, Unsummed int
	Bytes           int64
}

// Check checks all files of a store: that each exists and has its size, and if it is deep also its
// checksum. Files that do not are [Findings].
func Check(ctx context.Context, of Records, files Files, deep bool) (c Checked, err error) {
	const step = 1000
	var found Findings
	for after := ""; ; {
		kept, err := of.KeptFiles(ctx, after, step)
		if err != nil {
			return c, err
		}
		err = each(ctx, len(kept), func(ctx context.Context, i int) (*Finding, error) { return inspect(ctx, files, kept[i], deep) })
		if more, ok := errors.AsType[Findings](err); ok {
			found, err = append(found, more...), nil
		}
		if err != nil {
			return c, err
		}
		for _, f := range kept {
			c.Files++
			c.Bytes += max(f.Bytes, 0)
			if f.SHA256 == "" {
				c.Unsummed++
			}
			after = f.Name
		}
		if len(kept) < step {
			break
		}
	}
	if len(found) > 0 {
		return c, found
	}
	return c, nil
}
