package database

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Store is what connections need of the store.
type Store interface {
	CreateConnection(ctx context.Context, c feedmill.Connection, most int, response *feedmill.IdempotentResponse) error
	Connection(ctx context.Context, workspace, id feedmill.ID) (feedmill.Connection, error)
	ConnectionOf(ctx context.Context, workspace feedmill.ID, service string) (feedmill.Connection, error)
	Connections(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Connection, error)
	ChangeConnection(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.Connection, []feedmill.FeedReference) error) (feedmill.Connection, error)
	TakeRenewal(ctx context.Context, workspace, id feedmill.ID, holder string, at, until time.Time) (taken bool, received []byte, err error)
	EndRenewal(ctx context.Context, workspace, id feedmill.ID, holder string, received []byte) error
	DeleteConnection(ctx context.Context, workspace, id feedmill.ID) (users []feedmill.FeedReference, err error)
	UnmaskedConnections(ctx context.Context, after feedmill.Connection, limit int) ([]feedmill.Connection, error)
	MaskErrors(ctx context.Context, workspace, connection feedmill.ID, mask func(string) string) error
	CreateSQLView(ctx context.Context, v feedmill.SQLView, most int, response *feedmill.IdempotentResponse) error
	SQLView(ctx context.Context, workspace, connection feedmill.ID, name string) (feedmill.SQLView, error)
	SQLViews(ctx context.Context, workspace, connection feedmill.ID, p feedmill.Page) ([]feedmill.SQLView, error)
	ChangeSQLView(ctx context.Context, v feedmill.SQLView, response *feedmill.IdempotentResponse) error
	DeleteSQLView(ctx context.Context, v feedmill.SQLView, uses func(spec []byte) bool) (users []feedmill.FeedReference, err error)
}

// Vault seals what must not stand in the store as plain text.
type Vault interface {
	Seal(plain []byte, record string) ([]byte, error)
	Unseal(ctx context.Context, sealed []byte, record string) ([]byte, error)
}

// Options are the parts that connections stand on.
type Options struct {
	Store Store
	Vault Vault
	// Connectors are those that there are, by their names.
	Connectors map[string]Connector
	// Feeds are the feeds of workspaces, which every one has as a service.
	Feeds Feeds
	// CheckHost says what can be said of a host without resolving it, and Dial
	// makes connections, by the egress policy.
	CheckHost func(host string) error
	Dial      func(ctx context.Context, network, address string) (net.Conn, error)
	// Forbidden is what an error of Dial matches where the policy forbids an address.
	Forbidden error
	// Temp is the folder for what outlives no query.
	Temp string
	// Folders knows where the files of databases may be.
	Folders Folders
	// APIs are the HTTP APIs that are services; it may be nil.
	APIs APIs
	// Offer makes the link with which a person connects a service.
	Offer func(ctx context.Context, workspace feedmill.ID, service string) (feedmill.SignInLink, error)
	// Permits limits the sessions of a connection to a server across replicas; nil for one
	// process.
	Permits *share.Permits
	Log     *slog.Logger
}

// Connections makes and changes connections, and knows what there is behind them.
type Connections struct {
	Options
	open opened
	seen catalogue
	// looks are the places for those who look at databases while somebody waits.
	looks *share.Slots
	// masking belongs to the goroutine that calls MaskErrors.
	masking masking
}

const (
	// maxLooks is how many may look at databases at the same time, looksEach how
	// many of one workspace, and looksWaiting how many more of it may wait.
	maxLooks, looksEach, looksWaiting = 32, 4, 32
	// testTimeout bounds the test of a connection, and lookTimeout a look at what
	// there is behind it.
	testTimeout, lookTimeout = 20 * time.Second, 25 * time.Second
)

// New makes connections.
func New(o Options) *Connections {
	if o.Dial != nil {
		o.Dial = quiet(o.Dial, o.Forbidden)
	}
	return &Connections{Options: o, looks: share.NewSlots(maxLooks, looksEach, looksWaiting)}
}

// Close gives up all databases that are open.
func (c *Connections) Close() { c.open.close() }

