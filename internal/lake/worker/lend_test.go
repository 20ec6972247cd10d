package worker_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// A worker whose folder has gone, as it does when the worker ends, could not take the
// request: another one has it.
func TestFilesThatCannotBeLent(t *testing.T) {
	temp := t.TempDir()
	p, folder := pool(t, func(c *lake.PoolConfig) { c.Temp = temp })
	file := filepath.Join(folder, "f")
	if err := os.WriteFile(file, []byte("a\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(path string) (string, error) {
		var out bytes.Buffer
		_, err := p.Run(t.Context(), wire.Request{
			SQL: "SELECT 1", Names: []string{"a"}, Format: wire.FormatNDJSON, Files: map[string]string{"f.csv": path},
		}, &out)
		return out.String(), err
	}
	if got, err := read(file); err != nil || got != "{\"a\":1}\n" {
		t.Fatal(got, err)
	}
	cages, err := filepath.Glob(filepath.Join(temp, "*"))
	if err != nil || len(cages) != 1 {
		t.Fatal(cages, err)
	}
	if err := os.RemoveAll(cages[0]); err != nil {
		t.Fatal(err)
	}
	if got, err := read(file); err != nil || got != "{\"a\":1}\n" {
		t.Errorf("after its folder has gone: %q, %v", got, err)
	}
	if _, err := read(file + "-gone"); !errors.Is(err, feedmill.ErrUnavailable) || strings.Contains(err.Error(), "ended") {
		t.Errorf("a file that is not there: %v", err)
	}
}
