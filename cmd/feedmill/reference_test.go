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

// commandPages are the pages for groups of commands. All other commands are on the first page.
var commandPages = []struct {
	file, title, intro string
	commands           []string
}{
	{"cli-feeds.md", "Command line: feeds", "These commands create, change and read feeds.", []string{"feeds"}},
	{"cli-events.md", "Command line: events", "These commands publish events, manage subscriptions and alerts, and show deliveries.", []string{"alerts", "deliveries", "events", "listen", "subscriptions", "trigger"}},
}

func TestReferenceOfCommands(t *testing.T) {
	root := newRoot()
	var first strings.Builder
	fmt.Fprintf(&first, "# Command line\n\n%s\n", strings.ReplaceAll(root.Long, "\"feedmill serve\"", "`feedmill serve`"))
	first.WriteString("\nThe client commands take the server and the key from `--profile`, from `--server`, `FEEDMILL_SERVER` and `FEEDMILL_API_KEY`, or from `feedmill login`.\n")
	first.WriteString("\nTwo groups of commands have pages of their own:\n\n")
	elsewhere := make(map[string]bool)
	for _, page := range commandPages {
		var b strings.Builder
		fmt.Fprintf(&b, "# %s\n\n%s Exit codes and all other commands are on the page [Command line](cli.md).\n", page.title, page.intro)
		for _, name := range page.commands {
			cmd, _, err := root.Find([]string{name})
			if err != nil {
				t.Fatal(err)
			}
			writeCommand(t, &b, cmd)
			elsewhere[name] = true
		}
		reference.Check(t, "../..", page.file, b.String())
		fmt.Fprintf(&first, "- [%s](%s)\n", page.title, page.file)
	}
	for _, cmd := range root.Commands() {
		if !elsewhere[cmd.Name()] {
			writeCommand(t, &first, cmd)
		}
	}
	reference.Check(t, "../..", "cli.md", first.String())
}

func writeCommand(t *testing.T, b *strings.Builder, cmd *cobra.Command) {
	if cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "completion" {
		return
	}
	fmt.Fprintf(b, "\n## `%s`\n\n%s\n", cmd.CommandPath(), reference.Sentence(cmd.Short))
	if !cmd.HasSubCommands() || cmd.Example != "" {
		if cmd.Example == "" {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		fmt.Fprintf(b, "\nUsage: `%s`\n", cmd.UseLine())
		if cmd.Example != "" {
			fmt.Fprintf(b, "\n```text\n%s\n```\n", strings.ReplaceAll(strings.TrimPrefix(cmd.Example, "  "), "\n  ", "\n"))
		}
		writeFlags(b, cmd)
	}
	for _, child := range cmd.Commands() {
		writeCommand(t, b, child)
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
