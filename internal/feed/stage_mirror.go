package feed

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// StageStore has the records of what is staged of fetches. Its files are in [Blobs].
type StageStore interface {
	AddStagePart(ctx context.Context, workspace, source feedmill.ID, run int64, number int, file string) error
	TakeStageParts(ctx context.Context, source feedmill.ID, run int64) (files []string, err error)
	ForgetStage(ctx context.Context, source feedmill.ID, run int64) (files []string, err error)
	OldStages(ctx context.Context, age time.Duration, limit int) ([]feedmill.ID, error)
}

const (
	// mirrorEvery is how often what a fetch has staged is copied to the bucket.
	mirrorEvery = 10 * time.Second
	// mirrorLast bounds the last copy of a fetch that was interrupted.
	mirrorLast = 5 * time.Second
	// stageIndex is the file of a stage that names its pages. It is written after them.
	stageIndex = "index"
)

// stageMirror copies what a fetch stages to the bucket, so that the next run can go on from there on
// any replica. The files of a stage only grow, and each part has what was added since the part
// before it. Pages have checksums: what a part lacks is fetched again.
type stageMirror struct {
	mill   *Mill
	source feedmill.Source
	folder string
	parts  int
	// sent is how much of each file the parts have, and index the sum of that of the index.
	sent  map[string]int64
	index [sha256.Size]byte

	end     context.CancelFunc
	copying sync.WaitGroup
}

// mirrorStage restores what earlier runs of a source have staged, and begins to copy what this run
// stages. It returns nil if the files of this process are not in a bucket.
func (m *Mill) mirrorStage(ctx context.Context, source feedmill.Source) *stageMirror {
	if m.StageStore == nil {
		return nil
	}
	s := &stageMirror{mill: m, source: source, folder: m.stageOf(source.ID), sent: make(map[string]int64)}
	if err := s.restore(ctx); err != nil {
		m.Log.Warn("restoring the staged pages of a fetch failed; they are fetched again", "source", source.ID, "error", err)
		s.reset(ctx)
		_ = os.RemoveAll(s.folder) // the fetch removes what does not belong to it
	}
	copying, end := context.WithCancel(ctx)
	s.end = end
	s.copying.Go(func() {
		tick := time.NewTicker(mirrorEvery)
		defer tick.Stop()
		for {
			select {
			case <-copying.Done():
				return
			case <-tick.C:
				s.copy(copying)
			}
		}
	})
	return s
}

// stop ends the copying, with a last copy if the fetch did not succeed.
func (s *stageMirror) stop(ctx context.Context, failed bool) {
	if s == nil {
		return
	}
	s.end()
	s.copying.Wait()
	if failed {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), mirrorLast)
		defer cancel()
		s.copy(ctx)
	}
}

// copy adds a part with what is new. If it cannot, the next one has it.
func (s *stageMirror) copy(ctx context.Context) {
	err := s.addPart(ctx)
	if errors.Is(err, feedmill.ErrConflict) { // of a run that has lost its lease
		s.reset(ctx)
		err = s.addPart(ctx)
	}
	if err != nil && ctx.Err() == nil {
		s.mill.Log.Warn("copying the staged pages of a fetch failed; an interrupted fetch may start again", "source", s.source.ID, "error", err)
	}
}

// reset forgets all parts, so that the next one has everything.
func (s *stageMirror) reset(ctx context.Context) {
	s.mill.forgetParts(ctx, s.source.ID, s.source.Run)
	s.parts, s.sent, s.index = 0, make(map[string]int64), [sha256.Size]byte{}
}

