package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill/bench/internal/rig"
)

// encoder is the process that encodes maps.
var encoder = rig.Role{Name: "encoder", Run: func(args []string) error {
	if len(args) != 2 {
		return errors.New("wanted: a file of rows and how many to encode")
	}
	rows, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	maps, err := readMaps(args[0])
	if err != nil {
		return err
	}
	out := json.NewEncoder(io.Discard)
	before := rig.OwnTime()
	for i := range rows {
		if err := out.Encode(maps[i%int64(len(maps))]); err != nil {
			return err
		}
	}
	fmt.Println(int64(rig.OwnTime() - before))
	return nil
}}

func readMaps(path string) (maps []map[string]any, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for in := json.NewDecoder(bufio.NewReader(f)); in.More(); {
		var row map[string]any
		if err := in.Decode(&row); err != nil {
			return nil, err
		}
		maps = append(maps, row)
	}
	if len(maps) == 0 {
		return nil, fmt.Errorf("%s has no rows", path)
	}
	return maps, nil
}

// encodeMaps is the CPU time in which encoding/json encodes so many rows.
func encodeMaps(ctx context.Context, path string, rows int64) (time.Duration, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, self, encoder.Name, path, strconv.FormatInt(rows, 10))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("encoding maps: %w", err)
	}
	ns, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return time.Duration(ns), err
}
