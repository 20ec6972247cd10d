package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/bench/internal/upstream"
	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/model"
)

// discard asks for all pages, one after the other, and throws them away.
func discard(ctx context.Context, source *upstream.Source, pages int) (spent, error) {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	used, began := rig.OwnTime(), time.Now()
	for i := range pages {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, source.Page(i), nil)
		if err != nil {
			return spent{}, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return spent{}, err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil {
			return spent{}, err
		}
	}
	return spent{time.Since(began), rig.OwnTime() - used}, nil
}

// concatenated is a file with the records of all pages.
type concatenated struct {
	format string
	path   string
	// open, between and end are what stands before, between and behind them.
	open, between, end string
}

// concatenations are the forms in which the records are modelled alone.
func concatenations(folder string) []concatenated {
	return []concatenated{
		{"json", filepath.Join(folder, "rows.json"), `{"data":[`, ",", "]}"},
		{"ndjson", filepath.Join(folder, "rows.ndjson"), "", "\n", "\n"},
	}
}

// write writes the file.
func (c concatenated) write(rows int) (err error) {
	f, err := os.Create(c.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriterSize(f, 1<<20)
	text := []byte(c.open)
	for id := range rows {
		if id > 0 {
			text = append(text, c.between...)
		}
		out.Write(upstream.AppendRow(text, id)) // Flush tells of a failure
		text = text[:0]
	}
	out.WriteString(c.end)
	return out.Flush()
}

// modelRole makes a table of a file, and prints what that took. Its arguments
// are the format of the file, its name, and the folder for the table.
var modelRole = rig.Role{Name: "model", Run: func(args []string) error {
	if len(args) != 3 {
		return errors.New("the arguments are a format, a file and a folder")
	}
	blobs, err := blob.Open(args[2])
	if err != nil {
		return err
	}
	defer blobs.Close()
	used, began := rig.OwnTime(), time.Now()
	rows, err := makeTable(context.Background(), args[0], args[1], blobs)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(modelled{spent{time.Since(began), rig.OwnTime() - used}, rows})
}}

type modelled struct {
	Spent spent
	Rows  int64
}

// makeTable makes a table of a file as an upload does that has arrived.
func makeTable(ctx context.Context, format, path string, blobs *blob.Folder) (rows int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	var options decode.Options
	if format == "json" {
		options.Path = upstream.Path
	}
	table, err := decode.Open(ctx, format, io.NewSectionReader(f, 0, info.Size()), options)
	if err != nil {
		return 0, err
	}
	schema, _, err := model.Infer(ctx, table, model.Options{})
	if err != nil {
		return 0, err
	}
	v, err := lake.Write(ctx, blobs, "rows.parquet", schema.Load(ctx, table, model.Loading{}))
	return v.Rows, err
}

// modelAlone has a process make a table of a file.
func modelAlone(ctx context.Context, r *rig.Rig, c concatenated, rows int) (s spent, err error) {
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	folder := filepath.Join(r.Folder(), "modelled")
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	cmd := exec.CommandContext(ctx, self, modelRole.Name, c.format, c.path, folder)
	cmd.Stderr = os.Stderr
	said, err := cmd.Output()
	if err != nil {
		return s, err
	}
	var m modelled
	if err := json.Unmarshal(said, &m); err != nil {
		return s, err
	}
	if m.Rows != int64(rows) {
		return s, fmt.Errorf("the table has %d rows of %d", m.Rows, rows)
	}
	return m.Spent, nil
}
