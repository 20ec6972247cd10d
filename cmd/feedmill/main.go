// Command feedmill is the service and the tool to work with it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/internal/config"
)

// version is set by the build.
var version = "dev"

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := newRoot().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "feedmill:", err)
		return 1
	}
	return 0
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "feedmill",
		Short:         "Data feeds, and webhooks that tell what happened",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newServe(), newConfig(), newKeys(), newVault())
	return root
}

// onlyHelps makes parent print its help by itself, and refuse the name of a
// command that it does not have: without it that would succeed in silence.
func onlyHelps(parent *cobra.Command) {
	parent.Args = cobra.NoArgs
	parent.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// settings gives a command the flags of the configuration and answers how to
// read it.
func settings(cmd *cobra.Command) func() (*config.Config, error) {
	flags := cmd.Flags()
	if cmd.HasSubCommands() {
		flags = cmd.PersistentFlags()
	}
	file := flags.String("config", os.Getenv("FEEDMILL_CONFIG"), "configuration file (YAML)")
	for _, s := range config.Settings {
		// A secret on a command line is visible to everybody on the machine.
		if !s.Secret {
			flags.String(s.Flag(), s.Default, s.Help)
		}
	}
	return func() (*config.Config, error) {
		set := make(map[string]string)
		for _, s := range config.Settings {
			if f := flags.Lookup(s.Flag()); f != nil && f.Changed {
				set[s.Name] = f.Value.String()
			}
		}
		return config.Load(*file, os.Environ(), set)
	}
}
