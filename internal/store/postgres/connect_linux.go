package postgres

import (
	"strings"
	"syscall"
)

// tcpUserTimeout is the option of Linux for how long what is sent may stay
// unacknowledged.
const tcpUserTimeout = 0x12

func setUserTimeout(network, _ string, conn syscall.RawConn) (err error) {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	controlErr := conn.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(silence.Milliseconds()))
	})
	if controlErr != nil {
		return controlErr
	}
	return err
}
