package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// Mill is a running Feedmill and a workspace in it.
type Mill struct {
	*process
	// URL is where it listens, Key the credential of a publisher who may
	// subscribe, too.
	URL, Key string
	// Admin is the credential of who may do everything.
	Admin string
	// Workspace is the id of the workspace that the key is of.
	Workspace string
	// Folder is where it keeps its data, and Database the URL of its store
	// where that is PostgreSQL.
	Folder, Database string
	// forget removes its store.
	forget func() error
	// command starts it again on the same store.
	command func() *exec.Cmd
}

// Start starts a Feedmill on an empty store. Its environment has what env says besides.
func (r *Rig) Start(ctx context.Context, program string, env ...string) (*Mill, error) {
	r.feedmills++
	name := fmt.Sprint("bench", r.feedmills)
	folder := filepath.Join(r.folder, name)
	m := &Mill{Admin: feedmill.NewKeySecret(), Folder: folder, forget: func() error { return os.RemoveAll(folder) }}
	env = slices.Concat(os.Environ(), []string{"FEEDMILL_BOOTSTRAP_KEY=" + m.Admin, "FEEDMILL_EGRESS_ALLOW=127.0.0.0/8", "FEEDMILL_LOG_LEVEL=warn"}, env)
	if r.server != nil {
		url, err := r.server.create(ctx, name)
		if err != nil {
			return nil, err
		}
		m.Database = url
		m.forget = func() error { return errors.Join(os.RemoveAll(folder), r.server.drop(name)) }
		env = append(env, "FEEDMILL_DATABASE_URL="+url, "FEEDMILL_VAULT_KEY=of-a-database-that-is-dropped-in-a-moment")
	}
	m.command = func() *exec.Cmd {
		cmd := exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--data", folder)
		if r.Log != nil {
			cmd.Stderr = r.Log
		}
		cmd.Env = env
		return cmd
	}
	if err := m.Restart(); err != nil {
		return nil, errors.Join(err, m.forget())
	}
	if err := m.settleIn(ctx); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// Restart starts the Feedmill on its store, after [process.Stop]. It returns once the
// Feedmill listens.
func (m *Mill) Restart() error {
	p, line, err := start(m.command())
	if err != nil {
		return err
	}
	m.process = p
	_, rest, _ := strings.Cut(line, "listening on ")
	m.URL, _, _ = strings.Cut(rest, " ")
	return nil
}

// Close stops the Feedmill and removes its store. It may be called again.
func (m *Mill) Close() error {
	m.Stop()
	return m.forget()
}

// settleIn makes a workspace and a key of few scopes, as a publisher has.
func (m *Mill) settleIn(ctx context.Context) error {
	return m.moveTo(ctx, "bench")
}

// Beside is the same Feedmill with a workspace of its own, for another publisher.
// Only the first is closed.
func (m *Mill) Beside(ctx context.Context) (*Mill, error) {
	other := *m
	return &other, other.moveTo(ctx, "beside")
}

// moveTo makes a workspace and a key of it.
func (m *Mill) moveTo(ctx context.Context, name string) error {
	c := client.New(m.URL, m.Admin)
	w, err := c.CreateWorkspace(ctx, name)
	if err != nil {
		return err
	}
	k, err := c.CreateKey(ctx, client.NewKey{Name: "bench", Scopes: []string{"api:read", "api:write", "events:publish"}, WorkspaceID: w.ID})
	m.Key, m.Workspace = k.Secret, w.ID
	return err
}

// Subscribe makes n subscriptions to endpoints of the sink, all of a kind.
func (m *Mill) Subscribe(ctx context.Context, s *Sink, kind string, n int) error {
	c := client.New(m.URL, m.Key)
	errs := make([]error, subscribers)
	var next atomic.Int64
	var wg sync.WaitGroup
	// Where there are few, they are made in order.
	for i := range min(subscribers, n/manySubscriptions+1) {
		wg.Go(func() {
			for number := next.Add(1) - 1; number < int64(n) && errs[i] == nil; number = next.Add(1) - 1 {
				_, errs[i] = c.CreateSubscription(ctx, client.NewSubscription{URL: fmt.Sprint(s.URL, kind, number), Events: []string{"metric.*"}})
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

const (
	// subscribers is how many subscriptions are made at once, one for each
	// manySubscriptions.
	subscribers       = 16
	manySubscriptions = 1000
)

// Upload creates a feed from a file, in the workspace of the key. It sends the file as curl does: an
// idempotency key would make the server hash the body, too.
func (m *Mill) Upload(ctx context.Context, key, path, format string) (feed client.DataFeed, err error) {
	file, err := os.Open(path)
	if err != nil {
		return feed, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	upload := client.Upload{Data: file, Format: format, Name: filepath.Base(path)}
	return client.New(m.URL, key).CreateDataFeed(ctx, upload, client.IdempotencyKey(""))
}

// Memory is the resident size of the Feedmill now and at its largest, in bytes.
func (m *Mill) Memory() (now, peak int) { return memory(m.cmd.Process.Pid) }

// Table is the file in which the Feedmill keeps the only version of a feed.
func (m *Mill) Table(feed client.DataFeed) (string, error) {
	files, err := filepath.Glob(filepath.Join(m.Folder, "files", feed.ID, "*.parquet"))
	if err != nil {
		return "", err
	}
	if len(files) != 1 {
		return "", fmt.Errorf("the table of %s is in %d files", feed.ID, len(files))
	}
	return files[0], nil
}
