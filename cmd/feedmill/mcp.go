package main

import (
	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/internal/mcp"
)

func newMCP() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve an AI assistant over standard input and output",
		Long: `Serves the Model Context Protocol on standard input and output, for an AI assistant that starts
this command. The tools call the server with your login or FEEDMILL_API_KEY. With a key that can
only read, the assistant cannot change anything. A server also serves the protocol at /mcp.`,
		Args: cobra.NoArgs,
	}
	at := serverFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		to, err := at.credentials()
		if err != nil {
			return err
		}
		warnPlain(cmd.ErrOrStderr(), to.Server)
		return mcp.Remote{Server: to.Server, Key: to.Key, Version: version}.Serve(cmd.Context())
	}
	return cmd
}
