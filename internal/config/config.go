// Package config is what an operator can set, and where each setting comes
// from: a default, then the configuration file, then the environment, then a
// flag, each over the one before.
//
// Every setting has one name in three spellings: rateLimit in the file,
// FEEDMILL_RATE_LIMIT in the environment, --rate-limit on the command line.
// A name that is not in the table is an error, wherever it stands, so that a
// misspelt setting is never silently without effect.
package config

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/suggest"
)

// Config is the effective configuration.
type Config struct {
	Listen         string
	Data           string
	DatabaseURL    string
	BlobURL        string
	TLSCert        string
	TLSKey         string
	VaultKey       string
	BootstrapKey   string
	LogLevel       string
	LogFormat      string
	EgressAllow    []string
	EgressProxy    string
	OIDCIssuer     string
	OIDCAudience   string
	OIDCClientID   string
	OIDCSecret     string
	CORSOrigins    []string
	RateLimit      float64
	RateBurst      int
	TracesEndpoint string
	// TracesHeaders are those of requests to the endpoint, as name=value,other=value. They can have a
	// secret, and only the environment has them.
	TracesHeaders string
	PublicURL     string

	RetrySchedule    []time.Duration
	EventRetention   time.Duration
	EventFamilies    []string
	EventTypes       []feedmill.EventType
	EnforceSchemas   bool
	IcebergLocal     bool
	MaxSubscriptions int
	MaxUploadBytes   int64
	MaxStoredBytes   Bytes
	MinFreeDisk      Bytes
	Cache            string
	CacheBytes       Bytes
	QueryTimeout     time.Duration
	DatabaseDirs     []string
	ServicesDir      string
	ServiceClients   []string
	ConnectRedirects []string

	// BlobAccessKey and BlobSecretKey are the credentials of the bucket, and the others files
	// that contain them.
	BlobAccessKey, BlobSecretKey         string
	BlobAccessKeyFile, BlobSecretKeyFile string

	// SMTPURL is the server that sends e-mail, and SMTPURLFile a file that contains the URL.
	SMTPURL, SMTPURLFile string
	// SMTPFrom is the address of the sender.
	SMTPFrom    string
	MailDomains []string
	MailLimit   int

	// Portal is how the portal looks, and PortalOrigins are the origins whose pages can show it
	// in a frame.
	Portal        feedmill.PortalBrand
	PortalOrigins []string

	origin map[string]string
}

// Setting is a row of the table of settings.
type Setting struct {
	// Name is as the configuration file spells it.
	Name string
	// Help is one line for people.
	Help string
	// Secret settings are masked wherever they are shown.
	Secret bool
	// Default is the text of the default.
	Default string
	field   func(*Config) any
	// check fails where the value is wrong, alone or beside others; nil takes every value.
	check func(*Config) error
}

