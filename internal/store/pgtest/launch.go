package pgtest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
)

// launch makes a server and waits until it takes connections.
func launch(o Options) (*Server, error) {
	programs, err := findPrograms(debianFolders)
	if err != nil {
		return nil, err
	}
	w, err := startWatchdog(programs, os.TempDir(), o.lines())
	if err != nil {
		return nil, fmt.Errorf("make a PostgreSQL server: %w", err)
	}
	s := &Server{watchdog: w}
	// A port that was free a moment ago may be taken by now.
	for range 3 {
		s.port = FreePort()
		if err = w.ask("start", strconv.Itoa(s.port)); err == nil {
			return s, nil
		}
	}
	w.close()
	return nil, fmt.Errorf("start PostgreSQL: %w", err)
}

// lines writes the options as lines of postgresql.conf.
func (o Options) lines() []string {
	settings := map[string]string{
		"listen_addresses": "127.0.0.1",
		// Without sockets the length of the folder's name does not matter.
		"unix_socket_directories": "",
		"max_connections":         "200",
		"timezone":                "UTC",
	}
	if !o.Durable {
		for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
			settings[name] = "off"
		}
	}
	maps.Copy(settings, o.Settings)
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		lines = append(lines, fmt.Sprintf("%s = '%s'", name, strings.ReplaceAll(settings[name], "'", "''")))
	}
	return lines
}

// The ports to choose from lie below those that operating systems hand out by
// themselves, so that nobody is given the port of a server that is stopped and
// will be started again.
const firstPort, endPort = 15000, 32000

// FreePort returns a port on the loopback interface that nobody listens at, and
// that the system gives to nobody who does not ask for it by its number.
func FreePort() int {
	for range 1000 {
		port := firstPort + rand.IntN(endPort-firstPort)
		l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		l.Close()
		return port
	}
	return firstPort
}
