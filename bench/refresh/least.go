package main

import (
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
	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/model"
)

// discard asks for all pages, one after the other, and throws them away.
func discard(ctx context.Context, source string, pages int) (spent, error) {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	used, began := rig.OwnTime(), time.Now()
	for i := range pages {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/rows?at=%d", source, i), nil)
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

// writeRows writes the records of all pages to one NDJSON file.
func writeRows(path string, rows int) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var text []byte
	for id := range rows {
		text = append(row(text, id), '\n')
		if len(text) > 1<<20 || id == rows-1 {
			if _, err := f.Write(text); err != nil {
				return err
			}
			text = text[:0]
		}
	}
	return nil
}

// modelRole makes a table of the NDJSON file that is its first argument, in the
// folder that is its second, and prints what that took.
var modelRole = rig.Role{Name: "model", Run: func(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("the arguments are a file and a folder")
	}
	blobs, err := blob.Open(args[1])
	if err != nil {
		return err
	}
	defer blobs.Close()
	used, began := rig.OwnTime(), time.Now()
	rows, err := makeTable(context.Background(), args[0], blobs)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(modelled{spent{time.Since(began), rig.OwnTime() - used}, rows})
}}

type modelled struct {
	Spent spent
	Rows  int64
}

// makeTable makes a table of an NDJSON file as an upload does that has arrived.
func makeTable(ctx context.Context, path string, blobs *blob.Folder) (rows int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	table, err := decode.OpenNDJSON(ctx, io.NewSectionReader(f, 0, info.Size()), decode.JSONOptions{})
	if err != nil {
		return 0, err
	}
	schema, _, err := model.Infer(ctx, table, model.Options{})
	if err != nil {
		return 0, err
	}
	v, err := lake.Write(ctx, blobs, "rows.parquet", schema.Columns, schema.Load(ctx, table, model.Loading{}))
	return v.Rows, err
}

// modelAlone has a process make a table of a file.
func modelAlone(ctx context.Context, r *rig.Rig, file string, rows int) (s spent, err error) {
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	folder := filepath.Join(r.Folder(), "modelled")
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	cmd := exec.CommandContext(ctx, self, modelRole.Name, file, folder)
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
