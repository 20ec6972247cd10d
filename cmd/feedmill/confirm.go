package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
)

// confirmed makes do the work of a command that deletes something: after the user has
// confirmed the question at a terminal, or with --yes.
func confirmed(cmd *cobra.Command, question string, do work) work {
	yes := cmd.Flags().BoolP("yes", "y", false, "do not ask for confirmation")
	return func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		if !*yes {
			if err := confirm(ctx, cmd, fmt.Sprintf(question, plain(args[0]))); err != nil {
				return err
			}
		}
		return do(ctx, c, args, p)
	}
}

// confirm asks the user at the terminal. Without one, the command is refused.
func confirm(ctx context.Context, cmd *cobra.Command, question string) error {
	in, ok := cmd.InOrStdin().(*os.File)
	if !ok || !isTerminal(in) {
		return usagef("%s Add --yes to confirm; standard input is not a terminal", question)
	}
	fmt.Fprint(cmd.ErrOrStderr(), question+" [y/N] ")
	line, err := readTyped(ctx, in)
	if err != nil {
		return err
	}
	switch strings.ToLower(line) {
	case "y", "yes":
		return nil
	}
	return usagef("not confirmed; nothing was changed")
}
