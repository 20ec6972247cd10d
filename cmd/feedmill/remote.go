package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
)

// defaultServer is where "feedmill serve" listens with nothing configured.
const defaultServer = "http://127.0.0.1:8080"

// work is what a command does with the API.
type work func(ctx context.Context, c *client.Client, args []string, p *printer) error

// errNoCredential says that there is no key to call the server with.
var errNoCredential = errors.New("no credential")

// onServer makes do the work of cmd, on the server that the user names.
func onServer(cmd *cobra.Command, do work) *cobra.Command {
	at := serverFlag(cmd)
	cmd.Flags().Bool("json", false, "print the JSON of the API; short for --output json")
	outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := dial(*at, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		return do(cmd.Context(), c, args, newPrinter(cmd, c))
	}
	return cmd
}

// target is the server that a command works on, as the flags name it.
type target struct{ server, profile string }

func serverFlag(cmd *cobra.Command) *target {
	var t target
	cmd.Flags().StringVar(&t.server, "server", "", "server address, such as "+defaultServer+" (default: FEEDMILL_SERVER, else the saved login)")
	cmd.Flags().StringVar(&t.profile, "profile", "", "saved login to use (default: FEEDMILL_PROFILE)")
	completeFlag(cmd, "profile", completeProfiles)
	return &t
}

// profileFlag is the flag --profile for a command without a server.
func profileFlag(cmd *cobra.Command) *string {
	profile := cmd.Flags().String("profile", "", "saved login (default: FEEDMILL_PROFILE)")
	completeFlag(cmd, "profile", completeProfiles)
	return profile
}

func completeProfiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	all, _ := loadLogins() // without logins there is nothing to complete
	return all.names(), cobra.ShellCompDirectiveNoFileComp
}

// dial makes a client for the server at the address, or else for the one of
// the environment, of the login, or on this machine. What is worth a warning is
// written to notes.
func dial(at target, notes io.Writer) (*client.Client, error) {
	to, err := at.credentials()
	if err != nil {
		return nil, err
	}
	warnPlain(notes, to.Server)
	c := client.New(to.Server, to.Key)
	c.UserAgent = "feedmill/" + version
	return c, nil
}

// credentials returns the server that a command works on, and the key for it.
func (t target) credentials() (credentials, error) {
	to, err := t.resolve()
	if err != nil {
		return credentials{}, err
	}
	if to.Server == "" {
		to.Server = defaultServer
	}
	if err := checkServer(to.Server); err != nil {
		return credentials{}, err
	}
	if to.Key == "" {
		return credentials{}, fmt.Errorf("%w: log in with %q, or set FEEDMILL_API_KEY", errNoCredential, "feedmill login --server "+to.Server)
	}
	return to, nil
}

// resolve finds the server and the key: a flag wins over the environment, and
// that over the login. The key of a login goes to its own server only.
func (t target) resolve() (credentials, error) {
	if t.profile != "" {
		return t.ofProfile()
	}
	to := credentials{Server: trimServer(t.server), Key: os.Getenv("FEEDMILL_API_KEY")}
	if to.Server == "" {
		to.Server = trimServer(os.Getenv("FEEDMILL_SERVER"))
	}
	if to.Server != "" && to.Key != "" {
		return to, nil
	}
	all, err := loadLogins()
	if err != nil {
		return credentials{}, err
	}
	profile := os.Getenv("FEEDMILL_PROFILE")
	kept := all.of(profile)
	if profile != "" && kept.Server == "" && to.Server == "" && to.Key == "" {
		return credentials{}, noProfile(profile)
	}
	if to.Server == "" {
		to.Server = kept.Server
	}
	if to.Key == "" && to.Server == kept.Server {
		to.Key = kept.Key
	}
	return to, nil
}

// ofProfile is the login that --profile names.
func (t target) ofProfile() (credentials, error) {
	all, err := loadLogins()
	if err != nil {
		return credentials{}, err
	}
	kept := all.of(t.profile)
	switch {
	case kept.Server == "":
		return credentials{}, noProfile(t.profile)
	case t.server != "" && trimServer(t.server) != kept.Server:
		return credentials{}, usagef("profile %s is a login to %s, not to %s; remove --server or --profile", t.profile, kept.Server, t.server)
	}
	return kept, nil
}

func noProfile(name string) error {
	return fmt.Errorf("%w: the profile %q does not exist; create it with %q", errNoCredential, name, "feedmill login --profile "+name)
}

// warnPlain says that a key travels to another machine for everybody to read.
func warnPlain(w io.Writer, server string) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "http" || u.Hostname() == "localhost" || strings.HasSuffix(u.Hostname(), ".localhost") {
		return
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.Unmap().IsLoopback() {
		return
	}
	fmt.Fprintf(w, "feedmill: warning: the key is sent to %s without encryption; use https\n", plain(u.Host))
}

// trimServer makes one text of the ways to write an address.
func trimServer(address string) string { return strings.TrimRight(address, "/") }

func checkServer(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return usagef("--server or FEEDMILL_SERVER must be an address with a scheme, such as %s", defaultServer)
	}
	return nil
}
