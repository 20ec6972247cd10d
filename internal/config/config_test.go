package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "feedmill.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestEachSourceOverridesTheOneBefore(t *testing.T) {
	file := write(t, "listen: 127.0.0.1:1\ndata: from-file\nlogLevel: warn\negressAllow: [127.0.0.0/8, hooks.internal]\n")
	env := []string{"FEEDMILL_LISTEN=127.0.0.1:2", "FEEDMILL_DATA=from-env", "FEEDMILL_SERVER=http://x", "HOME=/root", "FEEDMILL_RATE_LIMIT=2.5"}
	c, err := Load(file, env, map[string]string{"listen": "127.0.0.1:3"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:3" || c.Data != "from-env" || c.LogLevel != "warn" || c.LogFormat != "text" || c.RateLimit != 2.5 {
		t.Errorf("got %+v", c)
	}
	if !slices.Equal(c.EgressAllow, []string{"127.0.0.0/8", "hooks.internal"}) {
		t.Errorf("egressAllow is %q", c.EgressAllow)
	}
}

func TestWrongSettings(t *testing.T) {
	const secret = "hunter2-hunter2-hunter2"
	for _, c := range []struct {
		name  string
		file  string
		env   []string
		flags map[string]string
		want  string
	}{
		{"unknown in file", "listn: x\n", nil, nil, "feedmill.yaml:1: listn is not a setting; did you mean listen?"},
		{"unknown in environment", "", []string{"FEEDMILL_LISTN=x"}, nil, "FEEDMILL_LISTN is not a setting; did you mean FEEDMILL_LISTEN?"},
		{"twice", "data: a\ndata: b\n", nil, nil, "feedmill.yaml"},
		{"no mapping", "- a\n", nil, nil, "name: value"},
		{"no YAML", "a: [\n", nil, nil, "not valid YAML"},
		{"nested", "listen: {a: b}\n", nil, nil, "feedmill.yaml:1: listen: must be a single value"},
		{"null", "listen:\n", nil, nil, "must be a single value"},
		{"bad address", "", nil, map[string]string{"listen": "8080"}, "flag --listen: listen: must be host:port"},
		{"bad port", "", []string{"FEEDMILL_LISTEN=127.0.0.1:65536"}, nil, "environment FEEDMILL_LISTEN: listen: the port must be between 0 and 65535"},
		{"no port", "", nil, map[string]string{"listen": "127.0.0.1:"}, "the port must be between"},
		{"two documents", "listen: 127.0.0.1:1\n---\nlisten: 127.0.0.1:2\n", nil, nil, "feedmill.yaml:2: a second YAML document starts here"},
		{"a broken second document", "listen: 127.0.0.1:1\n---\na: [\n", nil, nil, "not valid YAML"},
		{"bad number", "", []string{"FEEDMILL_RATE_LIMIT=many"}, nil, "FEEDMILL_RATE_LIMIT: rateLimit must be a number"},
		{"negative", "", []string{"FEEDMILL_RATE_BURST=-1"}, nil, "must be an integer"},
		{"short vault key", "", []string{"FEEDMILL_VAULT_KEY=" + secret}, nil, "at least 32 characters"},
		{"short bootstrap key", "", []string{"FEEDMILL_BOOTSTRAP_KEY=" + secret}, nil, "at least 24 visible"},
		{"database", "", []string{"FEEDMILL_DATABASE_URL=mysql://u:" + secret + "@h/d"}, nil, "must start with postgres://"},
		{"level", "", []string{"FEEDMILL_LOG_LEVEL=loud"}, nil, "debug, info, warn or error"},
		{"half of OIDC", "", []string{"FEEDMILL_OIDC_ISSUER=https://i"}, nil, "together"},
		{"half of a client", "", []string{"FEEDMILL_OIDC_ISSUER=https://i", "FEEDMILL_OIDC_AUDIENCE=a", "FEEDMILL_OIDC_CLIENT_ID=c"}, nil, "oidcClientSecret together"},
		{"a client without an issuer", "", []string{"FEEDMILL_OIDC_CLIENT_ID=c", "FEEDMILL_OIDC_CLIENT_SECRET=" + secret}, nil, "oidcIssuer with them"},
		{"schedule", "", []string{"FEEDMILL_RETRY_SCHEDULE=5s,soon"}, nil, "FEEDMILL_RETRY_SCHEDULE: retrySchedule: a duration must be"},
		{"retention", "eventRetention: 1h\n", nil, nil, "at least 1d"},
		{"boolean", "enforceSchemas: maybe\n", nil, nil, "true or false"},
		{"event type", "eventTypes:\n  - nme: order.paid\n", nil, nil, "feedmill.yaml:2: eventTypes: each type must be a name"},
		{"traces", "", []string{"FEEDMILL_TRACES_ENDPOINT=127.0.0.1:4318"}, nil, "http://host:4318"},
		{"no folder", "", nil, map[string]string{"data": ""}, "flag --data: data: must not be empty"},
		{"half of TLS", "", []string{"FEEDMILL_TLS_KEY=key.pem"}, nil, "tlsCert and tlsKey together"},
		{"format of the log", "", []string{"FEEDMILL_LOG_FORMAT=xml"}, nil, "logFormat: must be text or json"},
		{"public URL with a query", "", []string{"FEEDMILL_PUBLIC_URL=https://a.example?x=1"}, nil, "publicUrl: must be a URL"},
		{"public URL without a scheme", "", []string{"FEEDMILL_PUBLIC_URL=a.example"}, nil, "publicUrl: must be a URL"},
		{"too many waits", "", []string{"FEEDMILL_RETRY_SCHEDULE=" + strings.Repeat("1s,", 51)}, nil, "retrySchedule: must have at most 50 durations"},
		{"relative folder", "", []string{"FEEDMILL_DATABASE_DIRS=/a,b"}, nil, "databaseDirs: must be absolute paths"},
		{"client without a secret", "", []string{"FEEDMILL_SERVICE_CLIENTS=hubspot=id"}, nil, "serviceClients: each must be"},
		{"redirect with a path", "", []string{"FEEDMILL_CONNECT_REDIRECTS=https://a.example,https://b.example/x"}, nil, "connectRedirects: must be origins"},
		{"portal that is no object", "", []string{"FEEDMILL_PORTAL=Nordlicht"}, nil, "FEEDMILL_PORTAL: portal must have the members name, logo and accent"},
		{"portal with another member", "portal: {colour: red}\n", nil, nil, "feedmill.yaml:1: portal must have the members"},
		{"portal with a long name", "", []string{`FEEDMILL_PORTAL={"name":"` + strings.Repeat("n", 101) + `"}`}, nil, "name must have at most 100 characters"},
		{"portal with a wrong accent", "portal: {accent: red}\n", nil, nil, "accent must be a color such as #0b6e5a"},
		{"portal with a large logo", "", []string{`FEEDMILL_PORTAL={"logo":"data:image/png;base64,` + strings.Repeat("A", 64<<10) + `"}`}, nil, "logo must have at most 65536 bytes"},
		{"portal with a logo elsewhere", "portal: {logo: 'https://a.example/logo.png'}\n", nil, nil, "as a data URI"},
		{"portal with a page as its logo", "portal: {logo: 'data:text/html;base64,AAAA'}\n", nil, nil, "as a data URI"},
		{"portal origin with a path", "", []string{"FEEDMILL_PORTAL_ORIGINS=https://a.example/x"}, nil, "portalOrigins: must be origins"},
		{"portal origin that ends the policy", "", []string{"FEEDMILL_PORTAL_ORIGINS=https://a.example;script-src"}, nil, "portalOrigins: must be origins"},
		{"portal origin for every host", "", []string{"FEEDMILL_PORTAL_ORIGINS=*"}, nil, "portalOrigins: must be origins"},
		{"two faults", "", []string{"FEEDMILL_LOG_LEVEL=loud", "FEEDMILL_LOG_FORMAT=xml"}, nil, "warn or error\nenvironment FEEDMILL_LOG_FORMAT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := ""
			if c.file != "" {
				file = write(t, c.file)
			}
			_, err := Load(file, c.env, c.flags)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q in it", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Error("the error shows a secret")
			}
		})
	}
}