// Settings is the table of settings.
var Settings = []Setting{
	{Name: "listen", Default: "127.0.0.1:8080", Help: "address to listen on", field: func(c *Config) any { return &c.Listen }, check: checkListen},
	{Name: "data", Default: "./feedmill-data", Help: "folder for records, data files and the vault's key", field: func(c *Config) any { return &c.Data }, check: checkData},
	{Name: "tlsCert", Help: "PEM file with the server's certificate and intermediates; reloaded when it changes", field: func(c *Config) any { return &c.TLSCert }, check: checkTLS},
	{Name: "tlsKey", Help: "PEM file with the private key of the certificate", field: func(c *Config) any { return &c.TLSKey }},
	{Name: "databaseUrl", Secret: true, Help: "URL of a PostgreSQL database (postgres://…) that stores records instead of the data folder", field: func(c *Config) any { return &c.DatabaseURL }, check: checkDatabase},
	{Name: "blobUrl", Help: "bucket that stores the files of feeds, s3://bucket/prefix?region=…&endpoint=https://…&pathStyle=true&role=instance|container; default: the data folder", field: func(c *Config) any { return &c.BlobURL }},
	{Name: "blobAccessKey", Secret: true, Help: "access key of the bucket; default: the AWS environment variables, then the shared credentials file", field: func(c *Config) any { return &c.BlobAccessKey }, check: checkBlobKeys},
	{Name: "blobAccessKeyFile", Help: "file with the access key of the bucket", field: func(c *Config) any { return &c.BlobAccessKeyFile }},
	{Name: "blobSecretKey", Secret: true, Help: "secret key of the bucket", field: func(c *Config) any { return &c.BlobSecretKey }},
	{Name: "blobSecretKeyFile", Help: "file with the secret key of the bucket", field: func(c *Config) any { return &c.BlobSecretKeyFile }},
	{Name: "cache", Help: "folder for local copies of files of the bucket, on the file system of the data folder; default: cache in the data folder", field: func(c *Config) any { return &c.Cache }},
	{Name: "cacheBytes", Default: "10GiB", Help: "maximum size of the local copies, at most half of the disk", field: func(c *Config) any { return &c.CacheBytes }},
	{Name: "icebergLocal", Default: "false", Help: "whether feeds are Iceberg tables with file:// locations if the files are in the data folder", field: func(c *Config) any { return &c.IcebergLocal }},
	{Name: "vaultKey", Secret: true, Help: "key that encrypts secrets at rest, at least 32 characters; default: a file in the data folder", field: func(c *Config) any { return &c.VaultKey }, check: checkVaultKey},
	{Name: "bootstrapKey", Secret: true, Help: "first admin key, at least 24 characters; default: generated and printed once", field: func(c *Config) any { return &c.BootstrapKey }, check: checkBootstrapKey},
	{Name: "logLevel", Default: "info", Help: "lowest level to log: debug, info, warn or error", field: func(c *Config) any { return &c.LogLevel }, check: checkLogLevel},
	{Name: "logFormat", Default: "text", Help: "log format: text or json", field: func(c *Config) any { return &c.LogFormat }, check: checkLogFormat},
	{Name: "egressAllow", Help: "non-public address prefixes and hosts that outgoing requests can reach, separated by commas", field: func(c *Config) any { return &c.EgressAllow }},
	{Name: "egressProxy", Secret: true, Help: "forward proxy for outgoing requests, http://[user:password@]host:port", field: func(c *Config) any { return &c.EgressProxy }},
	{Name: "oidcIssuer", Help: "OIDC issuer whose JWTs are accepted", field: func(c *Config) any { return &c.OIDCIssuer }, check: checkIssuer},
	{Name: "oidcAudience", Help: "audience that the JWTs must contain", field: func(c *Config) any { return &c.OIDCAudience }},
	{Name: "oidcClientId", Help: "client ID, registered with the issuer, for user sign-in to the pages", field: func(c *Config) any { return &c.OIDCClientID }, check: checkClientID},
	{Name: "oidcClientSecret", Secret: true, Help: "secret of the OIDC client", field: func(c *Config) any { return &c.OIDCSecret }},
	{Name: "corsOrigins", Help: "origins whose pages can call the API, separated by commas; none by default", field: func(c *Config) any { return &c.CORSOrigins }},
	{Name: "rateLimit", Default: "0", Help: "requests per second for each credential; 0 means no limit", field: func(c *Config) any { return &c.RateLimit }},
	{Name: "rateBurst", Default: "0", Help: "burst size of a credential in requests; default: rateLimit for one second", field: func(c *Config) any { return &c.RateBurst }},
	{Name: "tracesEndpoint", Help: "OTLP/HTTP endpoint for traces, such as http://127.0.0.1:4318", field: func(c *Config) any { return &c.TracesEndpoint }, check: checkTraces},
	{Name: "publicUrl", Help: "base URL of links to feeds, such as https://feeds.example.com; default: the address of the request", field: func(c *Config) any { return &c.PublicURL }, check: checkPublicURL},
	{Name: "smtpUrl", Secret: true, Help: "server that sends e-mail, smtp://[user:password@]host:port (STARTTLS if offered; ?starttls=required|off) or smtps://…", field: func(c *Config) any { return &c.SMTPURL }, check: checkSMTP},
	{Name: "smtpUrlFile", Help: "file with the URL of the server that sends e-mail", field: func(c *Config) any { return &c.SMTPURLFile }},
	{Name: "smtpFrom", Help: "sender address of e-mail, such as feedmill@example.com", field: func(c *Config) any { return &c.SMTPFrom }},
	{Name: "mailDomains", Help: "domains whose mailboxes receive e-mail without confirming it, separated by commas; none by default", field: func(c *Config) any { return &c.MailDomains }},
	{Name: "mailLimit", Default: "60", Help: "maximum number of messages in an hour from a workspace to an e-mail address", field: func(c *Config) any { return &c.MailLimit }, check: checkMailLimit},
	{Name: "portal", Help: "name, logo (an image as a data URI, up to 64 KiB) and accent (such as #0b6e5a) of the portal, as a JSON object; in the file, a mapping", field: func(c *Config) any { return &c.Portal }, check: checkPortal},
	{Name: "portalOrigins", Help: "origins whose pages can show the portal in a frame, such as https://app.example.com, separated by commas; none by default", field: func(c *Config) any { return &c.PortalOrigins }, check: checkPortalOrigins},
	{Name: "retrySchedule", Default: "5s,5m,30m,2h,5h,10h,14h,20h,24h", Help: "delays between attempts of a delivery, separated by commas", field: func(c *Config) any { return &c.RetrySchedule }, check: checkRetries},
	{Name: "eventRetention", Default: "30d", Help: "how long events and their delivery log are kept", field: func(c *Config) any { return &c.EventRetention }, check: checkRetention},
	{Name: "eventFamilies", Help: "event families to enable in addition to the default ones, such as goal.*, separated by commas", field: func(c *Config) any { return &c.EventFamilies }},
	{Name: "eventTypes", Help: "custom event types, separated by commas; the file can also set description and schema", field: func(c *Config) any { return &c.EventTypes }},
	{Name: "enforceSchemas", Default: "false", Help: "reject events whose data does not match the JSON Schema of their type", field: func(c *Config) any { return &c.EnforceSchemas }},
	{Name: "maxSubscriptions", Default: "0", Help: "maximum number of subscriptions in a workspace; 0 means no limit", field: func(c *Config) any { return &c.MaxSubscriptions }},
	{Name: "maxUploadBytes", Default: "1073741824", Help: "maximum size of an upload in bytes, uncompressed", field: func(c *Config) any { return &c.MaxUploadBytes }},
	{Name: "maxStoredBytes", Default: "0", Help: "maximum disk space for the feeds of a workspace, such as 50GiB; 0 means no limit", field: func(c *Config) any { return &c.MaxStoredBytes }},
	{Name: "minFreeDisk", Default: "256MiB", Help: "disk space to keep free; below it, uploads are rejected and deliveries continue", field: func(c *Config) any { return &c.MinFreeDisk }},
	{Name: "queryTimeout", Default: "30s", Help: "maximum duration of a query; with 0s, only the response must start within 15m", field: func(c *Config) any { return &c.QueryTimeout }},
	{Name: "databaseDirs", Help: "folders of SQLite and DuckDB files that connections can read, separated by commas; none by default", field: func(c *Config) any { return &c.DatabaseDirs }, check: checkFolders},
	{Name: "servicesDir", Help: "folder of additional service manifests (*.yaml); reloaded when it changes", field: func(c *Config) any { return &c.ServicesDir }},
	{Name: "serviceClients", Secret: true, Help: "OAuth clients of services that users connect, as service=id:secret, separated by commas", field: func(c *Config) any { return &c.ServiceClients }, check: checkClients},
	{Name: "connectRedirects", Help: "origins that users can return to after connecting a service, such as https://app.example.com, separated by commas", field: func(c *Config) any { return &c.ConnectRedirects }, check: checkRedirects},
}

