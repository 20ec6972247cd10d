package machine

import (
	"log/slog"
	"math"
	"runtime/debug"
)

const mebibyte = 1 << 20

// Memory is how the memory that there is is divided between the server and its
// workers. The parts together stay below the whole, because what passes it is
// killed, and everybody's work with it.
type Memory struct {
	// Total is what this program may use, zero where that is not known, and
	// Server what the collector of its own process aims to stay below.
	Total, Server int64
	// Workers is how many there are, and Worker what the database of each may
	// hold. A process takes [WorkerBase] more.
	Workers int
	Worker  int64
	// Modelling and Previews are how many tables may be modelled at the same time.
	Modelling, Previews int
	// Large is how many of those may hold rows of many megabytes.
	Large int
}

// WorkerBase is what a worker takes besides what its database holds.
const WorkerBase = 64 * mebibyte

// divideMemory plans for a total.
func divideMemory(total int64) Memory {
	m := Memory{Total: total, Workers: 3, Worker: 512 * mebibyte, Modelling: 3, Previews: 2, Large: 3}
	if total <= 0 {
		return m
	}
	if total < 1<<30 {
		m.Workers, m.Modelling = 2, 2
	}
	m.Worker = min(m.Worker, max(total/10, 32*mebibyte))
	m.Server = max(total-total/16-int64(m.Workers)*(m.Worker+WorkerBase), total/4)
	m.Large = int(max(1, min(m.Server/largeLoad, 3)))
	return m
}

// largeLoad is how much memory a table takes while it is modelled that has rows as large as can be.
const largeLoad = 256 * mebibyte

// LimitMemory finds out how much memory there is and has the collector keep to
// its part of it, unless the operator has said what that is (GOMEMLIMIT).
func LimitMemory(log *slog.Logger) Memory {
	m := divideMemory(availableMemory())
	if given := debug.SetMemoryLimit(-1); given != math.MaxInt64 {
		m.Server = given
	} else if m.Server > 0 {
		debug.SetMemoryLimit(m.Server)
	}
	log.Info("memory", "total", m.Total, "server", m.Server, "workers", m.Workers, "worker", m.Worker+WorkerBase)
	return m
}
