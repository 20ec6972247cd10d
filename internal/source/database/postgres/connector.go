// Package postgres reads PostgreSQL, and databases that speak its protocol.
//
// Every query runs in a transaction that may only read, with a bound on its time.
// Rows come in the binary format and become vectors as they come; the server is
// asked to stop when nobody wants them any more.
package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/database"
)

// Connector opens databases of PostgreSQL.
type Connector struct{}

const (
	// defaultPort is that of PostgreSQL.
	defaultPort = 5432
	// maxMessage is how many bytes a row may have. Memory is taken for what a server
	// announces, whoever it is.
	maxMessage = 64 << 20
)

// Open makes a pool of connections.
func (Connector) Open(ctx context.Context, c database.Config) (database.Database, error) {
	c = c.WithDefaults()
	if c.Port == 0 {
		c.Port = defaultPort
	}
	// Nothing is taken from the environment: everything is set below.
	config, err := pgxpool.ParseConfig("host=localhost user=x sslmode=disable passfile=/dev/null")
	if err != nil {
		return nil, err
	}
	conn := &config.ConnConfig.Config
	conn.Host, conn.Port = c.Host, uint16(c.Port)
	conn.Database, conn.User, conn.Password = c.Database, c.User, c.Password
	if conn.Database == "" {
		conn.Database = c.User
	}
	conn.RuntimeParams = map[string]string{"application_name": "feedmill", "client_encoding": "UTF8"}
	conn.ConnectTimeout = c.ConnectTimeout
	conn.MaxProtocolMessageBodyLen = maxMessage
	conn.DialFunc, conn.BuildFrontend = withMeter(c.Dial), buildFrontend
	conn.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	conn.Fallbacks = nil
	conn.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: 5 * time.Second}
	}
	if err := protect(conn, c); err != nil {
		return nil, err
	}
	config.MaxConns = int32(c.MaxConns)
	config.MaxConnIdleTime = time.Minute
	if c.CloseIdle {
		config.AfterRelease = func(*pgx.Conn) bool { return false }
	}
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec // poolers in between know no prepared statements
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	return &server{
		temp: c.Temp,
		Server: database.Server{
			Product: "PostgreSQL", Address: net.JoinHostPort(c.Host, strconv.Itoa(c.Port)),
			User: c.User, Password: c.Password, Name: conn.Database, Timeout: c.StatementTimeout,
		},
		pool: pool,
	}, nil
}

// protect sets TLS as the words of libpq have it.
func protect(conn *pgconn.Config, c database.Config) error {
	secure, err := c.TLSConfig()
	if err != nil {
		return err
	}
	conn.TLSConfig = secure
	switch c.TLS {
	case "disable":
		conn.TLSConfig = nil
	case "", "prefer":
		secure.InsecureSkipVerify = true
		conn.Fallbacks = []*pgconn.FallbackConfig{{Host: conn.Host, Port: conn.Port}}
	case "require":
		secure.InsecureSkipVerify = true
	case "verify-ca":
		secure.InsecureSkipVerify = true
		secure.VerifyConnection = func(state tls.ConnectionState) error { return verifyAuthority(state, secure.RootCAs) }
	case "verify-full":
	default:
		return feedmill.Invalid("The connection is not valid.", feedmill.Fault{
			Pointer: "/sslmode", Detail: "sslmode must be disable, prefer, require, verify-ca or verify-full.",
		})
	}
	return nil
}

// verifyAuthority checks who vouches for the server, and not its name.
func verifyAuthority(state tls.ConnectionState, roots *x509.CertPool) error {
	among := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
	for _, c := range state.PeerCertificates[1:] {
		among.Intermediates.AddCert(c)
	}
	_, err := state.PeerCertificates[0].Verify(among)
	return err
}
