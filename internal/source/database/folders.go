package database

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Folders are where the files of databases may be.
type Folders struct {
	// Allowed are those that the operator allows.
	Allowed []string
	// Never is a folder that no file may be in, whatever is allowed: that of the
	// service's own data.
	Never string
}

const (
	noFolders = "Database files are disabled on this server. The operator can allow folders with databaseDirs."
	relative  = "path must be an absolute path to a file; it starts with a slash."
	// outside says the same of what is there and of what is not: nobody learns
	// from it which files there are elsewhere.
	outside = "path is not a file in a folder that the operator allows (databaseDirs)."
)

// Resolve is the file that a path leads to, with symbolic links followed. It is a
// regular file in one of the folders; fault says what is wrong with any other
// path, and is empty where nothing is.
func (f Folders) Resolve(path string) (file, fault string) {
	switch {
	case len(f.Allowed) == 0:
		return "", noFolders
	case !filepath.IsAbs(path):
		return "", relative
	case !f.inside(filepath.Clean(path), false):
		return "", outside
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil || !f.inside(real, true) || f.never(real) {
		return "", outside
	}
	info, err := os.Stat(real)
	if err != nil || info.Mode()&fs.ModeType != 0 {
		return "", outside
	}
	return real, ""
}

// inside reports whether a path lies below a folder that is allowed, as the folder
// is written or as it really is.
func (f Folders) inside(path string, really bool) bool {
	for _, folder := range f.Allowed {
		folder, err := filepath.Abs(folder)
		if err != nil {
			continue
		}
		if !really && below(folder, path) {
			return true
		}
		if real, err := filepath.EvalSymlinks(folder); err == nil && below(real, path) {
			return true
		}
	}
	return false
}

func (f Folders) never(path string) bool {
	if f.Never == "" {
		return false
	}
	real, err := filepath.EvalSymlinks(f.Never)
	return err != nil || below(real, path)
}

func below(folder, path string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && rest != ".." && rest != "." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}
