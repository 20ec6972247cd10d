package database

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// opened are the databases that are open. Each stays so for a while after it was
// used, so that its connections are used again.
type opened struct {
	mu sync.Mutex
	by map[feedmill.ID]*openDatabase
	// closing are those that are being closed. A server that does not answer holds
	// that up, which nobody else is to wait for.
	closing sync.WaitGroup
}

// openDatabase is a database that is open, for one state of its connection.
type openDatabase struct {
	Database
	of       time.Time   // when the connection was changed
	file     fs.FileInfo // that of a file, nil for a server
	sessions *sessions
	users    int
	retired  bool // another is there in its place
	idle     *time.Timer
}

// keepIdle is how long a database stays open that nobody uses.
const keepIdle = time.Minute

// longestClose is how long the end of the service waits for servers.
const longestClose = 3 * time.Second

// with has something done with the database of a connection.
func (c *Connections) with(ctx context.Context, of feedmill.Connection, do func(Database) error) error {
	d, err := c.use(ctx, of)
	if err != nil {
		return err
	}
	defer c.open.leave(of.ID, d)
	release, err := d.sessions.take(ctx, of)
	if err != nil {
		return err
	}
	defer release()
	return do(d.Database)
}

// afresh has something done with the database of a connection over connections of
// its own: those that are open may be from before a password was changed.
func (c *Connections) afresh(ctx context.Context, of feedmill.Connection, do func(Database) error) error {
	connector, settings, err := c.find(ctx, of)
	if err != nil {
		return err
	}
	return c.with(ctx, of, func(Database) error { // whose session this takes
		db, err := connector.Open(ctx, settings)
		if err != nil {
			return err
		}
		defer c.open.giveUp(db)
		return do(db)
	})
}

// find is what opens the database of a connection, and what it is told.
func (c *Connections) find(ctx context.Context, of feedmill.Connection) (Connector, Config, error) {
	config, err := c.config(ctx, of)
	if err != nil {
		return nil, Config{}, err
	}
	kind, known := feedmill.FindConnector(of.Connector)
	connector, there := c.Connectors[of.Connector]
	if !known || !there {
		return nil, Config{}, Fail(ProblemUnreachable, "Unknown connector "+of.Connector+" here.", nil)
	}
	settings, err := c.settings(kind, config)
	return connector, settings, err
}

// use opens the database of a connection, or takes the one that is open.
func (c *Connections) use(ctx context.Context, of feedmill.Connection) (*openDatabase, error) {
	connector, settings, err := c.find(ctx, of)
	if err != nil {
		return nil, err
	}
	var file fs.FileInfo
	if settings.Path != "" {
		if file, err = os.Stat(settings.Path); err != nil {
			return nil, Fail(ProblemUnreachable, outside, err)
		}
	}
	if d := c.open.find(of, file); d != nil {
		return d, nil
	}
	db, err := connector.Open(ctx, settings)
	if err != nil {
		return nil, err
	}
	shared := c.Permits
	if file != nil {
		shared = nil // each replica has files of its own
	}
	return c.open.add(of, file, db, newSessions(settings.WithDefaults().MaxConns, shared)), nil
}

// settings are what a connector is told.
func (c *Connections) settings(kind feedmill.Connector, config feedmill.ConnectionConfig) (Config, error) {
	say := func(name string) string { return kind.Setting(config, name) }
	s := Config{Host: say("host"), Database: say("database"), User: say("user"), Password: say("password"), TLS: say("sslmode") + say("tls"), Dial: c.Dial, Temp: c.Temp, CloseIdle: c.Permits != nil}
	s.CACert, s.ClientCert, s.ClientKey = say("caCert"), say("clientCert"), say("clientKey")
	for name, into := range map[string]*int{"port": &s.Port, "maxSessions": &s.MaxConns} {
		if text := say(name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil {
				return s, fmt.Errorf("the %s of a connection: %w", name, err)
			}
			*into = n
		}
	}
	for name, into := range map[string]*time.Duration{"connectTimeout": &s.ConnectTimeout, "statementTimeout": &s.StatementTimeout} {
		if text := say(name); text != "" {
			d, err := feedmill.ParseDuration(text)
			if err != nil {
				return s, fmt.Errorf("the %s of a connection: %w", name, err)
			}
			*into = d
		}
	}
	if path := say("path"); path != "" {
		// The folders may have changed since, and so may what a link leads to.
		file, fault := c.Folders.Resolve(path)
		if fault != "" {
			return s, Fail(ProblemUnreachable, fault, nil)
		}
		s.Path = file
	}
	return s, nil
}

// find is the database that is open for the present state of a connection. A file
// that another was put in the place of is not it.
func (o *opened) find(of feedmill.Connection, file fs.FileInfo) *openDatabase {
	o.mu.Lock()
	defer o.mu.Unlock()
	d := o.by[of.ID]
	if d == nil || !d.isFor(of, file) {
		return nil
	}
	d.users++
	return d
}

// add keeps a database open. Where another is open for the same state, that one is
// used; one for another state is closed when nobody uses it any more.
func (o *opened) add(of feedmill.Connection, file fs.FileInfo, db Database, sessions *sessions) *openDatabase {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by == nil {
		o.by = make(map[feedmill.ID]*openDatabase)
	}
	if d := o.by[of.ID]; d != nil {
		if d.isFor(of, file) {
			o.giveUp(db)
			d.users++
			return d
		}
		o.retire(d)
	}
	d := &openDatabase{Database: db, of: of.UpdatedAt, file: file, sessions: sessions, users: 1}
	o.by[of.ID] = d
	return d
}

func (d *openDatabase) isFor(of feedmill.Connection, file fs.FileInfo) bool {
	return d.of.Equal(of.UpdatedAt) && (file == nil || os.SameFile(file, d.file))
}

// retire closes a database now or when nobody uses it.
func (o *opened) retire(d *openDatabase) {
	d.retired = true
	if d.users == 0 {
		o.giveUp(d.Database)
	}
}

// giveUp closes a database while others go on.
func (o *opened) giveUp(db Database) {
	o.closing.Go(func() { _ = db.Close() }) // what was read is read
}

// leave says that a database is not used any more.
func (o *opened) leave(id feedmill.ID, d *openDatabase) {
	o.mu.Lock()
	defer o.mu.Unlock()
	d.users--
	switch {
	case d.users > 0:
	case d.retired:
		o.giveUp(d.Database)
	case d.idle == nil:
		d.idle = time.AfterFunc(keepIdle, func() { o.closeIdle(id, d) })
	default:
		d.idle.Reset(keepIdle)
	}
}

func (o *opened) closeIdle(id feedmill.ID, d *openDatabase) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if d.users == 0 && !d.retired && o.by[id] == d {
		delete(o.by, id)
		o.retire(d)
	}
}

// forget closes the database of a connection that is gone.
func (o *opened) forget(id feedmill.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if d := o.by[id]; d != nil {
		delete(o.by, id)
		o.retire(d)
	}
}

// close closes all of them. It does not wait for long: what a server does not
// answer to is gone with the process.
func (o *opened) close() {
	o.mu.Lock()
	for id, d := range o.by {
		delete(o.by, id)
		if d.idle != nil {
			d.idle.Stop()
		}
		o.retire(d)
	}
	o.mu.Unlock()
	closed := make(chan struct{})
	go func() {
		o.closing.Wait()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(longestClose):
	}
}
