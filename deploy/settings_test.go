package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var variable = regexp.MustCompile(`FEEDMILL_[A-Z_]+`)

// TestSettings compares the variables in the files of this folder with the settings of the program.
func TestSettings(t *testing.T) {
	t.Parallel()
	page := read(t, "../docs/reference/configuration.md")
	seen := 0
	for _, pattern := range []string{"compose.yaml", "systemd/*", "packages/*", "helm/feedmill/*.yaml", "helm/feedmill/templates/*", "helm/testdata/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			if info, err := os.Stat(file); err != nil || info.IsDir() {
				continue
			}
			for _, name := range variable.FindAllString(read(t, file), -1) {
				seen++
				// The version of the image in compose.yaml is not a setting.
				if name != "FEEDMILL_VERSION" && !strings.Contains(page, "`"+name+"`") {
					t.Errorf("%s: there is no setting %s", file, name)
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("found %d variables", seen)
	}
}

func TestCompose(t *testing.T) {
	t.Parallel()
	var file struct {
		Services map[string]struct {
			Image       string
			Command     []string
			Environment map[string]string
			Volumes     []string
			DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
			Restart     string
			Ports       []string
			Tmpfs       []string
			ReadOnly    bool     `yaml:"read_only"`
			CapDrop     []string `yaml:"cap_drop"`
			SecurityOpt []string `yaml:"security_opt"`
			StopGrace   string   `yaml:"stop_grace_period"`
			Healthcheck struct {
				Test              []string
				Interval, Timeout string
				Retries           int
			}
		}
		Volumes map[string]any
	}
	d := yaml.NewDecoder(strings.NewReader(read(t, "compose.yaml")))
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	for name, service := range file.Services {
		if name != "feedmill" && (!strings.Contains(service.Image, ":") || strings.HasSuffix(service.Image, ":latest")) {
			t.Errorf("%s: the image %s has no version", name, service.Image)
		}
		for other, on := range service.DependsOn {
			target, ok := file.Services[other]
			if !ok || on.Condition == "service_healthy" && len(target.Healthcheck.Test) == 0 {
				t.Errorf("%s depends on %s, which does not exist or has no health check", name, other)
			}
		}
		for _, volume := range service.Volumes {
			if source, _, _ := strings.Cut(volume, ":"); !hasKey(file.Volumes, source) {
				t.Errorf("%s: there is no volume %s", name, source)
			}
		}
		for key, value := range service.Environment {
			if regexp.MustCompile(`(PASSWORD|SECRET|_KEY)$`).MatchString(key) && key != "ROOT_ACCESS_KEY" && !strings.HasSuffix(key, "_ACCESS_KEY") && !strings.HasPrefix(value, "${") {
				t.Errorf("%s: %s has a value in the file", name, key)
			}
		}
		for _, port := range service.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s: port %s is open to the network", name, port)
			}
		}
	}
}

func hasKey(all map[string]any, key string) bool {
	_, ok := all[key]
	return ok
}
