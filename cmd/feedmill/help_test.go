package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestHelp checks the help of every command: its short text is an imperative of at most 60
// characters without a period, and a command that can be run has an example of itself.
func TestHelp(t *testing.T) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		name := cmd.CommandPath()
		if cmd.Hidden || strings.HasPrefix(name, "feedmill completion") || cmd.Name() == "help" {
			return
		}
		if n := len([]rune(cmd.Short)); n == 0 || n > 60 || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: the short help has %d characters, want 1 to 60 without a period: %s", name, n, cmd.Short)
		}
		if !cmd.HasSubCommands() {
			checkExamples(t, cmd)
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
}

var word = regexp.MustCompile(`'([^']*)'|"([^"]*)"|(\S+)`)

// checkExamples checks that a command has an example of itself, and that the flags and
// arguments of all its examples are valid.
func checkExamples(t *testing.T, cmd *cobra.Command) {
	if !strings.Contains(cmd.Example, "  "+cmd.CommandPath()) {
		t.Errorf("%s: there is no example", cmd.CommandPath())
	}
	example, _, _ := strings.Cut(strings.ReplaceAll(cmd.Example, "\\\n", " "), " > ")
	for line := range strings.Lines(example) {
		line, found := strings.CutPrefix(strings.TrimSpace(line), "feedmill ")
		if !found {
			continue
		}
		var args []string
		for _, m := range word.FindAllStringSubmatch(line, -1) {
			args = append(args, m[1]+m[2]+m[3])
		}
		called, rest, err := newRoot().Find(args)
		if err == nil {
			err = called.ParseFlags(rest)
		}
		if err == nil {
			err = called.ValidateArgs(called.Flags().Args())
		}
		if err != nil {
			t.Errorf("%s: the example %q: %v", cmd.CommandPath(), line, err)
		}
	}
}
