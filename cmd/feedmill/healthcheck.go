package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/config"
)

func newHealthcheck() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Check that a server on this machine is ready",
		Long: `Calls GET /readyz of the server that the settings describe, and exits with 0 if it is
ready, else with 1. It needs no key, so containers can use it as their health check.
Set --live to check only that the process responds (GET /healthz).`,
		Args: cobra.NoArgs,
	}
	server := cmd.Flags().String("server", "", "server address, such as "+defaultServer+" (default: the address in the settings)")
	live := cmd.Flags().Bool("live", false, "check only that the process responds, not its store")
	timeout := client.Duration(5 * time.Second)
	cmd.Flags().Var((*durationValue)(&timeout), "timeout", "how long to wait for the response")
	load := settings(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		address := trimServer(*server)
		if address == "" {
			c, err := load()
			if err != nil {
				return err
			}
			address = ownAddress(c)
		}
		if err := checkServer(address); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), time.Duration(timeout))
		defer cancel()
		c := client.New(address, "")
		// The certificate is for the public name. The request has no secrets, and the response
		// is only a status.
		c.HTTP.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
		check := c.Ready
		if *live {
			check = c.Health
		}
		if err := check(ctx); err != nil {
			return fmt.Errorf("%s is not ready: %w", address, err)
		}
		return nil
	}
	return cmd
}

// ownAddress is the URL at which this machine reaches a server with these settings.
func ownAddress(c *config.Config) string {
	scheme := "http://"
	if c.TLSCert != "" {
		scheme = "https://"
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return scheme + c.Listen
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip.Is6() {
			host = "::1"
		}
	}
	return scheme + net.JoinHostPort(host, port)
}