// An empty variable counts as not set, also where an earlier one set it.
func TestEmptyVariables(t *testing.T) {
	file := write(t, "data: from-file\nrateLimit: 2\n")
	c, err := Load(file, []string{
		"FEEDMILL_DATA=", "FEEDMILL_RATE_LIMIT=7", "FEEDMILL_RATE_LIMIT=", "FEEDMILL_LISTEN=", "FEEDMILL_LISTEN=127.0.0.1:1",
		"FEEDMILL_VAULT_KEY=", "FEEDMILL_EVENT_RETENTION=", "FEEDMILL_ENFORCE_SCHEMAS=", "FEEDMILL_LOG_LEVEL=warn", "FEEDMILL_LOG_LEVEL=debug",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318", "OTEL_EXPORTER_OTLP_HEADERS=a=b", "FEEDMILL_TRACES_ENDPOINT=",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Data != "from-file" || c.RateLimit != 2 || c.Listen != "127.0.0.1:1" || c.EventRetention != 30*24*time.Hour || c.LogLevel != "debug" || c.TracesEndpoint != "http://127.0.0.1:4318" || c.TracesHeaders != "a=b" {
		t.Errorf("got %+v", c)
	}
}

func TestAllFaultsAreListed(t *testing.T) {
	_, err := Load(write(t, "listn: x\n"), []string{"FEEDMILL_DATTA=x"}, map[string]string{"rateBurst": "x"})
	for _, want := range []string{"listn", "FEEDMILL_DATTA", "rateBurst"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s in it", err, want)
		}
	}
}

