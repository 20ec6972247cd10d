package lake

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// A worker has a folder of its own. It reads what is in cageFiles, where the server
// puts the files of one query and takes them away after it, and writes to
// cageSpill. The kernel holds it to that, where it can: see the worker's cage, which
// finds the folder by cageEnv.
const (
	cageEnv   = "FEEDMILL_CAGE"
	cageFiles = "files"
	cageSpill = "spill"

	// These name the files besides that it may use: a database and its log, which it
	// reads, and of SQLite the journal, which it reads, and the index of the log, which it
	// shares with those that write the database.
	cageDatabase        = "FEEDMILL_CAGE_DATABASE"
	cageDatabaseLog     = "FEEDMILL_CAGE_DATABASE_LOG"
	cageDatabaseJournal = "FEEDMILL_CAGE_DATABASE_JOURNAL"
	cageDatabaseIndex   = "FEEDMILL_CAGE_DATABASE_INDEX"

	// sqliteTemp names the folder for what SQLite sorts and groups.
	sqliteTemp = "SQLITE_TMPDIR"
)

// makeCage makes the folder of a worker.
func makeCage(temp string) (folder string, err error) {
	if folder, err = os.MkdirTemp(temp, tempPrefix); err != nil {
		return "", err
	}
	for _, part := range []string{cageFiles, cageSpill} {
		if err := os.Mkdir(filepath.Join(folder, part), 0o700); err != nil {
			return "", errors.Join(err, os.RemoveAll(folder))
		}
	}
	return folder, nil
}

// lend puts files before the worker, by names. They are links, where the file
// system has them, and else copies.
func (p *process) lend(files map[string]string) (takeBack func(), err error) {
	takeBack = func() {
		for name := range files {
			_ = os.Remove(filepath.Join(p.folder, cageFiles, name)) // at the latest with its folder
		}
	}
	for name, path := range files {
		to := filepath.Join(p.folder, cageFiles, name)
		if os.Link(path, to) == nil {
			continue
		}
		if err := copyFile(path, to); err != nil {
			return takeBack, fmt.Errorf("lend a file to a worker: %w", err)
		}
	}
	return takeBack, nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o400)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
