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
	server := serverFlag(cmd)
	cmd.Flags().Bool("json", false, "print the JSON of the API")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := dial(*server, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		return do(cmd.Context(), c, args, newPrinter(cmd, c))
	}
	return cmd
}

func serverFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("server", "", "server address, such as "+defaultServer+" (default: FEEDMILL_SERVER, else the saved login)")
}

// dial makes a client for the server at the address, or else for the one of
// the environment, of the login, or on this machine. What is worth a warning is
// written to notes.
func dial(server string, notes io.Writer) (*client.Client, error) {
	to, err := resolve(server)
	if err != nil {
		return nil, err
	}
	if to.Server == "" {
		to.Server = defaultServer
	}
	if err := checkServer(to.Server); err != nil {
		return nil, err
	}
	if to.Key == "" {
		return nil, fmt.Errorf("%w: log in with %q, or set FEEDMILL_API_KEY", errNoCredential, "feedmill login --server "+to.Server)
	}
	warnPlain(notes, to.Server)
	c := client.New(to.Server, to.Key)
	c.UserAgent = "feedmill/" + version
	return c, nil
}

// resolve finds the server and the key: a flag wins over the environment, and
// that over the login. The key of a login goes to its own server only.
func resolve(server string) (credentials, error) {
	to := credentials{Server: trimServer(server), Key: os.Getenv("FEEDMILL_API_KEY")}
	if to.Server == "" {
		to.Server = trimServer(os.Getenv("FEEDMILL_SERVER"))
	}
	if to.Server != "" && to.Key != "" {
		return to, nil
	}
	kept, err := loadCredentials()
	if err != nil {
		return credentials{}, err
	}
	if to.Server == "" {
		to.Server = kept.Server
	}
	if to.Key == "" && to.Server == kept.Server {
		to.Key = kept.Key
	}
	return to, nil
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
