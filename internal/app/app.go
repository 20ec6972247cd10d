// Package app puts the service together: it opens the stores, hands each part
// what it needs, starts them, and stops them in the reverse order. It is the
// only package that knows all the others.
package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/api"
	"github.com/feedmill/feedmill/internal/auth"
	"github.com/feedmill/feedmill/internal/config"
	"github.com/feedmill/feedmill/internal/connect"
	"github.com/feedmill/feedmill/internal/deliver"
	"github.com/feedmill/feedmill/internal/destination/mail"
	"github.com/feedmill/feedmill/internal/egress"
	"github.com/feedmill/feedmill/internal/expression"
	"github.com/feedmill/feedmill/internal/feed"
	"github.com/feedmill/feedmill/internal/listen"
	"github.com/feedmill/feedmill/internal/machine"
	"github.com/feedmill/feedmill/internal/publish"
	"github.com/feedmill/feedmill/internal/refresh"
	"github.com/feedmill/feedmill/internal/serve"
	"github.com/feedmill/feedmill/internal/share"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/store/postgres"
	"github.com/feedmill/feedmill/internal/store/sqlite"
	"github.com/feedmill/feedmill/internal/subscribe"
	"github.com/feedmill/feedmill/internal/vault"
)

// store is everything that the parts need of a store. No part sees more than its own
// interface.
type store interface {
	api.Store
	api.TokenStore
	auth.Store
	vault.Store
	publish.Store
	publish.FilterStore
	deliver.Store
	listen.Store
	feed.Store
	feed.Sums
	feed.Objects
	feed.Bodies
	feed.StageStore
	share.PermitStore
	Origin(ctx context.Context) (string, error)
	FileLocation(ctx context.Context) (location, place string, err error)
	StoreID(ctx context.Context, assign string) (string, error)
	PausedFrom(ctx context.Context) (backup string, err error)
	refresh.Store
	subscribe.Store
	subscribe.StoredURLs
	database.Store
	connect.Store
	mail.ConsentStore
	mail.Windows
	housekeepingStore
	deletionStore
	Bootstrap(ctx context.Context, w feedmill.Workspace, k feedmill.Key, onlyFirst bool) (added bool, err error)
	StoredFiles(ctx context.Context, workspace feedmill.ID) (bytes int64, unmeasured []string, err error)
	MeasureOriginal(ctx context.Context, original string, bytes int64) error
	Close() error
}

// sealedStore is a store with the URLs of subscriptions sealed: the methods of
// SealedURLs are nearer than those of the store itself.
type (
	sealedStore struct {
		plainStore
		subscribe.SealedURLs
	}
	plainStore struct{ store }
)

// App is the service with its stores open.
type App struct {
	config *config.Config
	log    *slog.Logger
	folder *machine.Folder
	// replica is this process's name among those that share the store.
	replica string
	store   store
	offers  *offers
	// signals reach the other replicas; nil where the store has none.
	signals deliver.Signals
	vault   *vault.Vault
	// expressions evaluates the filters and transformations of subscriptions.
	expressions *expression.Engine
	egress      *egress.Client
	// unwritten are the errors of the last writes of parts that stop.
	unwritten *unwritten
	// notice is how long the service accepts requests after the stop began.
	notice time.Duration
}

// ErrInUse says that the data folder is another process's.
var ErrInUse = machine.ErrInUse

// storeFile is the name of the embedded store in the data folder.
const storeFile = "feedmill.db"

// OpenExisting is [Open] for commands that work on a store that is there
// already. Where there is none it makes none: the folder is most likely not
// the one that was meant.
func OpenExisting(ctx context.Context, c *config.Config, log *slog.Logger) (*App, error) {
	if c.DatabaseURL == "" {
		if _, err := os.Stat(filepath.Join(c.Data, storeFile)); errors.Is(err, fs.ErrNotExist) {
			return nil, noStore(c.Data)
		}
	}
	return Open(ctx, c, log)
}

func noStore(data string) error {
	return fmt.Errorf("data folder %s contains no store; check --data, or run 'feedmill serve' once to create one", data)
}

