package main

import (
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

const webhooksPage = "../../docs/how-to/verify-webhooks.md"

// receiver is a program of the documentation.
type receiver struct {
	name string // as in the comment before it
	file string // what to save it as
	// plain receivers verify x-service-signature, which says nothing of the
	// time and the delivery, of what they serialise again.
	plain   bool
	program func(t *testing.T, file string) []string
}

// TestReceiversOfTheDocumentation runs every receiver of the documentation
// against the program: it takes what is true and refuses what is not.
func TestReceiversOfTheDocumentation(t *testing.T) {
	t.Parallel()
	receivers := []receiver{
		{"go", "main.go", false, compiled},
		{"node-raw", "receiver.mjs", false, interpreted("node")},
		{"node-json", "receiver.mjs", true, interpreted("node")},
		{"python", "receiver.py", false, interpreted("python3")},
	}
	texts := documentedReceivers(t, webhooksPage)
	if names := slices.Sorted(maps.Keys(texts)); len(names) != len(receivers) {
		t.Errorf("the documentation has the receivers %q; some of them are not tested", names)
	}
	server := serve(
		t, t.TempDir(), "FEEDMILL_BOOTSTRAP_KEY="+sharedFirstKey, "FEEDMILL_EGRESS_ALLOW=127.0.0.0/8", "FEEDMILL_LOG_LEVEL=error",
		"FEEDMILL_RETRY_SCHEDULE=100ms,200ms,500ms,1s,2s,4s,8s,15s,30s,60s",
	)
	for _, r := range receivers {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			text, ok := texts[r.name]
			if !ok {
				t.Fatal("the documentation does not have this receiver")
			}
			file := filepath.Join(t.TempDir(), r.file)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			program := r.program(t, file)
			for _, method := range []string{http.MethodPost, http.MethodGet} {
				t.Run(method, func(t *testing.T) { newScene(t, server, r, program, method).play(t) })
			}
		})
	}
}

// documentedReceivers are the texts of the receivers of a page, by name.
func documentedReceivers(t *testing.T, name string) map[string]string {
	t.Helper()
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[string]string)
	for _, m := range regexp.MustCompile("(?s)<!-- receiver: (\\S+) -->\n```\\w+\n(.*?)\n```\n").FindAllStringSubmatch(string(page), -1) {
		texts[m[1]] = m[2] + "\n"
	}
	return texts
}

// compiled builds a receiver in Go, watched by the race detector where the
// tests are.
func compiled(t *testing.T, file string) []string {
	t.Helper()
	binary := filepath.Join(filepath.Dir(file), "receiver")
	args := []string{"build", "-o", binary}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		args = append(args, "-race")
	}
	if text, err := exec.CommandContext(t.Context(), "go", append(args, file)...).CombinedOutput(); err != nil {
		t.Fatalf("building the receiver: %v\n%s", err, text)
	}
	return []string{binary}
}

func interpreted(interpreter string) func(*testing.T, string) []string {
	return func(t *testing.T, file string) []string {
		t.Helper()
		program, err := exec.LookPath(interpreter)
		if err == nil {
			return []string{program, file}
		}
		if os.Getenv("CI") == "true" {
			t.Fatal(interpreter + " is not installed")
		}
		t.Skip(interpreter + " is not installed; 'make setup' installs it")
		return nil
	}
}

// TestDocumentedSchedule holds the table of attempts in the documentation
// against the schedule that there is.
func TestDocumentedSchedule(t *testing.T) {
	page, err := os.ReadFile("../../docs/how-to/retry-and-replay.md")
	if err != nil {
		t.Fatal(err)
	}
	var got feedmill.RetrySchedule
	var sum time.Duration
	parse := func(text string) time.Duration {
		d, err := time.ParseDuration(strings.ReplaceAll(strings.ReplaceAll(text, " ", ""), "min", "m"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		return d
	}
	for i, row := range regexp.MustCompile(`(?m)^\| (\d+) \| (\d.*?) \| (.*?) \|$`).FindAllStringSubmatch(string(page), -1) {
		got = append(got, parse(row[2]))
		sum += got[i]
		if want := parse(row[3]); row[1] != strconv.Itoa(i+2) || (sum-want).Abs() > 10*time.Second {
			t.Errorf("attempt %s comes after %s, the table says %s", row[1], sum, want)
		}
	}
	if !slices.Equal(got, feedmill.DefaultRetrySchedule) {
		t.Errorf("the table has the waits %v, want %v", got, feedmill.DefaultRetrySchedule)
	}
}
