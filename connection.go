package feedmill

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill/internal/strictjson"
	"github.com/feedmill/feedmill/internal/suggest"
)

// Connection is a database that queries of a workspace run on, under the name of
// a service.
type Connection struct {
	ID        ID
	Workspace ID
	// ServiceName is unique in the workspace.
	ServiceName string
	Connector   string
	// Config is the JSON text of where the database is and how it is reached,
	// with [Hidden] for every secret, and Secrets is the JSON text of those,
	// sealed.
	Config  []byte
	Secrets []byte

	CreatedAt time.Time
	UpdatedAt time.Time
}

// ServiceFeeds is the service that every workspace has: queries over its own
// feeds.
const ServiceFeeds = "feeds"

const (
	// MaxServiceName is how many characters the name of a service may have.
	MaxServiceName = 100
	// MaxConnections is how many connections a workspace may have.
	MaxConnections = 500
)

// ReadServiceName reads the name of a service.
func ReadServiceName(f strictjson.Field) string {
	name, ok := f.Label(MaxServiceName)
	if ok && (strings.TrimSpace(name) != name || strings.Contains(name, "/") || name == "." || name == "..") {
		f.Fault("The service name is part of URLs: it must not contain a slash, start or end with a space, or be . or .. alone.")
	}
	return name
}

// FeedReference names a feed.
type FeedReference struct {
	ID   ID
	Name string
}

// InUse is the refusal to change or delete what feeds use. It names at most 10 of them;
// next is what to do about it.
func InUse(what string, users []FeedReference, next string) error {
	const most = 10
	var names []string
	for _, u := range users[:min(len(users), most)] {
		names = append(names, fmt.Sprintf("%s (%s)", u.ID, u.Name))
	}
	more := ""
	if n := len(users) - most; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return &Error{Kind: ErrConflict, Type: "in-use", Detail: what + ": " + strings.Join(names, ", ") + more + ". " + next}
}

// ConnectionTest is what came of trying a connection.
type ConnectionTest struct {
	OK       bool
	Detail   string
	Duration time.Duration
}

// Connector is a kind of databases that connections are made to.
type Connector struct {
	Name string
	// Title is its name on pages.
	Title    string
	Settings []ConnectorSetting
}

// ConnectorSetting is a member of the config of a connection.
type ConnectorSetting struct {
	Name string
	// Title and Description are for people, empty where the name says enough.
	Title, Description string

	Required bool
	// Default applies where the setting is not given. Remote, if it is not empty, is
	// written into the config of a connection to a host other than loopback instead.
	Default, Remote string
	// Words are those that the setting can be, nil for any text.
	Words []string
	// Integer says that it is a whole number from Low to High, and Duration that it
	// is one from Least to Most.
	Integer, Duration bool
	Low, High         int
	Least, Most       time.Duration
	// PEM says that it is certificates or a key in PEM.
	PEM bool
	// Secret says that it is sealed and never shown.
	Secret bool
	// Place says that it is where the secrets are sent: who changes it must know
	// them.
	Place bool
	// Granted says that a person's sign-in gives it, and nobody else.
	Granted bool
}

// Connectors are those that there are.
var Connectors = []Connector{
	{"postgres", "PostgreSQL", append(serverSettings("5432"), tlsSettings("sslmode", "prefer", "verify-full", "disable", "prefer", "require", "verify-ca", "verify-full")...)},
	{"mysql", "MySQL or MariaDB", append(serverSettings("3306"), tlsSettings("tls", "off", "on", "off", "on", "skipVerify")...)},
	{"sqlite", "SQLite file", []ConnectorSetting{{Name: "path", Required: true, Place: true}, statementTimeout}},
	{"duckdb", "DuckDB file", []ConnectorSetting{{Name: "path", Required: true, Place: true}, statementTimeout}},
}

var statementTimeout = ConnectorSetting{Name: "statementTimeout", Default: "10m", Duration: true, Least: time.Second, Most: 24 * time.Hour}

func serverSettings(port string) []ConnectorSetting {
	return []ConnectorSetting{
		{Name: "host", Required: true, Place: true},
		{Name: "port", Default: port, Integer: true, Low: 1, High: maxPort, Place: true},
		{Name: "database", Required: true},
		{Name: "user", Required: true},
		{Name: "password", Secret: true},
		{Name: "connectTimeout", Default: "10s", Duration: true, Least: time.Second, Most: time.Minute},
		statementTimeout,
		{Name: "maxSessions", Default: strconv.Itoa(DefaultSessions), Integer: true, Low: MinSessions, High: MaxSessions},
	}
}

// A connection has so many sessions at the same time, across all replicas. One of them is
// reserved for requests that a client waits for.
const (
	MinSessions, MaxSessions = 2, 32
	DefaultSessions          = 4
)

// FindConnector finds a connector by its name.
func FindConnector(name string) (Connector, bool) {
	i := slices.IndexFunc(Connectors, func(c Connector) bool { return c.Name == name })
	if i < 0 {
		return Connector{}, false
	}
	return Connectors[i], true
}

