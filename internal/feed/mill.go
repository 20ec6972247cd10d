package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/share"
)

// Parts are what a mill works with.
type Parts struct {
	Versions Versions
	Vault    Vault
	// Sourcing keeps the secrets that a source gives in the course of a run.
	Sourcing Sourcing
	Blobs    Blobs
	// Bodies has the records of what previews hold.
	Bodies Bodies
	Reader *lake.Reader
	// Stages is the folder for what is done of fetches that are not, empty to keep
	// nothing of them.
	Stages string
	// StageStore has the copies of stages in the bucket; nil where the files are in a folder, whose
	// process alone goes on with a fetch.
	StageStore StageStore
	// Temp is the folder for what outlives no request.
	Temp string
	// Modelling and Previews are how many tables may be modelled at the same
	// time for good, and for previews; by default three and two. One workspace
	// never has all of either.
	Modelling, Previews int
	// Large is how many of those may hold rows of many megabytes, by default three.
	Large int
	Room  Room
	Log   *slog.Logger
	// Metrics counts what is held for a while; nil where nobody asks.
	Metrics prometheus.Registerer
}

// Versions knows the versions that feeds have.
type Versions interface {
	FeedVersion(ctx context.Context, workspace, feed feedmill.ID, number int64) (feedmill.FeedVersion, error)
}

// Sourcing changes sources, and knows feeds.
type Sourcing interface {
	Feed(ctx context.Context, workspace, id feedmill.ID) (feedmill.Feed, error)
	Source(ctx context.Context, workspace, id feedmill.ID) (feedmill.Source, error)
	ChangeSource(ctx context.Context, workspace, source feedmill.ID, change func(*feedmill.SourceChange) error) error
}

// Vault keeps secrets.
type Vault interface {
	Seal(plain []byte, record string) ([]byte, error)
	Unseal(ctx context.Context, sealed []byte, record string) ([]byte, error)
}

// Mill makes versions of uploads and of what sources have, keeps them as files,
// and reads them.
type Mill struct {
	Parts
	// modelling has a place for each table that is modelled and written at the
	// same time: one alone can use all processors, and memory is finite. Previews
	// have places of their own, so that nothing else waits behind them, and
	// fetches one for each that a preview makes.
	modelling, previews, fetches *share.Slots
	// early has a place for each upload that is modelled while it arrives. A
	// slow one keeps its place for long, so the others do without.
	early *share.Slots
	// large has a place for each of those that hold rows of many megabytes.
	large *share.Slots
	held  heldMetrics
	// arriving are the uploads under way.
	arriving arriving
}

const (
	usualModelling = 3
	usualPreviews  = 2
	// maxWaiting is how much of a workspace's may wait to be modelled.
	maxWaiting = 64
	// maxFetches is how many previews may fetch at the same time, and
	// fetchesEach how many of one workspace.
	maxFetches, fetchesEach = 32, 4
)

// NewMill makes a mill of its parts.
func NewMill(p Parts) *Mill {
	p.Modelling, p.Previews, p.Large = cmp.Or(p.Modelling, usualModelling), cmp.Or(p.Previews, usualPreviews), cmp.Or(p.Large, usualModelling)
	m := &Mill{
		Parts:     p,
		modelling: share.NewSlots(p.Modelling, p.Modelling, maxWaiting),
		previews:  share.NewSlots(p.Previews, p.Previews, maxWaiting),
		fetches:   share.NewSlots(maxFetches, fetchesEach, maxWaiting),
		early:     share.NewSlots(p.Modelling, p.Modelling, 0),
		large:     share.NewSlots(p.Large, p.Large, maxWaiting*p.Large),
		held:      newHeldMetrics(p.Metrics),
	}
	return m
}

// takeTurn does work that only a few may do at the same time. The others wait,
// with their data on disk; workspaces take turns. Among those that work, few
// hold large values.
func (m *Mill) takeTurn(ctx context.Context, slots *share.Slots, work func(context.Context) error) error {
	giveBack, err := slots.Take(ctx)
	if errors.Is(err, share.ErrCrowded) {
		return errTooMuchAtOnce
	}
	if err != nil {
		return err
	}
	defer giveBack()
	defer share.Working(ctx)()
	ctx, end := share.WithLarge(ctx, m.large)
	defer end()
	return work(ctx)
}

var errTooMuchAtOnce = &feedmill.Error{
	Kind: feedmill.ErrTooMany, Type: "too-many-uploads", RetryAfter: 5 * time.Second,
	Detail: fmt.Sprintf("This workspace already has %d waiting uploads and previews (the maximum). Retry after the time in the Retry-After header, with fewer concurrent requests.", maxWaiting),
}

// secrets opens what a source has sealed.
func (m *Mill) secrets(ctx context.Context, s feedmill.Source) ([]byte, error) {
	secrets, err := m.Vault.Unseal(ctx, s.Secrets, s.SecretsRecord())
	if err != nil {
		return nil, fmt.Errorf("read the secrets of a source: %w", err)
	}
	return secrets, nil
}

// remove removes a file that nothing has, or leaves it to be swept.
func (m *Mill) remove(name string) {
	if err := m.Blobs.Discard(context.Background(), name); err != nil {
		m.Log.Warn("an unused file could not be deleted; the next sweep deletes it", "file", name, "error", err)
	}
}
