package app

import (
	"log/slog"
	"math"
	"runtime/debug"
)

const mebibyte = 1 << 20

// memory is how the memory that there is is divided between the server and its
// workers. The parts together stay below the whole, because what passes it is
// killed, and everybody's work with it.
type memory struct {
	// total is what this program may use, zero where that is not known, and
	// server what the collector of its own process aims to stay below.
	total, server int64
	// workers is how many there are, and worker what the database of each may
	// hold. A process takes workerBase more.
	workers int
	worker  int64
	// modelling and previews are how many tables may be modelled at the same time.
	modelling, previews int
}

// workerBase is what a worker takes besides what its database holds.
const workerBase = 64 * mebibyte

// divideMemory plans for a total.
func divideMemory(total int64) memory {
	m := memory{total: total, workers: 3, worker: 512 * mebibyte, modelling: 3, previews: 2}
	if total <= 0 {
		return m
	}
	if total < 1<<30 {
		m.workers, m.modelling = 2, 2
	}
	m.worker = min(m.worker, max(total/10, 32*mebibyte))
	m.server = max(total-total/16-int64(m.workers)*(m.worker+workerBase), total/4)
	return m
}

// limitMemory finds out how much memory there is and has the collector keep to
// its part of it, unless the operator has said what that is (GOMEMLIMIT).
func limitMemory(log *slog.Logger) memory {
	m := divideMemory(availableMemory())
	if given := debug.SetMemoryLimit(-1); given != math.MaxInt64 {
		m.server = given
	} else if m.server > 0 {
		debug.SetMemoryLimit(m.server)
	}
	log.Info("memory", "total", m.total, "server", m.server, "workers", m.workers, "worker", m.worker+workerBase)
	return m
}