// Open opens the data folder and the stores, and makes what is not there yet.
func Open(ctx context.Context, c *config.Config, log *slog.Logger) (_ *App, err error) {
	if err := Check(c); err != nil {
		return nil, err
	}
	a := &App{config: c, log: log, offers: new(offers), unwritten: new(unwritten), notice: serve.Notice, expressions: expression.New()}
	defer func() {
		if err != nil {
			a.Close()
		}
	}()
	a.egress, err = egress.New(egress.Options{Allow: c.EgressAllow, Proxy: c.EgressProxy})
	if err != nil {
		return nil, err
	}
	if a.folder, err = machine.LockFolder(c.Data); err != nil {
		return nil, err
	}
	if a.replica, err = machine.ReplicaName(c.Data); err != nil {
		return nil, err
	}
	options := feedmill.StoreOptions{Attempts: feedmill.RetrySchedule(c.RetrySchedule).Attempts(), Offer: a.offers.offer, Filter: a.expressions.Open}
	if c.DatabaseURL != "" {
		a.store, err = opened(postgres.Open(ctx, c.DatabaseURL, options))
	} else {
		a.store, err = opened(sqlite.Open(ctx, filepath.Join(c.Data, storeFile), options))
	}
	if err != nil {
		return nil, err
	}
	if a.vault, err = openVault(ctx, c, a.store); err != nil {
		return nil, err
	}
	a.signals, _ = a.store.(deliver.Signals)
	a.store = sealedStore{plainStore{a.store}, subscribe.SealedURLs{Store: a.store, Vault: a.vault}}
	return a, nil
}

// openVault opens the vault with the operator's key. A key file is made only
// for a store that no key has sealed anything in.
func openVault(ctx context.Context, c *config.Config, s vault.Store) (*vault.Vault, error) {
	keyset, err := s.VaultKeyset(ctx)
	if err != nil {
		return nil, err
	}
	load := vault.LoadKey
	if len(keyset) > 0 {
		load = vault.FindKey
	}
	key, err := load(c.VaultKey, filepath.Join(c.Data, "vault.key"))
	if err != nil {
		return nil, err
	}
	return vault.Open(ctx, key, s)
}

// opened keeps a nil pointer from becoming a store that is not nil.
func opened[S store](s S, err error) (store, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Close closes what Open opened.
func (a *App) Close() error {
	var errs []error
	if a.store != nil {
		errs = append(errs, a.store.Close())
	}
	if a.folder != nil {
		errs = append(errs, a.folder.Unlock())
	}
	return errors.Join(errs...)
}

// RotateVault makes a new key for sealing secrets; older ones still open what
// they sealed.
func (a *App) RotateVault(ctx context.Context) error { return a.vault.Rotate(ctx) }

// bootstrap makes the first workspace and key. It returns the key that was
// made, with its id, or nothing where there is one already or the operator has
// chosen it.
func (a *App) bootstrap(ctx context.Context) (made string, id feedmill.ID, err error) {
	w := newDefaultWorkspace()
	k := feedmill.Key{ID: feedmill.NewID(feedmill.PrefixKey), Name: "first key", Scopes: feedmill.Scopes, CreatedAt: w.CreatedAt}
	secret := a.config.BootstrapKey
	if secret != "" {
		k.Name = "bootstrap key"
	} else {
		secret = feedmill.NewKeySecret()
	}
	k.Hash = feedmill.HashKey(secret)
	added, err := a.store.Bootstrap(ctx, w, k, a.config.BootstrapKey == "")
	if err != nil {
		return "", "", fmt.Errorf("creating the first key: %w", err)
	}
	if !added || a.config.BootstrapKey != "" {
		return "", "", nil
	}
	return secret, k.ID, nil
}

func newDefaultWorkspace() feedmill.Workspace {
	return feedmill.Workspace{
		ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: feedmill.DefaultWorkspace,
		CreatedAt: time.Now().UTC().Truncate(time.Millisecond),
	}
}

func newMetrics() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return reg
}

// NewLog makes the log that the configuration asks for.
func NewLog(c *config.Config) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		level = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, options))
}
