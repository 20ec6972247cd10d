package machine

import (
	"log/slog"
	"math"
	"runtime/debug"
)

const mebibyte = 1 << 20

// Memory is how memory is divided between the server and its workers. The parts together
// stay below the total, because the kernel kills a process that exceeds it.
type Memory struct {
	// Total is the memory that this program can use, zero if unknown. Server is the limit
	// for the garbage collector of the server process.
	Total, Server int64
	// Workers is the number of workers, and Worker the memory limit of the database in
	// each. A worker process uses [WorkerBase] more.
	Workers int
	Worker  int64
	// Modelling and Previews are the numbers of tables that can be modelled concurrently.
	Modelling, Previews int
	// Large is the number of those that can have rows of many megabytes.
	Large int
	// Draft is the size from which a file that is being written does not stay in the page
	// cache, zero if unknown.
	Draft int64
}

// WorkerBase is the memory of a worker besides that of its database.
const WorkerBase = 64 * mebibyte

// divideMemory divides a total.
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
	m.Draft = total / 8
	m.Large = int(max(1, min(m.Server/largeLoad, 3)))
	return m
}

// largeLoad is the memory for modelling a table with rows of the maximum size.
const largeLoad = 256 * mebibyte

// LimitMemory divides the available memory and sets the limit of the garbage collector,
// unless the operator has set GOMEMLIMIT.
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
