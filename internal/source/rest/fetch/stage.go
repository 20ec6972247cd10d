package fetch

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// stage is a folder in which the pages of units that are done are kept until the
// fetch is, so that one that was cut off goes on behind them. No reader sees it. What
// is written to it need not be on disk at once: what a crash of the machine has
// spoiled does not have its sum, and is fetched again.
type stage struct {
	folder string
	index  *os.File
	done   []stagedUnit
}

// stagedUnit is a unit that is done.
type stagedUnit struct {
	Key   string       `json:"key"`
	Pages []stagedPage `json:"pages,omitempty"`
	// Notes are those of this unit and of all before it.
	Notes *Notes `json:"notes,omitempty"`
}

// stagedPage is a page and where it is.
type stagedPage struct {
	Lane   int    `json:"lane"`
	At     int64  `json:"at"`
	Size   int64  `json:"size"`
	Sum    uint32 `json:"sum"`
	Format string `json:"format"`
	First  bool   `json:"first,omitempty"`
	// File is the file of an archive that it is, empty where it is none.
	File string `json:"file,omitempty"`
}

// stageHead says what the units are of.
type stageHead struct {
	Print string    `json:"print"`
	Begun time.Time `json:"begun"`
}

// maxStaged is how old what is staged may be for a fetch to go on behind it.
const maxStaged = 24 * time.Hour

// lane is a file for pages of one unit at a time.
type lane struct {
	file   *os.File
	number int
	end    int64
}

// openStage opens the stage of a fetch. What is in the folder of another fetch, or
// is old, goes.
func openStage(folder, print string, now time.Time) (*stage, error) {
	s := &stage{folder: folder}
	if head, done := readStage(folder); head.Print == print && now.Sub(head.Begun) < maxStaged {
		s.done = done
	} else {
		if err := os.RemoveAll(folder); err != nil {
			return nil, fmt.Errorf("stage: %w", err)
		}
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, fmt.Errorf("stage: %w", err)
		}
		text, _ := json.Marshal(stageHead{print, now}) // Strings and times always marshal.
		if err := os.WriteFile(s.indexName(), append(text, '\n'), 0o600); err != nil {
			return nil, fmt.Errorf("stage: %w", err)
		}
	}
	return s, nil
}

func (s *stage) indexName() string { return filepath.Join(s.folder, "index") }

// readStage reads what is staged, as far as it is whole.
func readStage(folder string) (head stageHead, done []stagedUnit) {
	file, err := os.Open(filepath.Join(folder, "index"))
	if err != nil {
		return stageHead{}, nil
	}
	defer file.Close()
	lines := bufio.NewReader(file)
	for first := true; ; first = false {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return head, done // A line without its end was not written whole.
		}
		if first {
			if json.Unmarshal(line, &head) != nil {
				return stageHead{}, nil
			}
			continue
		}
		var u stagedUnit
		if json.Unmarshal(line, &u) != nil {
			return head, done
		}
		done = append(done, u)
	}
}

// add writes that a unit is done.
func (s *stage) add(u stagedUnit) error {
	if s.index == nil {
		var err error
		if s.index, err = os.OpenFile(s.indexName(), os.O_WRONLY|os.O_APPEND, 0); err != nil {
			return fmt.Errorf("stage: %w", err)
		}
	}
	text, err := json.Marshal(u)
	if err != nil {
		return fmt.Errorf("stage: %w", err)
	}
	if _, err := s.index.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("stage: %w", err)
	}
	return nil
}

// keep has the stage hold so many units, and no others.
func (s *stage) keep(n int) error {
	if n == len(s.done) {
		return nil
	}
	text, err := os.ReadFile(s.indexName())
	if err != nil {
		return fmt.Errorf("stage: %w", err)
	}
	end := 0
	for range n + 1 { // the head, too
		for end < len(text) && text[end] != '\n' {
			end++
		}
		end++
	}
	s.done = s.done[:n]
	if err := os.Truncate(s.indexName(), int64(min(end, len(text)))); err != nil {
		return fmt.Errorf("stage: %w", err)
	}
	return nil
}

// lane is one of the files that pages are written to: behind those that are staged.
func (r *run) lane(number int) (*lane, error) {
	if r.lanes[number] != nil {
		return r.lanes[number], nil
	}
	l := &lane{file: r.job.Spool, number: number}
	if r.stage != nil {
		var err error
		name := filepath.Join(r.stage.folder, fmt.Sprint("lane-", number))
		if l.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			return nil, fmt.Errorf("stage: %w", err)
		}
		for _, u := range r.stage.done {
			for _, p := range u.Pages {
				if p.Lane == number {
					l.end = max(l.end, p.At+p.Size)
				}
			}
		}
	}
	r.lanes[number] = l
	return l, nil
}

// replay gives the sink the pages of units that are staged, as far as they are those
// of this fetch, and returns how many units that are.
func (r *run) replay(ctx context.Context, units []unit, rows []rowCounts) (int, error) {
	if r.stage == nil {
		return 0, nil
	}
	n := 0
	for ; n < len(r.stage.done) && n < len(units) && r.stage.done[n].Key == units[n].key; n++ {
		pages, whole, err := r.stagedPages(r.stage.done[n])
		if err != nil {
			return 0, err
		}
		if !whole {
			break
		}
		for i, page := range pages {
			r.result.Pages++
			page.Number = int(r.result.Pages)
			page.With = r.with(units[n].parent, r.stage.done[n].Pages[i].File)
			came, err := r.sink.Page(ctx, page)
			if err != nil {
				return 0, err
			}
			rows[n].add(came)
			r.result.Records += most(came)
			if spent := r.spent.Add(page.Body.Size()); spent > r.spec.Pagination.MaxBytes {
				return 0, spec.Fail("data-too-large", nil, "The data is larger than %d bytes. Raise pagination.maxBytes, or request less data.", r.spec.Pagination.MaxBytes)
			}
		}
		r.taken.Add(int64(len(pages)))
		r.noteCursor(units[n])
		if noted := r.stage.done[n].Notes; noted != nil && r.job.Notes != nil {
			*r.job.Notes = *noted
		}
	}
	return n, r.stage.keep(n)
}

// stagedPages are the pages of a unit, and whether they are as they were written.
func (r *run) stagedPages(u stagedUnit) (pages []feedmill.FetchedPage, whole bool, err error) {
	for _, p := range u.Pages {
		if p.Lane < 0 || p.Lane >= maxParallel {
			return nil, false, nil
		}
		l, err := r.lane(p.Lane)
		if err != nil {
			return nil, false, err
		}
		body := io.NewSectionReader(l.file, p.At, p.Size)
		sum := crc32.NewIEEE()
		if n, err := io.Copy(sum, io.NewSectionReader(l.file, p.At, p.Size)); err != nil || n != p.Size || sum.Sum32() != p.Sum {
			return nil, false, nil
		}
		pages = append(pages, feedmill.FetchedPage{First: p.First, Format: p.Format, Body: body})
	}
	return pages, true, nil
}

// close gives the files of a stage up, and leaves what is in them.
func (r *run) close() (err error) {
	if r.stage == nil {
		return nil
	}
	if r.stage.index != nil {
		err = r.stage.index.Close()
	}
	for _, l := range r.lanes {
		if l != nil {
			// The pages are read until the tables are made of them.
			*r.job.Close = append(*r.job.Close, l.file)
		}
	}
	return err
}
