// Package deploy checks the files for running Feedmill against the program.
package deploy

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// metric is a row of the reference of metrics, which is generated from the program.
type metric struct {
	kind   string
	labels []string
}

func metrics(t *testing.T) map[string]metric {
	t.Helper()
	all := map[string]metric{"up": {}, "process_resident_memory_bytes": {}, "process_cpu_seconds_total": {}}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\| ([^|]*) \\|").FindAllStringSubmatch(read(t, "../docs/reference/metrics.md"), -1) {
		labels := regexp.MustCompile(`\w+`).FindAllString(m[3], -1)
		name := m[1]
		if m[2] == "histogram" {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				all[name+suffix] = metric{m[2], append(labels, "le")}
			}
			continue
		}
		all[name] = metric{m[2], labels}
	}
	if len(all) < 20 {
		t.Fatalf("the reference has %d metrics", len(all))
	}
	return all
}

var (
	quotedText = regexp.MustCompile(`"[^"]*"`)
	selector   = regexp.MustCompile(`(\w+)\{([^}]*)\}`)
	grouping   = regexp.MustCompile(`\b(?:by|without) \(([^)]*)\)`)
	duration   = regexp.MustCompile(`\[\w+\]`)
	word       = regexp.MustCompile(`[a-zA-Z_]\w*\(?`)
)

// faults lists metrics and labels of an expression that do not exist.
func faults(known map[string]metric, expr string) (all []string) {
	expr = quotedText.ReplaceAllString(expr, `""`)
	labels := []string{"instance", "job"}
	names := func(metric, list string) {
		for _, label := range regexp.MustCompile(`(\w+)\s*(?:=~|=|!=|!~|,|$)`).FindAllStringSubmatch(list, -1) {
			if !slices.Contains(labels, label[1]) && !slices.Contains(known[metric].labels, label[1]) {
				all = append(all, metric+" has no label "+label[1])
			}
		}
	}
	for _, m := range selector.FindAllStringSubmatch(expr, -1) {
		names(m[1], m[2])
	}
	rest := grouping.ReplaceAllString(duration.ReplaceAllString(selector.ReplaceAllString(expr, "$1"), ""), "")
	rest = regexp.MustCompile(` +\(`).ReplaceAllString(rest, "(")
	found := ""
	for _, name := range word.FindAllString(rest, -1) {
		if strings.HasSuffix(name, "(") {
			continue
		}
		if _, ok := known[name]; !ok {
			all = append(all, "the metric "+name+" does not exist")
		}
		found = name
	}
	if found == "" {
		all = append(all, "there is no metric")
	}
	for _, m := range grouping.FindAllStringSubmatch(expr, -1) {
		names(found, m[1])
	}
	return all
}

func TestAlerts(t *testing.T) {
	t.Parallel()
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	d := yaml.NewDecoder(strings.NewReader(read(t, "prometheus/alerts.yaml")))
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	known, page := metrics(t), read(t, "../docs/how-to/monitor.md")
	rules := 0
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			rules++
			if wrong := faults(known, r.Expr); len(wrong) > 0 {
				t.Errorf("%s: %q", r.Alert, wrong)
			}
			if r.Labels["severity"] != "warning" && r.Labels["severity"] != "critical" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%s: labels %v, annotations %v", r.Alert, r.Labels, r.Annotations)
			}
			if !strings.Contains(page, "`"+r.Alert+"`") {
				t.Errorf("docs/how-to/monitor.md does not describe the alert %s", r.Alert)
			}
		}
	}
	if rules < 5 {
		t.Errorf("there are %d alerts", rules)
	}
}

func TestDashboard(t *testing.T) {
	t.Parallel()
	var board struct {
		Panels []struct {
			ID      int
			Type    string
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ RefID, Expr string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, "grafana/feedmill.json")), &board); err != nil {
		t.Fatal(err)
	}
	known, used, ids := metrics(t), read(t, "grafana/feedmill.json"), make(map[int]bool)
	for _, p := range board.Panels {
		if ids[p.ID] || p.GridPos.X+p.GridPos.W > 24 || p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("%s: panel %d at %v with %d targets", p.Title, p.ID, p.GridPos, len(p.Targets))
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			if wrong := faults(known, target.Expr); len(wrong) > 0 {
				t.Errorf("%s: %q", p.Title, wrong)
			}
		}
	}
	for _, name := range []string{"feedmill_delivery_oldest_due_seconds", "feedmill_http_requests_total", "feedmill_refresh_runs_total", "feedmill_disk_free_bytes"} {
		if !strings.Contains(used, name) {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}

// TestUnknownMetrics shows that the check finds what it looks for.
func TestUnknownMetrics(t *testing.T) {
	t.Parallel()
	known := metrics(t)
	for expr, want := range map[string]string{
		`sum by (status) (rate(feedmill_http_requests_total{status=~"5.."}[5m])) > 0`: "",
		`rate(feedmill_http_request_seconds_count[5m]) > 10`:                          "",
		`feedmill_requests_total > 0`:                                                 "the metric feedmill_requests_total does not exist",
		`feedmill_http_requests_total{code="500"}`:                                    "feedmill_http_requests_total has no label code",
		`sum by (code) (feedmill_http_requests_total)`:                                "feedmill_http_requests_total has no label code",
		`rate(feedmill_http_request_seconds[5m])`:                                     "the metric feedmill_http_request_seconds does not exist",
		`1 > 0`: "there is no metric",
	} {
		if got := strings.Join(faults(known, expr), "; "); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}

// TestUnit checks the systemd unit, and that it grants no more than it did.
func TestUnit(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("systemd-analyze is not installed; 'make setup' installs it")
	}
	root := t.TempDir()
	for _, folder := range []string{"usr/bin", "etc/systemd/system", "usr/lib/systemd/system"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("usr/bin/feedmill", "#!/bin/sh\n", 0o755)
	write("etc/systemd/system/feedmill.service", read(t, "systemd/feedmill.service"), 0o644)
	for _, unit := range []string{"sysinit.target", "basic.target", "shutdown.target", "network-online.target", "multi-user.target", "network.target", "system.slice", "-.slice", "-.mount", "tmp.mount", "systemd-tmpfiles-setup.service"} {
		if text, err := os.ReadFile("/usr/lib/systemd/system/" + unit); err == nil {
			write("usr/lib/systemd/system/"+unit, string(text), 0o644)
		}
	}
	out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", "--recursive-errors=no", "--root="+root, "feedmill.service").CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("verify: %v\n%s", err, out)
	}
	out, err = exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--no-pager", "--threshold=15", "--root="+root, "feedmill.service").CombinedOutput()
	if err != nil {
		t.Errorf("security: %v\n%s", err, out)
	}
}
