package main

import (
	"archive/tar"
	"io"
	"time"
)

// archive writes files whose bytes depend on their names and content only.
type archive struct {
	*tar.Writer
	at time.Time
}

func newArchive(w io.Writer, at time.Time) archive { return archive{tar.NewWriter(w), at} }

func (a archive) header(h tar.Header) error {
	h.ModTime = a.at
	h.Format = tar.FormatPAX
	return a.WriteHeader(&h)
}

func (a archive) folder(name string, mode int64, owner int) error {
	return a.header(tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: mode, Uid: owner, Gid: owner})
}

func (a archive) file(name string, mode int64, content []byte) error {
	if err := a.header(tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(content))}); err != nil {
		return err
	}
	_, err := a.Write(content)
	return err
}
