package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/reference"
)

// sections are the parts of the page, each with its first setting.
var sections = map[string]string{
	"listen": "Server", "logLevel": "Logs", "egressAllow": "Outgoing requests", "oidcIssuer": "Access", "tracesEndpoint": "Addresses and traces",
	"smtpUrl": "E-mail", "portal": "Portal", "retrySchedule": "Events and deliveries", "maxUploadBytes": "Data feeds", "servicesDir": "Services",
}

func TestReferenceOfSettings(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Configuration

A setting has a default. The configuration file (` + "`--config feedmill.yaml`" + `) overrides the default, the environment overrides the file, and a flag overrides the environment.
An empty variable is ignored. An unknown name is an error that suggests the nearest setting.

` + "`feedmill config` checks the configuration and prints every setting with its source. It masks secrets.\n" + `
Durations are written such as ` + "`90s`, `1h30m` or `7d`, and sizes such as `256MiB` or `50GiB`. A list has commas between its items; in the file it can be a YAML list." + `
`)
	for _, s := range Settings {
		if title, ok := sections[s.Name]; ok {
			fmt.Fprintf(&b, "\n## %s\n", title)
		}
		fmt.Fprintf(&b, "\n### `%s`\n\n%s\n\n", s.Name, reference.Sentence(s.Help))
		fmt.Fprintf(&b, "- Environment: `%s`\n", s.Env())
		if !s.Secret {
			fmt.Fprintf(&b, "- Flag: `--%s`\n", s.Flag())
		} else {
			b.WriteString("- A secret: it has no flag and is never shown.\n")
		}
		if s.Default != "" {
			fmt.Fprintf(&b, "- Default: `%s`\n", s.Default)
		}
	}
	reference.Check(t, "../..", "configuration.md", b.String())
}
