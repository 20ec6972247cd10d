package pgtest

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// patience bounds every single statement that the package itself sends.
const patience = time.Minute

// shared is the server of this test binary. It is stopped by its watchdog
// when the binary ends.
var shared = sync.OnceValues(func() (*Server, error) { return launch(Options{}) })

// New returns the URL of an empty database that is dropped when the test ends,
// on the server that all tests of the binary share.
func New(t testing.TB) string {
	t.Helper()
	return newLike(t, emptyDatabase)
}

// Copy is New for a database that has what another of New has, which nobody is
// connected to.
func Copy(t testing.TB, other string) string {
	t.Helper()
	u, err := url.Parse(other)
	if err != nil {
		t.Fatal(err)
	}
	return newLike(t, path.Base(u.Path))
}

func newLike(t testing.TB, template string) string {
	t.Helper()
	s, err := shared()
	if err != nil {
		giveUp(t, err)
	}
	name := s.create(t, template)
	t.Cleanup(func() {
		// A connection that the test left open must not keep the
		// database, and is for the test's own checks to find.
		if err := s.drop(name); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return s.url(name)
}

// drop drops a database, whoever is connected. PostgreSQL gives those five seconds
// to be gone, which is not enough for all on a busy machine.
func (s *Server) drop(name string) (err error) {
	for range 10 {
		err = s.exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
		if refusal, ok := errors.AsType[*pgconn.PgError](err); !ok || refusal.Code != pgInUse {
			return err
		}
	}
	return err
}

// pgInUse is the code of what is refused because somebody uses the object.
const pgInUse = "55006"

// Start starts a server for this test alone and stops it when the test ends.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := launch(o)
	if err != nil {
		giveUp(t, err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Errorf("end PostgreSQL: %v", err)
		}
	})
	return s
}

// giveUp ends a test that has no server. Only a machine without PostgreSQL is
// an excuse, and none where everything is meant to be tested.
func giveUp(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, errNotInstalled) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	t.Fatal(err)
}

// exec runs one statement on a connection of its own.
func (s *Server) exec(ctx context.Context, sql string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.url("postgres"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}