// now is the present as records keep it.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Create makes the connection that a body asks for. Faults of the request are
// noted with those that were found before, and are all of them in the error.
func (c *Connections) Create(ctx context.Context, workspace feedmill.ID, body *strictjson.Object, faults *feedmill.Faults, keep func(feedmill.Connection) (*feedmill.IdempotentResponse, error)) (feedmill.Connection, error) {
	made := feedmill.Connection{ID: feedmill.NewID(feedmill.PrefixConnection), Workspace: workspace, CreatedAt: now()}
	made.UpdatedAt = made.CreatedAt
	if f, ok := body.Need("serviceName"); ok {
		made.ServiceName = feedmill.ReadServiceName(f)
	}
	f, given := body.Need("connector")
	config, configured := body.Need("config")
	var kind feedmill.Connector
	if given {
		var known bool
		kind, known = feedmill.ReadConnector(f, c.apiConnectors())
		made.Connector, given = kind.Name, known
		if a, ok := c.api(kind.Name); ok && a.Personal {
			f.Fault(a.Title + " must be connected by a user. Get a link with GET /data_feeds/creation_url.")
			given = false
		}
	}
	var settings feedmill.ConnectionConfig
	if o, ok := object(config, configured); ok && given {
		settings = kind.Read(o, nil)
		c.checkPlace(kind, settings, o)
	}
	body.RefuseUnknown()
	if err := faults.Refusal(); err != nil {
		return feedmill.Connection{}, err
	}
	if made.ServiceName == feedmill.ServiceFeeds {
		return feedmill.Connection{}, nameTaken(made.ServiceName)
	}
	if err := c.keep(&made, kind, settings); err != nil {
		return feedmill.Connection{}, err
	}
	response, err := keep(made)
	if err != nil {
		return feedmill.Connection{}, err
	}
	err = c.Store.CreateConnection(ctx, made, feedmill.MaxConnections, response)
	if _, full := errors.AsType[*feedmill.QuotaError](err); full {
		err = &feedmill.Error{
			Kind: feedmill.ErrConflict, Type: "quota-reached", Transient: true,
			Detail: fmt.Sprintf("This workspace already has %d connections (the maximum). Delete connections that you do not need.", feedmill.MaxConnections),
		}
	} else if errors.Is(err, feedmill.ErrConflict) && !errors.Is(err, feedmill.ErrIdempotencyKeyUsed) {
		err = nameTaken(made.ServiceName)
	}
	return made, err
}

func object(f strictjson.Field, given bool) (*strictjson.Object, bool) {
	if !given {
		return nil, false
	}
	return f.Object()
}

func nameTaken(service string) error {
	detail := "The workspace already has a connection of this name. Choose another name."
	if service == feedmill.ServiceFeeds {
		detail = "The name feeds is reserved in every workspace. Choose another name."
	}
	return &feedmill.Error{
		Kind: feedmill.ErrConflict, Type: "name-taken", Detail: detail,
		Faults: []feedmill.Fault{{Pointer: "/serviceName", Detail: "serviceName is already used in this workspace."}},
	}
}

// checkPlace notes a place that a connection must not lead to.
func (c *Connections) checkPlace(kind feedmill.Connector, config feedmill.ConnectionConfig, o *strictjson.Object) {
	if host, ok := config["host"]; ok && c.CheckHost != nil {
		if err := c.CheckHost(host); err != nil && !feedmill.IsLocalHost(host) {
			o.Fault("host", "host cannot be used: "+err.Error()+".")
		}
	}
	if path, ok := config["path"]; ok {
		if _, fault := c.Folders.Resolve(path); fault != "" {
			o.Fault("path", fault)
		}
	}
}

// keep puts what a config says into a connection, its secrets sealed.
func (c *Connections) keep(made *feedmill.Connection, kind feedmill.Connector, config feedmill.ConnectionConfig) error {
	shown := strictjson.Value{Kind: '{'}
	secrets := make(feedmill.ConnectionConfig)
	for _, s := range kind.Settings {
		text, ok := config[s.Name]
		switch {
		case !ok:
		case s.Secret:
			secrets[s.Name] = text
			shown.Set(s.Name, strictjson.String(feedmill.Hidden))
		case s.Integer:
			shown.Set(s.Name, strictjson.Value{Kind: '0', Raw: []byte(text)})
		default:
			shown.Set(s.Name, strictjson.String(text))
		}
	}
	plain, err := json.Marshal(secrets)
	if err != nil {
		return fmt.Errorf("the secrets of a connection: %w", err)
	}
	made.Config = shown.Append(nil)
	made.Secrets, err = c.Vault.Seal(plain, made.SecretsRecord())
	return err
}

// config is what a connection says, its secrets included.
func (c *Connections) config(ctx context.Context, of feedmill.Connection) (feedmill.ConnectionConfig, error) {
	var shown map[string]any
	if err := json.Unmarshal(of.Config, &shown); err != nil {
		return nil, fmt.Errorf("the config of a connection: %w", err)
	}
	config := make(feedmill.ConnectionConfig)
	for name, value := range shown {
		config[name] = fmt.Sprint(value)
	}
	plain, err := c.Vault.Unseal(ctx, of.Secrets, of.SecretsRecord())
	if err != nil {
		return nil, fmt.Errorf("the secrets of a connection: %w", err)
	}
	if err := json.Unmarshal(plain, &config); err != nil {
		return nil, fmt.Errorf("the secrets of a connection: %w", err)
	}
	return config, nil
}