// Env is the setting's name in the environment.
func (s Setting) Env() string { return "FEEDMILL_" + s.spell("_", unicode.ToUpper) }

// Flag is the setting's name on the command line.
func (s Setting) Flag() string { return s.spell("-", unicode.ToLower) }

func (s Setting) spell(between string, fold func(rune) rune) string {
	var b strings.Builder
	for _, r := range s.Name {
		if unicode.IsUpper(r) {
			b.WriteString(between)
		}
		b.WriteRune(fold(r))
	}
	return b.String()
}

// clientEnv are the names in the environment that belong to the commands that
// talk to a server, and name no setting of it.
var clientEnv = []string{"FEEDMILL_CONFIG", "FEEDMILL_SERVER", "FEEDMILL_API_KEY", "FEEDMILL_PROFILE"}

// Load reads the configuration. environ is as [os.Environ] gives it; flags
// holds the flags that were set, by the setting's name.
func Load(file string, environ []string, flags map[string]string) (*Config, error) {
	c := &Config{origin: make(map[string]string)}
	var errs []error
	for _, s := range Settings {
		if err := s.set(c, s.Default, "default"); err != nil {
			errs = append(errs, err)
		}
	}
	if file != "" {
		errs = append(errs, c.readFile(file))
	}
	errs = append(errs, c.readEnvironment(environ))
	for _, s := range Settings {
		if text, ok := flags[s.Name]; ok {
			errs = append(errs, s.set(c, text, "flag --"+s.Flag()))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, c.validate()
}

// readEnvironment reads the settings in the environment. Of a name that stands
// there twice the last one counts, and an empty one counts as not set: so a
// compose file can pass on what may not be there.
func (c *Config) readEnvironment(environ []string) error {
	last := make(map[string]string, len(environ))
	for _, kv := range environ {
		name, text, _ := strings.Cut(kv, "=")
		last[name] = text
	}
	if text := last["OTEL_EXPORTER_OTLP_ENDPOINT"]; text != "" && c.TracesEndpoint == "" {
		c.TracesEndpoint, c.origin["tracesEndpoint"] = text, "environment OTEL_EXPORTER_OTLP_ENDPOINT"
	}
	c.TracesHeaders = last["OTEL_EXPORTER_OTLP_HEADERS"]
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(last)) {
		text := last[name]
		if text == "" || !strings.HasPrefix(name, "FEEDMILL_") || slices.Contains(clientEnv, name) {
			continue
		}
		i := slices.IndexFunc(Settings, func(s Setting) bool { return s.Env() == name })
		if i < 0 {
			errs = append(errs, fmt.Errorf("environment: %s is not a setting%s", name, didYouMean(name, Setting.Env)))
			continue
		}
		errs = append(errs, Settings[i].set(c, text, "environment "+name))
	}
	return errors.Join(errs...)
}

func didYouMean(name string, spelling func(Setting) string) string {
	var names []string
	for _, s := range Settings {
		names = append(names, spelling(s))
	}
	if near := suggest.Nearest(name, names); len(near) > 0 {
		return "; did you mean " + near[0] + "?"
	}
	return "; 'feedmill config' lists all settings"
}

// set reads the setting from text. Errors name the place and never the text. It is a table:
// one case for each type of a field.
func (s Setting) set(c *Config, text, origin string) error {
	c.origin[s.Name] = origin
	var err error
	switch p := s.field(c).(type) {
	case *string:
		*p = text
	case *[]string:
		*p = splitList(text)
	case *[]feedmill.EventType:
		*p = nil
		for _, name := range splitList(text) {
			*p = append(*p, feedmill.EventType{Name: name})
		}
	case *feedmill.PortalBrand:
		if *p, err = readPortal(text); err != nil {
			return fmt.Errorf("%s: %s %w", origin, s.Name, err)
		}
	case *bool:
		if *p, err = strconv.ParseBool(text); err != nil {
			return fmt.Errorf("%s: %s must be true or false", origin, s.Name)
		}
	case *time.Duration:
		if *p, err = feedmill.ParseDuration(text); err != nil {
			return fmt.Errorf("%s: %s: %w", origin, s.Name, err)
		}
	case *[]time.Duration:
		*p = nil
		for _, item := range splitList(text) {
			wait, err := feedmill.ParseDuration(item)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", origin, s.Name, err)
			}
			*p = append(*p, wait)
		}
	case *int:
		if *p, err = strconv.Atoi(text); err != nil || *p < 0 {
			return fmt.Errorf("%s: %s must be an integer, 0 or more", origin, s.Name)
		}
	case *int64:
		if *p, err = strconv.ParseInt(text, 10, 64); err != nil || *p < 1 {
			return fmt.Errorf("%s: %s must be an integer, 1 or more", origin, s.Name)
		}
	case *Bytes:
		if *p, err = ParseBytes(text); err != nil {
			return fmt.Errorf("%s: %s: %w", origin, s.Name, err)
		}
	case *float64:
		if *p, err = strconv.ParseFloat(text, 64); err != nil || !(*p >= 0 && *p <= 1e9) {
			return fmt.Errorf("%s: %s must be a number, 0 or more", origin, s.Name)
		}
	}
	return nil
}

