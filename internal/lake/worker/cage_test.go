package worker_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// askFile runs a query that reads one file, which it calls lent.
func askFile(p *lake.Pool, path, sql string) (string, error) {
	var out bytes.Buffer
	request := wire.Request{SQL: sql, Names: []string{"a"}, Format: wire.FormatNDJSON, Files: map[string]string{"lent": path}}
	_, err := p.Run(context.Background(), request, &out)
	return out.String(), err
}

// What a query could do beyond reading its own files is refused.
func TestCage(t *testing.T) {
	p, folder := pool(t)
	inside := filepath.Join(folder, "x.csv")
	if err := os.WriteFile(inside, []byte("a\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := askFile(p, inside, "SELECT * FROM read_csv('lent')"); err != nil || got != "{\"a\":1}\n" {
		t.Errorf("a file of the query: %q, %v", got, err)
	}
	for _, sql := range []string{
		"SELECT * FROM read_csv('" + inside + "')",
		"SELECT * FROM read_csv('lent')", // that was another query's
		"SELECT * FROM read_csv('/etc/passwd')",
		"SELECT * FROM read_text('/etc/passwd')",
		"SELECT content FROM read_text('/proc/self/environ')",
		"SELECT * FROM read_text('" + folder + "/../../../../../etc/passwd')",
		"SELECT * FROM '/etc/passwd'",
		"SELECT * FROM glob('/etc/*')",
		"SELECT * FROM read_parquet('http://127.0.0.1:1/x.parquet')",
		"SELECT * FROM read_parquet('s3://bucket/x.parquet')",
		"COPY (SELECT 1) TO '/tmp/feedmill-cage.csv'",
		"ATTACH '/tmp/feedmill-cage.db'",
		"EXPORT DATABASE '/tmp/feedmill-cage'",
		"INSTALL httpfs",
		"LOAD httpfs",
		"LOAD '/tmp/feedmill-cage.duckdb_extension'",
		"FORCE INSTALL httpfs FROM community",
		"SET memory_limit = '99GB'",
		"SET enable_external_access = true",
		"SET lock_configuration = false",
		"RESET allowed_directories",
		"PRAGMA enable_external_access",
		"CREATE PERSISTENT SECRET s (TYPE http)",
	} {
		got, err := ask(p, sql)
		if err == nil {
			t.Errorf("%s gave %q", sql, got)
		}
		if errors.Is(err, feedmill.ErrUnavailable) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if got, err := ask(p, "SELECT getenv('PATH')"); err == nil && got != "{\"a\":\"\"}\n" && got != "{\"a\":null}\n" {
		t.Errorf("the environment of a worker has %s", got)
	}
}

// The kernel keeps a worker whose database is not kept from anything from all
// files but those of its query and what it spills.
func TestCageOfTheKernel(t *testing.T) {
	if !lake.Landlock() {
		t.Skip("the kernel has no Landlock")
	}
	temp := t.TempDir()
	p, folder := pool(t, func(c *lake.PoolConfig) {
		c.Args, c.Temp, c.TempBytes = []string{"feedmill", "free", "worker"}, temp, 1<<30
	})
	lent, other := filepath.Join(folder, "x.csv"), filepath.Join(folder, "other.csv")
	for _, file := range []string{lent, other} {
		if err := os.WriteFile(file, []byte("a\n1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const found = "{\"a\":1}\n"
	if got, err := askFile(p, lent, "SELECT * FROM read_csv('lent')"); err != nil || got != found {
		t.Errorf("the file of the query: %q, %v", got, err)
	}
	cages, err := filepath.Glob(filepath.Join(temp, "*"))
	if err != nil || len(cages) != 1 {
		t.Fatal(cages, err)
	}
	spill := filepath.Join(cages[0], "spill", "s.csv")
	if _, err := ask(p, "COPY (SELECT 1 AS a) TO '"+spill+"' (HEADER)"); err != nil {
		t.Errorf("its own spool: %v", err)
	}
	if got, err := ask(p, "SELECT * FROM read_csv('"+spill+"')"); err != nil || got != found {
		t.Errorf("its own spool: %q, %v", got, err)
	}
	for _, sql := range []string{
		"SELECT content FROM read_text('/etc/passwd')",
		"SELECT content FROM read_text('/proc/self/environ')",
		"SELECT content FROM read_text('/proc/1/cmdline')",
		"SELECT * FROM read_csv('" + lent + "')",
		"SELECT * FROM read_csv('" + other + "')",
		"SELECT * FROM read_csv('lent')", // that was another query's
		"SELECT * FROM read_csv('/proc/self/root" + other + "')",
		"COPY (SELECT 1) TO '" + filepath.Join(folder, "new.csv") + "'",
		"COPY (SELECT 1) TO '" + other + "'",
		"COPY (SELECT 1) TO '" + filepath.Join(cages[0], "files", "new.csv") + "'",
		"COPY (SELECT 1) TO '" + filepath.Join(cages[0], "new.csv") + "'",
		"ATTACH '" + filepath.Join(folder, "new.db") + "'",
	} {
		if got, err := ask(p, sql); err == nil {
			t.Errorf("%s gave %q", sql, got)
		} else if errors.Is(err, feedmill.ErrUnavailable) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if got, err := ask(p, "SELECT count(*) AS a FROM glob('"+folder+"/*')"); err == nil && got != "{\"a\":0}\n" {
		t.Errorf("the files of others can be listed: %s", got)
	}
	text, err := os.ReadFile(other)
	if left, globErr := filepath.Glob(filepath.Join(folder, "*")); len(left) != 2 || globErr != nil || err != nil || !strings.HasPrefix(string(text), "a\n1") {
		t.Errorf("the folder has %q, %q, %v", left, text, err)
	}
}
