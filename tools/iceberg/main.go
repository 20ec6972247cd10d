// Command iceberg reads the metadata of a table with iceberg-go and prints the files that a
// scan of each snapshot reads, by the version of the feed, as JSON.
//
//	iceberg METADATA_LOCATION
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
)

func main() {
	files, err := plan(context.Background(), os.Args[1])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// plan is the files of each snapshot, with their rows and how many columns have bounds.
func plan(ctx context.Context, location string) (map[string][]string, error) {
	open := func(ctx context.Context) (io.IO, error) { return io.LoadFS(ctx, nil, location) }
	t, err := table.NewFromLocation(ctx, table.Identifier{"workspace", "feed"}, location, open, nil)
	if err != nil {
		return nil, err
	}
	files := make(map[string][]string)
	for _, s := range t.Metadata().Snapshots() {
		tasks, err := t.Scan(table.WithSnapshotID(s.SnapshotID)).PlanFiles(ctx)
		if err != nil {
			return nil, fmt.Errorf("snapshot %d: %w", s.SnapshotID, err)
		}
		version := s.Summary.Properties["feedmill.version"]
		for _, task := range tasks {
			files[version] = append(files[version], fmt.Sprintf("%s %d %d", task.File.FilePath(), task.File.Count(), len(task.File.LowerBoundValues())))
		}
	}
	return files, nil
}
