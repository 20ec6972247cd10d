package feed

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
)

// Parts are what a mill works with.
type Parts struct {
	Versions Versions
	Vault    Vault
	// Sourcing keeps the secrets that a source gives in the course of a run.
	Sourcing Sourcing
	Blobs    Blobs
	Reader   *lake.Reader
	// Sources are the kinds of sources that there are.
	Sources map[feedmill.FeedType]Source
	// Temp is the folder for what outlives no request.
	Temp string
	Log  *slog.Logger
}

// Versions knows the versions that feeds have.
type Versions interface {
	FeedVersion(ctx context.Context, workspace, feed feedmill.ID, number int64) (feedmill.FeedVersion, error)
}

// Sourcing changes sources.
type Sourcing interface {
	ChangeSource(ctx context.Context, workspace, source feedmill.ID, change func(*feedmill.SourceChange) error, maxAttempts int) ([]feedmill.DueDelivery, error)
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
	// same time: one alone can use all processors, and memory is finite.
	modelling chan struct{}
	// early has a place for each upload that is modelled while it arrives. A
	// slow one keeps its place for long, so the others do without.
	early chan struct{}
}

const (
	maxModelling = 2
	maxEarly     = 2
)

// NewMill makes a mill of its parts.
func NewMill(p Parts) *Mill {
	return &Mill{Parts: p, modelling: make(chan struct{}, maxModelling), early: make(chan struct{}, maxEarly)}
}

// takeTurn does work that only a few may do at the same time. The others wait,
// with their data on disk.
func (m *Mill) takeTurn(ctx context.Context, work func() error) error {
	select {
	case m.modelling <- struct{}{}:
		defer func() { <-m.modelling }()
		return work()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// source is the kind of source that feeds of a type have.
func (m *Mill) source(t feedmill.FeedType) (Source, error) {
	s, ok := m.Sources[t]
	if !ok {
		return nil, fmt.Errorf("there is no source for feeds of the type %q", t)
	}
	return s, nil
}

// secrets opens what a source has sealed.
func (m *Mill) secrets(ctx context.Context, s feedmill.Source) ([]byte, error) {
	secrets, err := m.Vault.Unseal(ctx, s.Secrets, s.SecretsRecord())
	if err != nil {
		return nil, fmt.Errorf("the secrets of a source: %w", err)
	}
	return secrets, nil
}

// remove removes a file that nothing has, or leaves it to be swept.
func (m *Mill) remove(name string) {
	if err := m.Blobs.Delete(context.Background(), name); err != nil {
		m.Log.Warn("a file that nothing has is left to be swept", "file", name, "error", err)
	}
}