func TestPrintMasksSecretsAndReadsBack(t *testing.T) {
	const secret = "a-secret-that-is-long-enough-for-anything"
	env := []string{
		"FEEDMILL_VAULT_KEY=" + secret, "FEEDMILL_BOOTSTRAP_KEY=" + secret,
		"FEEDMILL_DATABASE_URL=postgres://u:" + secret + "@127.0.0.1/d", "FEEDMILL_EGRESS_PROXY=http://u:" + secret + "@127.0.0.1:1",
		"FEEDMILL_EGRESS_ALLOW=127.0.0.0/8, ::1/128",
	}
	c, err := Load("", env, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := c.Print(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), secret) {
		t.Errorf("a secret is shown:\n%s", out.String())
	}
	if !strings.Contains(out.String(), "# environment FEEDMILL_EGRESS_ALLOW") {
		t.Errorf("the origin is not shown:\n%s", out.String())
	}
	plain, err := Load("", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := plain.Print(&out); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(write(t, out.String()), nil, nil); err != nil {
		t.Errorf("the printed configuration cannot be read: %v", err)
	}
}

func TestEventSettings(t *testing.T) {
	file := write(t, `
retrySchedule: [1s, 2m]
eventFamilies: [goal.*]
eventTypes:
  - order.created
  - name: order.paid
    description: Somebody paid.
    schema: {type: object, required: [total]}
`)
	c, err := Load(file, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.RetrySchedule, []time.Duration{time.Second, 2 * time.Minute}) || !slices.Equal(c.EventFamilies, []string{"goal.*"}) {
		t.Errorf("got %+v", c)
	}
	if len(c.EventTypes) != 2 || c.EventTypes[0].Name != "order.created" || c.EventTypes[1].Description != "Somebody paid." ||
		string(c.EventTypes[1].Schema) != `{"required":["total"],"type":"object"}` {
		t.Errorf("event types are %+v", c.EventTypes)
	}
	c, err = Load(file, []string{"FEEDMILL_EVENT_TYPES=a.b, c.d"}, nil)
	if err != nil || len(c.EventTypes) != 2 || c.EventTypes[1].Name != "c.d" {
		t.Errorf("event types are %+v, %v", c.EventTypes, err)
	}
}

// TestPortalSettings reads the look of the portal from the file and from the environment, and
// prints it so that it can be read back.
func TestPortalSettings(t *testing.T) {
	want := feedmill.PortalBrand{Name: "Nordlicht: \"Æ\"", Logo: "data:image/png;base64,iVBORw0KGgo=", Accent: "#0B6e5a"}
	file := write(t, "portal:\n  name: 'Nordlicht: \"Æ\"'\n  logo: data:image/png;base64,iVBORw0KGgo=\n  accent: '#0B6e5a'\nportalOrigins: [HTTPS://App.example.com, 'http://[::1]:3000', https://app.example.com]\n")
	env := []string{`FEEDMILL_PORTAL={"name":"Nordlicht: \"Æ\"","logo":"data:image/png;base64,iVBORw0KGgo=","accent":"#0B6e5a"}`, "FEEDMILL_PORTAL_ORIGINS=https://app.example.com,http://[::1]:3000"}
	for name, load := range map[string]func() (*Config, error){
		"file": func() (*Config, error) { return Load(file, nil, nil) }, "environment": func() (*Config, error) { return Load("", env, nil) },
	} {
		c, err := load()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var printed strings.Builder
		if err := c.Print(&printed); err != nil {
			t.Fatal(err)
		}
		again, err := Load(write(t, printed.String()), nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, c := range []*Config{c, again} {
			if c.Portal != want || !slices.Equal(c.PortalOrigins, []string{"http://[::1]:3000", "https://app.example.com"}) {
				t.Errorf("%s: the portal is %+v for %q", name, c.Portal, c.PortalOrigins)
			}
		}
	}
}
