package worker

import (
	"fmt"
	"io"
	"net"
	"os"
)

// socket is the number of the file that a worker's socket has.
const socket = 3

// Main is the whole life of a worker process: it serves the socket that the
// server left to it.
func Main() error { return serveSocket(Run) }

func serveSocket(run func(io.ReadWriter) error) error {
	file := os.NewFile(socket, "server")
	conn, err := net.FileConn(file)
	if err != nil {
		return fmt.Errorf("worker: only the server can run this command, because it passes a socket: %w", err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	defer conn.Close()
	return run(conn)
}
