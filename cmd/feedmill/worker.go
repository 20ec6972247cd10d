package main

import (
	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/internal/lake/worker"
)

// newWorker is the command by which the server starts the processes that read
// data for it. It is of no use to people.
func newWorker() *cobra.Command {
	return &cobra.Command{
		Use:    "worker",
		Short:  "Run a worker process (started by the server)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(*cobra.Command, []string) error { return worker.Main() },
	}
}