func splitList(text string) (items []string) {
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// Wrong is an error about the value of a setting, with the setting's name and
// where the value came from.
func (c *Config) Wrong(name string, err error) error {
	return fmt.Errorf("%s: %s: %w", c.origin[name], name, err)
}

// Print writes the effective configuration as a configuration file, each line
// with where its value came from, secrets masked.
func (c *Config) Print(w io.Writer) error {
	for _, s := range Settings {
		if _, err := fmt.Fprintf(w, "# %s\n%s: %s  # %s\n", s.Help, s.Name, s.text(c), c.origin[s.Name]); err != nil {
			return err
		}
	}
	return nil
}

func (s Setting) text(c *Config) string {
	switch p := s.field(c).(type) {
	case *string:
		if s.Secret && *p != "" {
			return `"***"`
		}
		return strconv.Quote(*p)
	case *[]string:
		if s.Secret && len(*p) > 0 {
			return `["***"]`
		}
		return listText(*p, strconv.Quote)
	case *[]feedmill.EventType:
		return listText(*p, func(t feedmill.EventType) string { return strconv.Quote(t.Name) })
	case *feedmill.PortalBrand:
		return portalText(*p)
	case *[]time.Duration:
		return listText(*p, feedmill.FormatDuration)
	case *time.Duration:
		return feedmill.FormatDuration(*p)
	case *bool:
		return strconv.FormatBool(*p)
	case *int:
		return strconv.Itoa(*p)
	case *int64:
		return strconv.FormatInt(*p, 10)
	case *Bytes:
		return p.String()
	case *float64:
		return strconv.FormatFloat(*p, 'g', -1, 64)
	}
	return ""
}

func listText[T any](items []T, text func(T) string) string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = text(item)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
