package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/api"
	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/egress"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/publish"
	"github.com/feedmill/feedmill/internal/refresh"
	"github.com/feedmill/feedmill/internal/source/rest"
)

// feedStore is what feeds need of the store.
type feedStore interface {
	CreateFeed(ctx context.Context, n feedmill.NewFeed, events []feedmill.Event, maxAttempts int, response *feedmill.IdempotentResponse) ([]feedmill.DueDelivery, error)
	Feed(ctx context.Context, workspace, id feedmill.ID) (feedmill.Feed, error)
	ChangeFeed(ctx context.Context, workspace, id feedmill.ID, change feedChange, maxAttempts int) (feedmill.Feed, []feedmill.DueDelivery, error)
	SwitchVersion(ctx context.Context, workspace feedmill.ID, v feedmill.FeedVersion, r feedmill.Refresh, change feedChange, maxAttempts int) (feedmill.Feed, []feedmill.DueDelivery, error)
	RecordRefresh(ctx context.Context, workspace feedmill.ID, r feedmill.Refresh, change feedChange, maxAttempts int) (feedmill.Feed, []feedmill.DueDelivery, error)
	DeleteFeed(ctx context.Context, workspace, id feedmill.ID, at time.Time, events []feedmill.Event, maxAttempts int) ([]feedmill.DueDelivery, error)
	ForgetVersions(ctx context.Context, now time.Time, limit int) (files []string, more bool, err error)
	ForgetRefreshes(ctx context.Context, before time.Time, limit int) (files []string, more bool, err error)
	UnusedFiles(ctx context.Context, names []string) ([]string, error)
	FeedVersion(ctx context.Context, workspace, feed feedmill.ID, number int64) (feedmill.FeedVersion, error)
	Source(ctx context.Context, workspace, id feedmill.ID) (feedmill.Source, error)
	refresh.Store
}

type feedChange = func(*feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error)

// sealer keeps secrets.
type sealer interface {
	Seal(plain []byte, record string) ([]byte, error)
	Unseal(ctx context.Context, sealed []byte, record string) ([]byte, error)
}

// feeds makes tables of uploads and of what is fetched, keeps them as files, and
// reads them.
type feeds struct {
	store  feedStore
	vault  sealer
	blobs  *blob.Folder
	pool   *lake.Pool
	reader *lake.Reader
	// modelling has a place for each upload that is looked at and written at
	// the same time: one alone can use all processors, and memory is finite.
	modelling chan struct{}
	// early has a place for each upload that is looked at while it arrives. A
	// slow one keeps its place for long, so the others do without.
	early chan struct{}
	// temp is the folder for what outlives no request.
	temp string
	// fetcher asks sources for data, when the engine has them run, as far as
	// the policy lets it. maxBytes is how much a fetch may bring at most.
	fetcher  *rest.Fetcher
	engine   *refresh.Engine
	policy   *egress.Policy
	maxBytes int64
	// queue is told of deliveries, and budget is how many attempts each has.
	queue       publish.Queue
	maxAttempts int
	log         *slog.Logger
}

const (
	// blobFolder and tempFolder are where files are below the data folder.
	blobFolder = "files"
	tempFolder = "temp"
	// maxModelling is how many uploads are modelled at the same time. The
	// others wait, with their data on disk.
	maxModelling = 2
	// maxEarly is how many uploads are looked at while they arrive.
	maxEarly = 2
	// queryTemp is how much one query may put on disk.
	queryTemp = 16 << 30
)

// newFeeds opens the files of feeds. No worker is started before one is needed.
func (a *App) newFeeds(version string, queue publish.Queue, metrics prometheus.Registerer) (*feeds, error) {
	data, err := filepath.Abs(a.config.Data)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	temp := filepath.Join(data, tempFolder)
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	blobs, err := blob.Open(filepath.Join(data, blobFolder))
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	pool := lake.NewPool(lake.PoolConfig{
		Folder: filepath.Join(data, blobFolder), Temp: temp, TempBytes: queryTemp, Log: a.log,
	})
	f := &feeds{
		store: a.store, vault: a.vault, blobs: blobs, pool: pool, reader: lake.NewReader(blobs, pool), temp: temp, modelling: make(chan struct{}, maxModelling), early: make(chan struct{}, maxEarly),
		policy: a.egress.Policy(), maxBytes: a.config.MaxUploadBytes,
		queue: queue, maxAttempts: feedmill.RetrySchedule(a.config.RetrySchedule).Attempts(), log: a.log,
	}
	f.fetcher = rest.NewFetcher(rest.Options{
		Transport: a.egress.Transport(), CheckURL: f.policy.CheckURL, Forbidden: egress.ErrForbidden, UserAgent: "Feedmill/" + version,
	})
	f.engine = refresh.New(refresh.Options{
		Store: a.store, Runner: runner{f}, Events: newsEvents, Offer: queue.Offer, MaxAttempts: f.maxAttempts, Log: a.log, Metrics: metrics,
	})
	return f, nil
}

// close ends the workers and gives the files up.
func (f *feeds) close() error {
	f.pool.Close()
	return f.blobs.Close()
}

