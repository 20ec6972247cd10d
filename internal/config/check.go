package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// validate checks every setting by its row in the table.
func (c *Config) validate() error {
	var errs []error
	for _, s := range Settings {
		if s.check == nil {
			continue
		}
		if err := s.check(c); err != nil {
			errs = append(errs, c.Wrong(s.Name, err))
		}
	}
	return errors.Join(errs...)
}

// refuse is a check that fails where wrong reports true.
func refuse(detail string, wrong func(*Config) bool) func(*Config) error {
	return func(c *Config) error {
		if wrong(c) {
			return errors.New(detail)
		}
		return nil
	}
}

func checkListen(c *Config) error {
	_, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return errors.New("must be host:port, such as 127.0.0.1:8080")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return errors.New("the port must be between 0 and 65535")
	}
	return nil
}

func checkClients(c *Config) error {
	_, err := c.Clients()
	return err
}

// checkBlobKeys reads the credentials of the bucket from their files.
func checkBlobKeys(c *Config) error {
	for _, of := range []struct {
		name, file string
		key        *string
	}{{"blobAccessKey", c.BlobAccessKeyFile, &c.BlobAccessKey}, {"blobSecretKey", c.BlobSecretKeyFile, &c.BlobSecretKey}} {
		if of.file == "" {
			continue
		}
		if *of.key != "" {
			return fmt.Errorf("set either %s or %sFile", of.name, of.name)
		}
		text, err := os.ReadFile(of.file)
		if err != nil {
			return fmt.Errorf("%sFile: %w", of.name, err)
		}
		*of.key = strings.TrimSpace(string(text))
	}
	if (c.BlobAccessKey == "") != (c.BlobSecretKey == "") {
		return errors.New("set blobAccessKey and blobSecretKey together")
	}
	return nil
}

// checkSMTP reads the URL of the mail server from its file. It has a password, so no error
// contains it.
func checkSMTP(c *Config) error {
	if c.SMTPURLFile != "" {
		if c.SMTPURL != "" {
			return errors.New("set either smtpUrl or smtpUrlFile")
		}
		text, err := os.ReadFile(c.SMTPURLFile)
		if err != nil {
			return fmt.Errorf("smtpUrlFile: %w", err)
		}
		c.SMTPURL = strings.TrimSpace(string(text))
	}
	if (c.SMTPURL == "") != (c.SMTPFrom == "") {
		return errors.New("set smtpUrl and smtpFrom together")
	}
	return nil
}

var (
	checkMailLimit = refuse("must be between 1 and 1000", func(c *Config) bool { return c.MailLimit < 1 || c.MailLimit > 1000 })
	checkData      = refuse("must not be empty; set it to a folder", func(c *Config) bool { return c.Data == "" })
	checkTLS       = refuse("set tlsCert and tlsKey together", func(c *Config) bool { return (c.TLSCert == "") != (c.TLSKey == "") })
	checkDatabase  = refuse("must start with postgres://", func(c *Config) bool {
		return c.DatabaseURL != "" && !strings.HasPrefix(c.DatabaseURL, "postgres://") && !strings.HasPrefix(c.DatabaseURL, "postgresql://")
	})
	checkVaultKey = refuse("must have at least 32 characters; create one with 'openssl rand -base64 32'",
		func(c *Config) bool { return c.VaultKey != "" && len(c.VaultKey) < 32 })
	checkBootstrapKey = refuse(fmt.Sprintf("must have at least %d visible ASCII characters", feedmill.MinBootstrapKeyLen), func(c *Config) bool {
		return c.BootstrapKey != "" && (len(c.BootstrapKey) < feedmill.MinBootstrapKeyLen || strings.ContainsFunc(c.BootstrapKey, notVisible))
	})
	checkLogLevel  = refuse("must be debug, info, warn or error", func(c *Config) bool { return !slices.Contains([]string{"debug", "info", "warn", "error"}, c.LogLevel) })
	checkLogFormat = refuse("must be text or json", func(c *Config) bool { return !slices.Contains([]string{"text", "json"}, c.LogFormat) })
	checkIssuer    = refuse("set oidcIssuer and oidcAudience together", func(c *Config) bool { return (c.OIDCIssuer == "") != (c.OIDCAudience == "") })
	checkClientID  = refuse("set oidcClientId and oidcClientSecret together, and oidcIssuer with them", func(c *Config) bool {
		return (c.OIDCClientID == "") != (c.OIDCSecret == "") || c.OIDCClientID != "" && c.OIDCIssuer == ""
	})
	checkTraces    = refuse("must be a URL such as http://host:4318", func(c *Config) bool { return c.TracesEndpoint != "" && webURL(c.TracesEndpoint) == nil })
	checkPublicURL = refuse("must be a URL such as https://feeds.example.com", func(c *Config) bool {
		u := webURL(c.PublicURL)
		return c.PublicURL != "" && (u == nil || u.RawQuery != "" || u.Fragment != "" || u.User != nil)
	})
	checkRetries   = refuse("must have at most 50 durations", func(c *Config) bool { return len(c.RetrySchedule) > 50 })
	checkRetention = refuse("must be at least 1d", func(c *Config) bool { return c.EventRetention < 24*time.Hour })
	checkFolders   = refuse("must be absolute paths, starting with a slash", func(c *Config) bool {
		return slices.ContainsFunc(c.DatabaseDirs, func(folder string) bool { return !filepath.IsAbs(folder) })
	})
	checkRedirects = refuse("must be origins without a path, such as https://app.example.com", func(c *Config) bool {
		return slices.ContainsFunc(c.ConnectRedirects, func(origin string) bool {
			u := webURL(origin)
			return u == nil || u.Scheme+"://"+u.Host != origin
		})
	})
)

// webURL is an http or https URL with a host, or nil.
func webURL(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil
	}
	return u
}

func notVisible(r rune) bool { return r <= ' ' || r > '~' }
