package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/connect"
	"github.com/feedmill/feedmill/internal/egress"
	"github.com/feedmill/feedmill/internal/feed"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/machine"
	"github.com/feedmill/feedmill/internal/publish"
	"github.com/feedmill/feedmill/internal/refresh"
	"github.com/feedmill/feedmill/internal/share"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/rest"
)

const (
	// blobFolder and tempFolder are where files are below the data folder.
	blobFolder = "files"
	tempFolder = "temp"
	// cacheFolder has local copies of the files of a bucket.
	cacheFolder = "cache"
	// stageFolder has what is done of fetches of many parts that are not.
	stageFolder = "stage"
	// queryTemp is how much one query may put on disk.
	queryTemp = 16 << 30
)

// feeds are the feeds and what they stand on.
type feeds struct {
	*feed.Feeds
	engine *refresh.Engine
	pool   *lake.Pool
	blobs  fileStore
	// bucket is nil where the files are in a folder.
	bucket      *blob.Bucket
	files       *feed.VerifiedFiles
	connections *database.Connections
	people      *connect.Connect
	// holder is the name under which this process writes files and runs sources.
	holder string
	// permits are nil where no other process can be.
	permits *share.Permits
}

// newFeeds opens the files of feeds. No worker is started before one is needed. The
// address is that of the server.
func (a *App) newFeeds(ctx context.Context, version, address string, m machine.Memory, metrics prometheus.Registerer) (*feeds, error) {
	data, err := filepath.Abs(a.config.Data)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	temp := filepath.Join(data, tempFolder)
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	room := a.room(data, metrics)
	blobs, bucket, err := a.openFiles(ctx, data, temp, room, m, metrics)
	if err != nil {
		return nil, err
	}
	holder, err := a.folder.Holder(a.replica)
	if err != nil {
		return nil, err
	}
	location, _, err := a.store.FileLocation(ctx)
	if err != nil {
		return nil, err
	}
	files := feed.NewVerifiedFiles(feed.NewRecordedFiles(blobs, a.store, holder, location), a.store, a.log, metrics)
	pool := lake.NewPool(lake.PoolConfig{
		Temp: temp, TempBytes: queryTemp, CheckDisk: room.Disk.Check, TakeDisk: room.Disk.Take, Log: a.log,
		Workers: m.Workers, Large: m.Large, Memory: m.Worker, Process: 2 * (m.Worker + machine.WorkerBase), Held: m.Worker + machine.WorkerBase, QueryTime: a.config.QueryTimeout,
	})
	if !lake.Landlock() {
		a.log.Warn("the kernel does not support Landlock: only the database engines restrict which files queries can read")
	}
	var stages feed.StageStore
	if bucket != nil {
		stages = a.store
	}
	mill := feed.NewMill(feed.Parts{
		Stages: filepath.Join(data, stageFolder), StageStore: stages,
		Versions: a.store, Sourcing: a.store, Vault: a.vault, Blobs: files, Bodies: a.store, Reader: lake.NewReader(files, pool), Temp: temp, Log: a.log,
		Room: room, Metrics: metrics,
		Modelling: m.Modelling, Previews: m.Previews, Large: m.Large,
	})
	apis := rest.NewSource(rest.Options{
		Transport: a.egress.Transport(), Secure: a.egress.SecureTransport, CheckURL: a.egress.Policy().CheckURL, Forbidden: egress.ErrForbidden,
		UserAgent: "Feedmill/" + version, MaxBytes: a.config.MaxUploadBytes, Rows: mill.FeedRows,
	})
	var permits *share.Permits
	if a.config.DatabaseURL != "" {
		permits = share.NewPermits(a.store, holder, a.log)
		permits.Begin(ctx)
	}
	connections, links, err := a.newConnections(data, address, permits, pool, mill, apis)
	if err != nil {
		return nil, err
	}
	fetcher := feed.NewFetcher(mill, map[feedmill.FeedType]feed.Source{feedmill.FeedREST: apis, feedmill.FeedQuery: database.Source{Connections: connections}})
	events := feed.Events(publish.SourceEvents)
	options := refresh.Options{
		Store: a.store, Runner: fetcher, Holder: holder, Permits: permits, Events: events.OfNews, Log: a.log, Metrics: metrics,
	}
	if a.config.DatabaseURL != "" && bucket == nil {
		options.Elsewhere = files.Elsewhere
	}
	engine := refresh.New(options)
	made := feed.New(fetcher, feed.Options{Store: a.store, Engine: engine, Events: events, TableRoot: a.tableRoot(blobs, bucket)})
	return &feeds{made, engine, pool, blobs, bucket, files, connections, connect.New(links, connections, made), holder, permits}, nil
}

// close ends the workers and gives the files up.
func (f *feeds) close() error {
	f.connections.Close()
	f.pool.Close()
	f.StopExports()
	return f.blobs.Close()
}
