package pgtest

import (
	"cmp"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// errNotInstalled says that this machine has no PostgreSQL to start.
var errNotInstalled = errors.New("the programs of the PostgreSQL server are not installed; " +
	"on Debian and its kin: apt-get install postgresql")

// debianFolders is where Debian keeps the server's programs, outside the
// search path, in a folder for each version.
const debianFolders = "/usr/lib/postgresql/*/bin"

// findPrograms returns the folder of the newest server among those that match
// the pattern, or else of the one in the search path.
func findPrograms(pattern string) (string, error) {
	folders, err := filepath.Glob(pattern)
	if err != nil {
		return "", err
	}
	slices.SortFunc(folders, func(a, b string) int { return cmp.Compare(versionOf(b), versionOf(a)) })
	if path, err := exec.LookPath("pg_ctl"); err == nil {
		// initdb looks for the server beside itself, so the folder that
		// counts is the one that a link in the search path points to.
		if path, err = filepath.EvalSymlinks(path); err == nil {
			folders = append(folders, filepath.Dir(path))
		}
	}
	for _, folder := range folders {
		if isComplete(folder) {
			return filepath.Abs(folder)
		}
	}
	return "", errNotInstalled
}

// versionOf reads the version out of a folder such as
// /usr/lib/postgresql/15/bin; versions up to 9 have a second number.
func versionOf(folder string) float64 {
	version, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(folder)), 64)
	return version
}

// isComplete tells a server from the clients alone, which are packaged apart.
func isComplete(folder string) bool {
	for _, program := range []string{"initdb", "pg_ctl", "postgres"} {
		if _, err := exec.LookPath(filepath.Join(folder, program)); err != nil {
			return false
		}
	}
	return true
}
