// Package mysql reads MySQL and MariaDB.
//
// Every query runs in a transaction that may only read, in UTC and with a bound on
// its time. Rows come in the binary protocol and become vectors as they come. When
// nobody wants them any more the server is told to kill the query.
package mysql

import (
	"context"
	"database/sql"
	"net"
	"strconv"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/database"
)

// Connector opens databases of MySQL and MariaDB.
type Connector struct{}

// defaultPort is that of MySQL.
const defaultPort = 3306

// Open makes a pool of connections.
func (Connector) Open(_ context.Context, c database.Config) (database.Database, error) {
	c = c.WithDefaults()
	if c.Port == 0 {
		c.Port = defaultPort
	}
	config := driver.NewConfig()
	config.Net, config.Addr = "tcp", net.JoinHostPort(c.Host, strconv.Itoa(c.Port))
	config.DBName, config.User, config.Passwd = c.Database, c.User, c.Password
	config.Timeout = c.ConnectTimeout
	config.DialFunc = withMeter(c.Dial)
	config.Logger = silence{}
	config.ConnectionAttributes = "program_name:feedmill"
	config.Params = map[string]string{
		"time_zone": "'+00:00'",
		// Without modes, nothing is refused that is only read.
		"sql_mode": "''",
		// Each text of a sort or group takes up to max_sort_length bytes of the buffer, and
		// the server needs room for at least 15 rows. This is enough for 16 texts.
		"max_sort_length":   "65536",
		"sort_buffer_size":  "GREATEST(@@sort_buffer_size, 16777216)",
		"net_write_timeout": "600",
	}
	if err := protect(config, c); err != nil {
		return nil, err
	}
	inner, err := driver.NewConnector(config)
	if err != nil {
		return nil, err
	}
	connector := &metered{Connector: inner}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(c.MaxConns)
	pool.SetConnMaxIdleTime(time.Minute)
	if c.CloseIdle {
		pool.SetMaxIdleConns(-1)
	}
	return &server{
		temp:   c.Temp,
		Server: database.Server{Product: "The server", Address: config.Addr, User: c.User, Password: c.Password, Name: c.Database, Timeout: c.StatementTimeout},
		pool:   pool, connector: connector,
	}, nil
}

// protect sets TLS.
func protect(config *driver.Config, c database.Config) error {
	secure, err := c.TLSConfig()
	if err != nil {
		return err
	}
	switch c.TLS {
	case "off":
	case "", "on":
		config.TLS = secure
	case "skipVerify":
		secure.InsecureSkipVerify = true
		config.TLS = secure
	default:
		return feedmill.Invalid("The connection is not valid.", feedmill.Fault{Pointer: "/tls", Detail: "tls must be off, on or skipVerify."})
	}
	return nil
}

// silence is for what the driver would write to the log; its errors say it too.
type silence struct{}

func (silence) Print(...any) {}
