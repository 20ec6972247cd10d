package pgtest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestFindPrograms(t *testing.T) {
	complete := []string{"initdb", "pg_ctl", "postgres"}
	for _, test := range []struct {
		name     string
		versions map[string][]string
		inPath   []string
		want     string // the version, or "path", or "" for none
	}{
		{"nothing", nil, nil, ""},
		{"the newest by number", map[string][]string{"9.6": complete, "15": complete, "8.4": complete}, complete, "15"},
		{"clients alone do not count", map[string][]string{"15": complete, "17": {"pg_ctl", "psql"}}, nil, "15"},
		{"the search path", map[string][]string{"17": {"psql"}}, complete, "path"},
		{"clients alone in the search path", nil, []string{"pg_ctl"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			// A path with links would not compare equal.
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for version, programs := range test.versions {
				install(t, filepath.Join(root, version, "bin"), programs)
			}
			install(t, filepath.Join(root, "path", "bin"), test.inPath)
			links := filepath.Join(root, "links")
			install(t, links, nil)
			for _, program := range test.inPath {
				if err := os.Symlink(filepath.Join(root, "path", "bin", program), filepath.Join(links, program)); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", links)

			// Versions begin with a digit, which leaves "path" out.
			got, err := findPrograms(filepath.Join(root, "[0-9]*", "bin"))
			if test.want == "" {
				if !errors.Is(err, errNotInstalled) {
					t.Errorf("found %q (%v), want nothing", got, err)
				}
				return
			}
			if want := filepath.Join(root, test.want, "bin"); err != nil || got != want {
				t.Errorf("found %q (%v), want %q", got, err, want)
			}
		})
	}
}

// install makes a folder with empty programs.
func install(t *testing.T, folder string, programs []string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, program := range programs {
		if err := os.WriteFile(filepath.Join(folder, program), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// verdict records how a test was ended instead of ending it.
type verdict struct {
	testing.TB
	calls []string
}

func (v *verdict) Skip(...any)  { v.calls = append(v.calls, "skip") }
func (v *verdict) Fatal(...any) { v.calls = append(v.calls, "fatal") }

func TestGiveUp(t *testing.T) {
	for _, test := range []struct {
		err  error
		ci   string
		want string
	}{
		{errNotInstalled, "", "skip"},
		{errNotInstalled, "true", "fatal"},
		{errors.New("broken"), "", "fatal"},
		{errors.New("broken"), "true", "fatal"},
	} {
		t.Setenv("CI", test.ci)
		v := &verdict{TB: t}
		giveUp(v, test.err)
		if v.calls[0] != test.want {
			t.Errorf("giveUp(%v) with CI=%q: %s, want %s", test.err, test.ci, v.calls[0], test.want)
		}
	}
}
