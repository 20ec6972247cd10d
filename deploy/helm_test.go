package deploy

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// helm returns the path of the program, which 'make helm' builds. Building it takes minutes, so the
// short form of the tests runs without it.
func helm(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../bin/tools/helm")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("FEEDMILL_LONG") != "" {
			t.Fatal("run make helm first: ", err)
		}
		t.Skip("bin/tools/helm does not exist; 'make helm' builds it")
	}
	return path
}

// TestChart renders the chart with each file of values in helm/testdata and compares the result
// with the golden file beside it.
func TestChart(t *testing.T) {
	t.Parallel()
	program := helm(t)
	if out, err := exec.CommandContext(t.Context(), program, "lint", "--strict", "helm/feedmill").CombinedOutput(); err != nil {
		t.Errorf("lint: %v\n%s", err, out)
	}
	files, err := filepath.Glob("helm/testdata/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		out, err := exec.CommandContext(t.Context(), program, "template", "mill", "helm/feedmill", "--namespace", "feeds", "--values", file).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
			continue
		}
		golden := strings.TrimSuffix(file, ".yaml") + ".golden"
		if *update {
			if err := os.WriteFile(golden, out, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want := read(t, golden); string(out) != want {
			t.Errorf("%s differs from %s; look at the difference and run go test ./deploy -update\n%s", file, golden, out)
		}
	}
}

// TestChartRefuses shows that values that cannot work are refused, with what to set.
func TestChartRefuses(t *testing.T) {
	t.Parallel()
	program := helm(t)
	for args, want := range map[string]string{
		"replicas=2":         "replicas above 1 require database.existingSecret and bucket.url",
		"bucket.url=s3://b":  "bucket.url requires database.existingSecret",
		"bucket.url=/folder": "does not match pattern",
		"replica=2":          "additional properties 'replica' not allowed",
		"bucket.url=s3://b,database.existingSecret=db":          "require vault.existingSecret",
		"ingress.enabled=true":                                  "ingress.enabled requires ingress.host",
		"settings.listen=x":                                     "settings",
		"replicas=3,database.existingSecret=db,bucket.url=data": "does not match pattern",
	} {
		out, err := exec.CommandContext(t.Context(), program, "template", "mill", "helm/feedmill", "--set", args).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, want %q\n%s", args, err, want, out)
		}
	}
}