// ReadConnector reads the name of the connector of a new connection, which is one
// of those that there are always or one of some more.
func ReadConnector(f strictjson.Field, more []Connector) (Connector, bool) {
	name, ok := f.Text()
	if !ok {
		return Connector{}, false
	}
	var names []string
	for _, c := range slices.Concat(Connectors, more) {
		if c.Name == name {
			return c, true
		}
		names = append(names, c.Name)
	}
	detail := "Unknown connector. The connectors are " + strings.Join(names, ", ") + "."
	if near := suggest.Nearest(name, names); len(near) > 0 {
		detail += " Did you mean " + strings.Join(near, " or ") + "?"
	}
	if name == ServiceFeeds {
		detail = "The service feeds is built in and needs no connection. The connectors are " + strings.Join(names, ", ") + "."
	}
	f.Fault(detail)
	return Connector{}, false
}

// ConnectionConfig is what somebody says of a connection: a text for each of the
// settings of its connector.
type ConnectionConfig map[string]string

// Read reads the config of a connection and notes every fault of it. What a
// setting was before stays where the object does not have it; null takes it away.
func (c Connector) Read(o *strictjson.Object, before ConnectionConfig) ConnectionConfig {
	config := make(ConnectionConfig)
	for _, s := range c.Settings {
		f, given := o.Get(s.Name)
		switch {
		case given && s.Granted && (f.Kind != '"' || f.Value.Text() != Hidden):
			f.Fault(s.Name + " is set by a sign-in. Connect the service again with a link from GET /data_feeds/creation_url.")
		case given && f.Kind != 'n':
			if text, ok := s.read(f); ok {
				config[s.Name] = text
			}
			if s.Secret && config[s.Name] == Hidden {
				config[s.Name] = before[s.Name]
				if before[s.Name] == "" {
					f.Fault(s.Name + " is a placeholder for a stored secret, but no secret is stored. Send the secret itself, or omit the field.")
				}
			}
		case !given && before[s.Name] != "":
			config[s.Name] = before[s.Name]
		case s.Required:
			f.Fault(strictjson.Required)
		case s.Remote != "" && config["host"] != "" && !IsLocalHost(config["host"]):
			config[s.Name] = s.Remote
		}
	}
	o.RefuseUnknown()
	c.checkTLS(o, config)
	c.checkPlace(o, before, config)
	return config
}

// checkPlace notes secrets that would be sent to another place than that which
// they were given for.
func (c Connector) checkPlace(o *strictjson.Object, before, config ConnectionConfig) {
	var moved []string
	for _, s := range c.Settings {
		if s.Place && before != nil && s.of(before) != s.of(config) {
			moved = append(moved, s.Name)
		}
	}
	for _, s := range c.Settings {
		f, given := o.Get(s.Name)
		known := given && (f.Kind == 'n' || f.Kind == '"' && f.Value.Text() != Hidden)
		if s.Secret && len(moved) > 0 && before[s.Name] != "" && !known {
			f.Fault(s.Name + " must be sent again if " + strings.Join(moved, " or ") + " changes: a stored secret is sent only to its original server.")
		}
	}
}

// of is what a config says of a setting, or what counts where it does not.
func (s ConnectorSetting) of(c ConnectionConfig) string {
	if text, ok := c[s.Name]; ok {
		return text
	}
	return s.Default
}

// Setting is what a config says of a setting of the connector, or what counts
// where it does not.
func (c Connector) Setting(config ConnectionConfig, name string) string {
	for _, s := range c.Settings {
		if s.Name == name {
			return s.of(config)
		}
	}
	return ""
}

const (
	maxPort = 65535
	// maxSetting is how many characters a setting may have.
	maxSetting = 4096
)

// read reads the value of a setting.
func (s ConnectorSetting) read(f strictjson.Field) (string, bool) {
	switch {
	case s.Integer:
		n, ok := f.Integer(s.Low, s.High)
		return strconv.Itoa(n), ok
	case s.Words != nil:
		return f.Choice(s.Words...)
	case s.Duration:
		text, ok := f.Text()
		if !ok {
			return "", false
		}
		d, err := ParseDuration(text)
		if err != nil || d < s.Least || d > s.Most {
			f.Fault(s.Name + " must be a duration between " + FormatDuration(s.Least) + " and " + FormatDuration(s.Most) + ", such as 30s.")
			return "", false
		}
		return text, true
	case s.PEM:
		return ReadPEM(f)
	case s.Secret:
		text, ok := f.Text()
		if ok && (len(text) > maxSetting || strings.ContainsRune(text, 0)) {
			f.Fault(fmt.Sprintf("%s must have at most %d bytes and must not contain the character U+0000.", s.Name, maxSetting))
			return "", false
		}
		return text, ok
	}
	return f.Label(maxSetting)
}
