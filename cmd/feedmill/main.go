// Command feedmill is the service and the tool to work with it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // schedules name time zones, and not every system has them

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/internal/config"
)

// version is set by the build.
var version = "dev"

func main() { os.Exit(run()) }

func run() int {
	interrupted, release := signal.NotifyContext(context.Background(), os.Interrupt)
	defer release()
	ctx, stop := signal.NotifyContext(interrupted, syscall.SIGTERM)
	defer stop()
	cmd, err := newRoot().ExecuteContextC(ctx)
	if err != nil && interrupted.Err() != nil {
		err = interruption(err)
	}
	if err != nil && !errors.Is(err, errChanges) {
		report(os.Stderr, err, wantsJSON(cmd))
	}
	return exitCode(err)
}

// interruption is the error of a command that Ctrl-C ended. It keeps what the command has to say
// about what continues.
func interruption(err error) error {
	if before, _, ok := strings.Cut(err.Error(), ": "+context.Canceled.Error()); ok && !strings.Contains(before, "http") {
		return fmt.Errorf("%w: %s", errInterrupted, before)
	}
	return errInterrupted
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "feedmill",
		Short: "Build data feeds and deliver webhooks",
		Long: `Feedmill builds data feeds from files, databases and HTTP APIs, and delivers events as
signed webhooks. "feedmill serve" runs the service; the other commands are its client.

Exit codes: 0 success, 1 failure, 2 invalid command line, 3 not found, 4 missing or
insufficient credential, 130 interrupted with Ctrl-C.`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(
		newServe(), newConfig(), newDoctor(), newHealthcheck(), newVersion(), newVault(), newKeys(), newWorkspaces(), newAudit(), newLogin(), newLogout(), newProfiles(),
		newEvents(), newSubscriptions(), newDeliveries(), newListen(), newTrigger(), newFeeds(), newConnections(), newQuery(), newServices(), newFiles(), newBackup(), newRestore(), newResume(),
		newApply(), newDiff(), newExport(), newAlerts(), newMCP(), newMan(), newWorker(),
	)
	addExamples(root)
	onlyHelps(root)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, sub := range root.Commands() {
		if sub.HasSubCommands() && !sub.Runnable() {
			onlyHelps(sub)
		}
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	refuseAsUsage(root)
	return root
}

// onlyHelps makes parent print its help by itself, and refuse the name of a
// command that it does not have: without it that would succeed in silence.
func onlyHelps(parent *cobra.Command) {
	parent.SuggestionsMinimumDistance = 2
	parent.Args = func(cmd *cobra.Command, args []string) error {
		err := cobra.NoArgs(cmd, args)
		if err == nil {
			return nil
		}
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			return fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
		}
		return err
	}
	parent.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// settings gives a command the flags of the configuration and returns how to
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
