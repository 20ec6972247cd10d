package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/config"
)

// TestDocumentedSettings checks the table of settings in the reference.
func TestDocumentedSettings(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| `(FEEDMILL_\\w+)` \\|([^|]*)\\|([^|]*)\\|").FindAllStringSubmatch(string(text), -1)
	if len(rows) == 0 {
		t.Fatal("the page has no table of settings")
	}
	for _, row := range rows {
		name, env, flag, standard := row[1], row[2], strings.Trim(row[3], " `"), strings.TrimSpace(row[4])
		i := slices.IndexFunc(config.Settings, func(s config.Setting) bool { return s.Name == name })
		if i < 0 {
			t.Errorf("%s is no setting", name)
			continue
		}
		s := config.Settings[i]
		wantFlag := "--" + s.Flag()
		if s.Secret {
			wantFlag = ""
		}
		if env != s.Env() || flag != wantFlag {
			t.Errorf("%s: the page has %s and %q, want %s and %q", name, env, flag, s.Env(), wantFlag)
		}
		if s.Default != "" && standard != "`"+s.Default+"`" {
			t.Errorf("%s: the page has the default %s, want %s", name, standard, s.Default)
		}
	}
}
