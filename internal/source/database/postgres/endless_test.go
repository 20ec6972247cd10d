package postgres_test

import (
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/postgres"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// A server may be anybody's: one that answers whatever it is asked with rows for ever
// does not fill the memory.
func TestServersThatSendForEver(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go sendForEver(conn)
		}
	}()
	db, err := postgres.Connector{}.Open(t.Context(), database.Config{
		Host: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, Database: "d", User: "u", Password: "secret", TLS: "disable",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.Views(t.Context())
	wantProblem(t, err, database.ProblemStatement, "more than 16 MiB")
	_, err = db.Table(t.Context(), "a", feedmill.RulesCurrent)
	wantProblem(t, err, database.ProblemStatement, "more than 16 MiB")
}

// sendForEver is such a server, for one connection.
func sendForEver(conn net.Conn) {
	defer conn.Close()
	server := pgproto3.NewBackend(conn, conn)
	if _, err := server.ReceiveStartupMessage(); err != nil {
		return
	}
	server.Send(&pgproto3.AuthenticationOk{})
	server.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if server.Flush() != nil {
		return
	}
	if _, err := server.Receive(); err != nil {
		return
	}
	server.Send(&pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{Name: []byte("a"), DataTypeOID: 25, DataTypeSize: -1, TypeModifier: -1}}})
	row := &pgproto3.DataRow{Values: [][]byte{[]byte(strings.Repeat("x", 1000))}}
	for server.Flush() == nil {
		for range 100 {
			server.Send(row)
		}
	}
}

// What a real server says about its tables is bounded as well, and what it says when it
// is asked for less is not lost.
func TestListsAreBounded(t *testing.T) {
	address := pgtest.New(t)
	conn := connect(t, address)
	exec(t, conn, "CREATE TABLE small (a int); CREATE TABLE large (a int); COMMENT ON TABLE large IS '"+strings.Repeat("x", database.MaxInventory)+"'")
	db := open(t, config(t, address))
	_, err := db.Views(t.Context())
	wantProblem(t, err, database.ProblemStatement, "more than 16 MiB")
	exec(t, conn, "DROP TABLE large")
	if views, err := db.Views(t.Context()); err != nil || len(views) != 1 {
		t.Errorf("%v, %v", views, err)
	}
}
