// Command iceberg reads tables with iceberg-go and prints the files that a scan of each
// snapshot reads, by the version of the feed, as JSON.
//
//	iceberg METADATA_LOCATION
//	iceberg CATALOGUE_URI API_KEY
//
// The first form reads one table. The second lists the tables of the first namespace of a REST
// catalogue, to which it signs in with OAuth 2.0, and prints them by their names.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/apache/iceberg-go/catalog/rest"
	"github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
)

func main() {
	files, err := read(context.Background(), os.Args[1:])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(ctx context.Context, args []string) (any, error) {
	if len(args) == 2 {
		return list(ctx, args[0], args[1])
	}
	open := func(ctx context.Context) (io.IO, error) { return io.LoadFS(ctx, nil, args[0]) }
	t, err := table.NewFromLocation(ctx, table.Identifier{"workspace", "feed"}, args[0], open, nil)
	if err != nil {
		return nil, err
	}
	return plan(ctx, t)
}

// list plans all tables of a catalogue.
func list(ctx context.Context, uri, key string) (map[string]map[string][]string, error) {
	catalogue, err := rest.NewCatalog(ctx, "feedmill", uri, rest.WithCredential("any:"+key))
	if err != nil {
		return nil, err
	}
	namespaces, err := catalogue.ListNamespaces(ctx, nil)
	if err != nil {
		return nil, err
	}
	found := make(map[string]map[string][]string)
	for id, err := range catalogue.ListTables(ctx, namespaces[0]) {
		if err != nil {
			return nil, err
		}
		if ok, err := catalogue.CheckTableExists(ctx, id); err != nil || !ok {
			return nil, fmt.Errorf("%v is listed and does not exist: %w", id, err)
		}
		t, err := catalogue.LoadTable(ctx, id)
		if err != nil {
			return nil, err
		}
		if found[id[len(id)-1]], err = plan(ctx, t); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// plan is the files of each snapshot, with their rows and how many columns have bounds.
func plan(ctx context.Context, t *table.Table) (map[string][]string, error) {
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
