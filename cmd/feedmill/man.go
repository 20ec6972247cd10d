package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newMan writes the manual pages that packages install.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write the manual pages",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return writeManPages(cmd.Root(), args[0])
		},
	}
}

func writeManPages(cmd *cobra.Command, folder string) error {
	if cmd.Hidden || cmd.Name() == "help" {
		return nil
	}
	if err := os.WriteFile(filepath.Join(folder, manName(cmd)+".1"), manPage(cmd), 0o644); err != nil {
		return err
	}
	for _, child := range cmd.Commands() {
		if err := writeManPages(child, folder); err != nil {
			return err
		}
	}
	return nil
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage describes a command in the language of man(7). It has no date, so that it depends on the
// sources only.
func manPage(cmd *cobra.Command) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH %q 1 \"\" %q \"Feedmill\"\n", strings.ToUpper(manName(cmd)), "Feedmill "+version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, ".br\n.B %s\n.I command\n", roff(cmd.CommandPath()))
	}
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	b.WriteString(".SH DESCRIPTION\n")
	for _, paragraph := range strings.Split(text, "\n\n") {
		fmt.Fprintf(&b, ".PP\n%s\n", roff(paragraph))
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString(".SH COMMANDS\n")
		for _, child := range cmd.Commands() {
			if child.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", roff(manName(child)), roff(child.Short))
			}
		}
	}
	var flags bytes.Buffer
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, help := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(&flags, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(name+" "+kind)), roff(help))
	})
	if flags.Len() > 0 {
		b.WriteString(".SH OPTIONS\n")
		b.Write(flags.Bytes())
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	b.WriteString(".SH SEE ALSO\n")
	if parent := cmd.Parent(); parent != nil {
		fmt.Fprintf(&b, ".BR %s (1)\n", roff(manName(parent)))
	} else {
		b.WriteString("The documentation that the server serves under /docs/.\n")
	}
	return b.Bytes()
}

// roff escapes text, so that no character of it is a request or an escape sequence.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\t", "    ").Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