func (s *stageMirror) addPart(ctx context.Context) error {
	index, err := os.ReadFile(filepath.Join(s.folder, stageIndex))
	if errors.Is(err, os.ErrNotExist) || err == nil && len(index) == int(s.sent[stageIndex]) && sha256.Sum256(index) == s.index {
		return nil
	}
	if err != nil {
		return err
	}
	if had := s.sent[stageIndex]; int64(len(index)) < had || had > 0 && sha256.Sum256(index[:had]) != s.index {
		s.reset(ctx) // it was begun anew
	}
	entries, err := os.ReadDir(s.folder)
	if err != nil {
		return err
	}
	sent := make(map[string]int64)
	name := privateFolder + string(s.source.Workspace) + "/" + string(s.source.ID) + "-" + strings.ToLower(rand.Text())
	err = s.mill.Blobs.Put(ctx, name, func(to io.Writer) error {
		for _, e := range entries {
			if e.Name() == stageIndex {
				continue
			}
			if err := s.writeFile(ctx, to, e.Name(), sent); err != nil {
				return err
			}
		}
		sent[stageIndex] = int64(len(index))
		return writeChunk(to, stageChunk{stageIndex, s.sent[stageIndex], int64(len(index)) - s.sent[stageIndex]}, bytes.NewReader(index[s.sent[stageIndex]:]))
	})
	if err != nil {
		return err
	}
	if err := s.mill.StageStore.AddStagePart(ctx, s.source.Workspace, s.source.ID, s.source.Run, s.parts+1, name); err != nil {
		s.mill.remove(name)
		return err
	}
	s.parts, s.sent, s.index = s.parts+1, sent, sha256.Sum256(index)
	return nil
}

// writeFile writes what is new of a file with pages.
func (s *stageMirror) writeFile(ctx context.Context, to io.Writer, name string, sent map[string]int64) error {
	file, err := os.Open(filepath.Join(s.folder, name))
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	sent[name] = max(info.Size(), s.sent[name])
	had := s.sent[name]
	return writeChunk(to, stageChunk{name, had, sent[name] - had}, io.NewSectionReader(file, had, sent[name]-had))
}

// stageChunk is the line before bytes of a file.
type stageChunk struct {
	Name     string
	At, Size int64
}

func writeChunk(to io.Writer, c stageChunk, from io.Reader) error {
	head, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if _, err := to.Write(append(head, '\n')); err != nil {
		return err
	}
	n, err := io.Copy(to, from)
	if err == nil && n != c.Size {
		err = fmt.Errorf("staged file %s: %d bytes of %d", c.Name, n, c.Size)
	}
	return err
}

// restore writes the folder from the parts.
func (s *stageMirror) restore(ctx context.Context) error {
	files, err := s.mill.StageStore.TakeStageParts(ctx, s.source.ID, s.source.Run)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(s.folder); err != nil || len(files) == 0 {
		return err
	}
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		return err
	}
	for _, name := range files {
		if err := s.restorePart(ctx, name); err != nil {
			return err
		}
	}
	index, err := os.ReadFile(filepath.Join(s.folder, stageIndex))
	s.parts, s.index = len(files), sha256.Sum256(index)
	return err
}

func (s *stageMirror) restorePart(ctx context.Context, name string) error {
	part, err := s.mill.Blobs.Open(ctx, name)
	if err != nil {
		return err
	}
	defer part.Close()
	from := bufio.NewReaderSize(part, 1<<20)
	for {
		line, err := from.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return nil
		}
		var c stageChunk
		if err == nil {
			err = json.Unmarshal(line, &c)
		}
		if err == nil && (!filepath.IsLocal(c.Name) || filepath.Base(c.Name) != c.Name) {
			err = fmt.Errorf("staged file %q", c.Name)
		}
		if err == nil {
			err = s.mill.Room.Disk.Check()
		}
		if err == nil {
			err = s.restoreChunk(c, from)
		}
		if err != nil {
			return err
		}
	}
}

func (s *stageMirror) restoreChunk(c stageChunk, from io.Reader) error {
	file, err := os.OpenFile(filepath.Join(s.folder, c.Name), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(io.NewOffsetWriter(file, c.At), io.LimitReader(from, c.Size))
	if err == nil && n != c.Size {
		err = io.ErrUnexpectedEOF
	}
	s.sent[c.Name] = c.At + n
	return errors.Join(err, file.Close())
}

// forgetParts removes the copies of what runs of a source up to one have staged.
func (m *Mill) forgetParts(ctx context.Context, source feedmill.ID, run int64) {
	if m.StageStore == nil {
		return
	}
	files, err := m.StageStore.ForgetStage(ctx, source, run)
	if err != nil {
		m.Log.Warn("staged pages of a fetch could not be deleted; they expire", "source", source, "error", err)
	}
	for _, name := range files {
		m.remove(name)
	}
}
