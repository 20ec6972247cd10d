package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var knownMacros = regexp.MustCompile(`^\.(TH|SH|PP|TP|B|BR|I|br|nf|fi)( |$)`)

func TestManPages(t *testing.T) {
	folder := t.TempDir()
	if err := writeManPages(newRoot(), folder); err != nil {
		t.Fatal(err)
	}
	pages := 0
	var each func(cmd *cobra.Command)
	each = func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "help" {
			return
		}
		pages++
		text, err := os.ReadFile(filepath.Join(folder, manName(cmd)+".1"))
		if err != nil {
			t.Error(err)
			return
		}
		for i, line := range strings.Split(string(text), "\n") {
			if (strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'")) && !knownMacros.MatchString(line) {
				t.Errorf("%s: line %d: %q", manName(cmd), i+1, line)
			}
		}
		if !strings.Contains(string(text), roff(cmd.Short)) {
			t.Errorf("%s does not contain %q", manName(cmd), cmd.Short)
		}
		for _, child := range cmd.Commands() {
			each(child)
		}
	}
	each(newRoot())
	if pages < 50 {
		t.Errorf("there are %d pages", pages)
	}
	if got, want := roff("a-b\\n\n.so /etc/passwd\n'x"), "a\\-b\\en\n\\&.so /etc/passwd\n\\&'x"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