// now is the present as records keep it.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Create makes a feed of an upload.
func (f *feeds) Create(ctx context.Context, workspace feedmill.ID, u api.Upload, keep api.FeedResponse) (feedmill.Feed, error) {
	feed := feedmill.Feed{
		ID: feedmill.NewID(feedmill.PrefixDataFeed), Workspace: workspace, Source: feedmill.NewID(feedmill.PrefixDataSource),
		Name: u.Name, Type: feedmill.FeedUpload, State: feedmill.FeedPending, Mode: u.Mode, Key: u.Key, Spec: u.Spec(),
		CreatedAt: now(),
	}
	load := newLoading(feed, u)
	if err := f.load(ctx, load, u); err != nil {
		return feedmill.Feed{}, err
	}
	feed.Switch(load.version, load.refresh)
	events, err := feedEvents(feed, newsCreated, feedmill.NewsRefreshed)
	if err != nil {
		return feedmill.Feed{}, f.drop(load, err)
	}
	response, err := keep(feed)
	if err != nil {
		return feedmill.Feed{}, f.drop(load, err)
	}
	due, err := f.store.CreateFeed(ctx, feedmill.NewFeed{Feed: feed, Version: &load.version, Refresh: &load.refresh}, events, f.maxAttempts, response)
	if err != nil {
		return feedmill.Feed{}, f.unstored(load, fmt.Errorf("create feed: %w", err))
	}
	f.queue.Offer(due)
	return feed, nil
}

// Replace gives a feed a new version.
func (f *feeds) Replace(ctx context.Context, workspace, id feedmill.ID, u api.Upload, keep api.FeedResponse) (feedmill.Feed, error) {
	before, err := f.store.Feed(ctx, workspace, id)
	if err != nil {
		return feedmill.Feed{}, err
	}
	load := newLoading(before, u)
	if err := f.load(ctx, load, u); err != nil {
		return feedmill.Feed{}, errors.Join(err, f.recordFailure(ctx, before, load, err))
	}
	feed, due, err := f.store.SwitchVersion(ctx, workspace, load.version, load.refresh, func(feed *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
		feed.Spec = u.Spec()
		kinds := []string{feedmill.NewsRefreshed}
		if load.reshaped {
			kinds = append(kinds, feedmill.NewsUpdated)
		}
		events, err := feedEvents(*feed, kinds...)
		if err != nil {
			return nil, nil, err
		}
		response, err := keep(*feed)
		return response, events, err
	}, f.maxAttempts)
	if errors.Is(err, feedmill.ErrConflict) {
		err = &feedmill.Error{Kind: feedmill.ErrConflict, Type: "concurrent-upload", Detail: "Another upload to this feed was faster, and its data stays. Look at it, and send yours again if it is newer."}
	}
	if err != nil {
		return feedmill.Feed{}, f.unstored(load, fmt.Errorf("replace the data of a feed: %w", err))
	}
	f.queue.Offer(due)
	return feed, nil
}

// recordFailure writes down that data could not be modelled. What is wrong with
// the request, or never arrived, was no refresh.
func (f *feeds) recordFailure(ctx context.Context, feed feedmill.Feed, load *loading, cause error) error {
	refusal, ok := errors.AsType[*feedmill.Error](cause)
	if !ok || refusal.Kind != feedmill.ErrUnprocessable {
		return nil
	}
	r := load.refresh
	r.State, r.EndedAt = feedmill.RefreshFailed, now()
	r.Error = &feedmill.FeedError{
		Type: "/problems/" + refusal.Type, Title: "The data cannot be modelled", Detail: refusal.Detail, At: r.EndedAt,
	}
	load.refresh = r
	_, due, err := f.store.RecordRefresh(ctx, feed.Workspace, r, func(feed *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
		events, err := feedEvents(*feed, feedmill.NewsFailed)
		return nil, events, err
	}, f.maxAttempts)
	if err != nil {
		return fmt.Errorf("record a refresh: %w", err)
	}
	f.queue.Offer(due)
	return nil
}

// Change changes what people call a feed, and how it fetches its data.
func (f *feeds) Change(ctx context.Context, workspace, id feedmill.ID, patch api.FeedPatch) (feedmill.Feed, error) {
	before, err := f.store.Feed(ctx, workspace, id)
	if err != nil {
		return feedmill.Feed{}, err
	}
	if before.Type != feedmill.FeedUpload {
		return f.changeFetched(ctx, before, patch)
	}
	feed, due, err := f.store.ChangeFeed(ctx, workspace, id, func(feed *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
		rename(feed, patch)
		events, err := feedEvents(*feed, feedmill.NewsUpdated)
		return nil, events, err
	}, f.maxAttempts)
	if err != nil {
		return feedmill.Feed{}, err
	}
	f.queue.Offer(due)
	return feed, nil
}

// rename changes what people call a feed.
func rename(feed *feedmill.Feed, patch api.FeedPatch) {
	if patch.Name != nil {
		feed.Name = *patch.Name
	}
	if patch.Description != nil {
		feed.Description = *patch.Description
	}
	feed.UpdatedAt = now()
}

// Delete deletes a feed. Its files are swept later.
func (f *feeds) Delete(ctx context.Context, workspace, id feedmill.ID) error {
	feed, err := f.store.Feed(ctx, workspace, id)
	if err != nil {
		return err
	}
	events, err := feedEvents(feed, newsDeleted)
	if err != nil {
		return err
	}
	due, err := f.store.DeleteFeed(ctx, workspace, id, now(), events, f.maxAttempts)
	if err != nil {
		return err
	}
	f.queue.Offer(due)
	if feed.Type != feedmill.FeedUpload {
		f.forgetRun(ctx, feed)
	}
	return nil
}
