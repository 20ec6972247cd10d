package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/feedmill/feedmill/internal/config"
	"github.com/feedmill/feedmill/internal/reference"
)

func TestReferenceOfCommands(t *testing.T) {
	root := newRoot()
	var b strings.Builder
	fmt.Fprintf(&b, "# Command line\n\n%s\n", strings.ReplaceAll(root.Long, "\"feedmill serve\"", "`feedmill serve`"))
	b.WriteString("\nThe client commands take the server and the key from `--profile`, from `--server`, `FEEDMILL_SERVER` and `FEEDMILL_API_KEY`, or from `feedmill login`.\n")
	writeCommands(t, &b, root)
	reference.Check(t, "../..", "cli.md", b.String())
}

func writeCommands(t *testing.T, b *strings.Builder, parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		if cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "completion" {
			continue
		}
		fmt.Fprintf(b, "\n## `%s`\n\n%s\n", cmd.CommandPath(), reference.Sentence(cmd.Short))
		if !cmd.HasSubCommands() {
			if cmd.Example == "" {
				t.Errorf("%s has no example", cmd.CommandPath())
			}
			fmt.Fprintf(b, "\nUsage: `%s`\n", cmd.UseLine())
			if cmd.Example != "" {
				fmt.Fprintf(b, "\n```text\n%s\n```\n", strings.ReplaceAll(strings.TrimPrefix(cmd.Example, "  "), "\n  ", "\n"))
			}
			writeFlags(b, cmd)
		}
		writeCommands(t, b, cmd)
	}
}

func writeFlags(b *strings.Builder, cmd *cobra.Command) {
	var rows strings.Builder
	settings := 0
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if slices.ContainsFunc(config.Settings, func(s config.Setting) bool { return s.Flag() == f.Name }) {
			settings++
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		value := strings.TrimSpace("--" + f.Name + " " + name)
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", value, reference.Cell(reference.Sentence(usage)), cmp.Or(defaultOf(f), " "))
	})
	if settings > 0 {
		fmt.Fprintf(b, "\nThe command also takes the flags of %d [settings](configuration.md).\n", settings)
	}
	if rows.Len() > 0 {
		fmt.Fprintf(b, "\n| Flag | Meaning | Default |\n|---|---|---|\n%s", rows.String())
	}
}

func defaultOf(f *pflag.Flag) string {
	if f.DefValue == "" || f.DefValue == "[]" || f.DefValue == "false" || f.DefValue == "0" {
		return ""
	}
	return "`" + reference.Cell(f.DefValue) + "`"
}
