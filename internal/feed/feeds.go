// Package feed says what making, loading, fetching, reading and sweeping feeds
// means: typed tables made of uploads and of what sources have.
package feed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/egress"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/publish"
	"github.com/feedmill/feedmill/internal/refresh"
	"github.com/feedmill/feedmill/internal/source/rest"
)

// Store is what feeds need of the store.
type Store interface {
	CreateFeed(ctx context.Context, n feedmill.NewFeed, events []feedmill.Event, maxAttempts int, response *feedmill.IdempotentResponse) ([]feedmill.DueDelivery, error)
	Feed(ctx context.Context, workspace, id feedmill.ID) (feedmill.Feed, error)
	ChangeFeed(ctx context.Context, workspace, id feedmill.ID, change change, maxAttempts int) (feedmill.Feed, []feedmill.DueDelivery, error)
	SwitchVersion(ctx context.Context, workspace feedmill.ID, v feedmill.FeedVersion, r feedmill.Refresh, change change, maxAttempts int) (feedmill.Feed, []feedmill.DueDelivery, error)
	RecordRefresh(ctx context.Context, workspace feedmill.ID, r feedmill.Refresh, change change, maxAttempts int) (feedmill.Feed, []feedmill.DueDelivery, error)
	DeleteFeed(ctx context.Context, workspace, id feedmill.ID, at time.Time, events []feedmill.Event, maxAttempts int) ([]feedmill.DueDelivery, error)
	ForgetVersions(ctx context.Context, now time.Time, limit int) (files []string, more bool, err error)
	ForgetRefreshes(ctx context.Context, before time.Time, limit int) (files []string, more bool, err error)
	UnusedFiles(ctx context.Context, names []string) ([]string, error)
	FeedVersion(ctx context.Context, workspace, feed feedmill.ID, number int64) (feedmill.FeedVersion, error)
	Source(ctx context.Context, workspace, id feedmill.ID) (feedmill.Source, error)
	refresh.Store
}

type change = func(*feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error)

// Engine has sources run.
type Engine interface {
	// Wake has the engine look for what is due now.
	Wake()
	// Cancel breaks off the run of a source whose number is below the given one.
	Cancel(source feedmill.ID, run int64)
}

// Vault keeps secrets.
type Vault interface {
	Seal(plain []byte, record string) ([]byte, error)
	Unseal(ctx context.Context, sealed []byte, record string) ([]byte, error)
}

// Feeds makes tables of uploads and of what is fetched, keeps them as files, and
// reads them.
type Feeds struct {
	// Engine runs what is due.
	Engine Engine

	store  Store
	vault  Vault
	blobs  *blob.Folder
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
	policy   *egress.Policy
	maxBytes int64
	// queue is told of deliveries, and budget is how many attempts each has.
	queue       publish.Queue
	maxAttempts int
	log         *slog.Logger
}

const (
	// maxModelling is how many uploads are modelled at the same time. The
	// others wait, with their data on disk.
	maxModelling = 2
	// maxEarly is how many uploads are looked at while they arrive.
	maxEarly = 2
)

// Options are the parts that feeds work with.
type Options struct {
	Store Store
	Vault Vault
	Blobs *blob.Folder
	Pool  *lake.Pool
	// Temp is the folder for what outlives no request.
	Temp    string
	Fetcher *rest.Fetcher
	Policy  *egress.Policy
	// MaxBytes is how much a fetch may bring at most.
	MaxBytes int64
	Queue    publish.Queue
	// MaxAttempts is how many attempts a delivery may make.
	MaxAttempts int
	Log         *slog.Logger
}

// New makes the feeds. The engine is set before they are used.
func New(o Options) *Feeds {
	return &Feeds{
		store: o.Store, vault: o.Vault, blobs: o.Blobs, reader: lake.NewReader(o.Blobs, o.Pool), temp: o.Temp,
		modelling: make(chan struct{}, maxModelling), early: make(chan struct{}, maxEarly),
		fetcher: o.Fetcher, policy: o.Policy, maxBytes: o.MaxBytes, queue: o.Queue, maxAttempts: o.MaxAttempts, log: o.Log,
	}
}

// now is the present as records keep it.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Create makes a feed of an upload.
func (f *Feeds) Create(ctx context.Context, workspace feedmill.ID, u feedmill.Upload, keep feedmill.FeedResponse) (feedmill.Feed, error) {
	feed := feedmill.Feed{
		ID: feedmill.NewID(feedmill.PrefixDataFeed), Workspace: workspace, Source: feedmill.NewID(feedmill.PrefixDataSource),
		Name: u.Name, Type: feedmill.FeedUpload, State: feedmill.FeedPending, Mode: u.Mode, Key: u.Key, Spec: uploadSpec(u),
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
func (f *Feeds) Replace(ctx context.Context, workspace, id feedmill.ID, u feedmill.Upload, keep feedmill.FeedResponse) (feedmill.Feed, error) {
	before, err := f.store.Feed(ctx, workspace, id)
	if err != nil {
		return feedmill.Feed{}, err
	}
	load := newLoading(before, u)
	if err := f.load(ctx, load, u); err != nil {
		return feedmill.Feed{}, errors.Join(err, f.recordFailure(ctx, before, load, err))
	}
	feed, due, err := f.store.SwitchVersion(ctx, workspace, load.version, load.refresh, func(feed *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
		feed.Spec = uploadSpec(u)
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
func (f *Feeds) recordFailure(ctx context.Context, feed feedmill.Feed, load *loading, cause error) error {
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
func (f *Feeds) Change(ctx context.Context, workspace, id feedmill.ID, patch feedmill.FeedPatch) (feedmill.Feed, error) {
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
func rename(feed *feedmill.Feed, patch feedmill.FeedPatch) {
	if patch.Name != nil {
		feed.Name = *patch.Name
	}
	if patch.Description != nil {
		feed.Description = *patch.Description
	}
	feed.UpdatedAt = now()
}

// Delete deletes a feed. Its files are swept later.
func (f *Feeds) Delete(ctx context.Context, workspace, id feedmill.ID) error {
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
