package lake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/query/duckdb"
	"github.com/feedmill/feedmill/internal/share"
)

// PoolConfig says how workers are started and what each may use.
type PoolConfig struct {
	// Program runs a worker when it is started with Args, of which the first is
	// the name that it goes by. No program means the one that runs now, even
	// where its file has been replaced since, and no Args the command "worker".
	Program string
	Args    []string
	// Temp is the folder in which a worker may put what does not fit into its
	// memory, up to TempBytes, and the server what clients are slow to take.
	// It is the pool's alone: what an earlier one has left there is removed.
	// The files of a query are put there, too, so it should be on the disk that
	// they are on. Empty means that nothing else is put on disk.
	Temp      string
	TempBytes int64
	// CheckDisk fails where the disk with Temp has no room for more, and TakeDisk too,
	// which is called before bytes are written there. Either may be nil.
	CheckDisk func() error
	TakeDisk  func(n int64) error
	// SpoolBytes is how much of clients' rows may wait in files in all, by
	// default 16 GiB, and half of it those of one workspace.
	SpoolBytes int64
	// Workers is how many there are at most, by default three: one of them is
	// always left for others by whoever has many queries.
	Workers int
	// Large is how many queries at a time may read rows that are larger than the memory of a worker,
	// by default one. Such a worker holds a row besides what its database may hold.
	Large int
	// QueryTime is how long a query may work, zero for as long as it likes.
	// Waiting, for a worker or for whoever takes the rows, does not count, and
	// what is done in the background is not bounded.
	QueryTime time.Duration
	// Threads is how many threads each uses, by default as many as can run.
	Threads int
	// Memory is how many bytes the database of a worker may hold, by default
	// 512 MiB, and AddressSpace how many the process can have at all, which
	// includes files that are mapped and memory that is only reserved.
	Memory       int64
	AddressSpace int64
	// Process is how many bytes of memory a worker of feeds may hold in all, files apart, by
	// default Memory and 64 MiB. One that holds more is ended.
	Process int64
	// Queries is after how many queries a worker is replaced by a fresh one,
	// by default 1,000, and Held above how many bytes of memory that it still holds
	// when it has answered, files apart, by default Memory.
	Queries int
	Held    int64
	// SpareAfter is how long after the first start of a worker one more is kept
	// ready than are at work, by default two seconds.
	SpareAfter time.Duration
	// LoadTime is for about how long the use of workers counts, by default two seconds.
	LoadTime time.Duration

	Log *slog.Logger
}

// Pool runs queries in worker processes, which are started as they are needed
// and used again. Whatever happens to a worker fails the one request that it had.
type Pool struct {
	config PoolConfig
	slots  *share.Slots
	// databases are slots for workers that read database files of users. Feeds have slots of
	// their own, so that slow database files do not delay them.
	databases *share.Slots
	// large are slots for queries of rows that are larger than the memory of a worker, which
	// are taken before those for workers.
	large  *share.Slots
	spools *share.Budget
	reaper sync.WaitGroup

	mu     sync.Mutex
	closed bool
	idle   []*process
	// starting is how many workers of feeds are being started, and ready is signalled
	// when one is idle or has failed to start.
	starting int
	ready    *sync.Cond
	spare    spare
	loads    loads
	// idleDatabases are those that read a file of a database, the last used last.
	idleDatabases []*process
	busy          map[*process]bool
}

// NewPool makes a pool; no worker is started yet.
func NewPool(c PoolConfig) *Pool {
	if len(c.Args) == 0 {
		c.Args = []string{"feedmill", "worker"}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Workers <= 0 {
		c.Workers = 3
	}
	if c.Large <= 0 {
		c.Large = 1
	}
	if c.Threads <= 0 {
		c.Threads = runtime.GOMAXPROCS(0)
	}
	if c.Memory <= 0 {
		c.Memory = 512 << 20
	}
	if c.AddressSpace <= 0 {
		c.AddressSpace = 4*c.Memory + 4<<30
	}
	if c.Process <= 0 {
		c.Process = c.Memory + processBase
	}
	if c.CheckDisk == nil {
		c.CheckDisk = func() error { return nil }
	}
	if c.TakeDisk == nil {
		c.TakeDisk = func(int64) error { return nil }
	}
	if c.SpoolBytes <= 0 {
		c.SpoolBytes = 16 << 30
	}
	if c.Queries <= 0 {
		c.Queries = 1000
	}
	if c.Held <= 0 {
		c.Held = c.Memory
	}
	if c.SpareAfter <= 0 {
		c.SpareAfter = 2 * time.Second
	}
	if c.LoadTime <= 0 {
		c.LoadTime = 2 * time.Second
	}
	if err := emptyTemp(c.Temp); err != nil {
		c.Log.Warn("cleaning the folder of temporary query files failed", "error", err)
	}
	p := &Pool{config: c, slots: share.NewSlots(c.Workers, c.Workers, maxWaiting), databases: share.NewSlots(c.Workers, c.Workers, maxWaiting), large: share.NewSlots(c.Large, c.Large, maxWaiting), spools: share.NewBudget(c.SpoolBytes, c.SpoolBytes/2), busy: make(map[*process]bool)}
	p.ready = sync.NewCond(&p.mu)
	p.loads = loads{over: c.LoadTime, of: make(map[string]load)}
	return p
}

// emptyTemp makes the folder, and removes what an earlier pool has left there.
func emptyTemp(folder string) error {
	if folder == "" {
		return nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	left, err := filepath.Glob(filepath.Join(folder, tempPrefix+"*"))
	for _, name := range left {
		err = errors.Join(err, os.RemoveAll(name))
	}
	return err
}

// tempPrefix is how the names of temporary files and folders begin.
const tempPrefix = "query-"

// maxWaiting is how many queries of one workspace may wait for a worker.
const maxWaiting = 64

var errTooManyQueries = &feedmill.Error{
	Kind: feedmill.ErrTooMany, Type: "too-many-queries", RetryAfter: 2 * time.Second,
	Detail: fmt.Sprintf("This workspace already has %d waiting queries (the maximum). Retry after the time in the Retry-After header, with fewer concurrent requests.", maxWaiting),
}

// Run runs a request and writes what the worker answers to out, as it comes.
// It waits while all workers are busy; the workspaces take turns. When the context ends, or out takes no
// more, the worker is killed.
//
// An error that matches [feedmill.ErrUnavailable] says that the worker ended
// before it had answered; one that matches [feedmill.ErrUnprocessable] says that
// the query needs more memory than a worker may have.
func (p *Pool) Run(ctx context.Context, request wire.Request, out io.Writer) (wire.End, error) {
	return p.run(ctx, p.slots, nil, request, out)
}

func (p *Pool) run(ctx context.Context, slots *share.Slots, database *databaseFile, request wire.Request, out io.Writer) (wire.End, error) {
	needed := []*share.Slots{slots}
	if request.Apart {
		needed = []*share.Slots{p.large, slots}
	}
	for _, slots := range needed {
		giveBack, err := slots.Take(ctx)
		if errors.Is(err, share.ErrCrowded) {
			return wire.End{}, errTooManyQueries
		}
		if err != nil {
			return wire.End{}, fmt.Errorf("read: %w", err)
		}
		defer giveBack()
	}
	end, err := p.runOnce(ctx, database, request, out)
	for range p.config.Workers {
		if _, unsent := errors.AsType[*sendError](err); !unsent || ctx.Err() != nil {
			break
		}
		// The worker had died unnoticed, and so may others that are idle have.
		end, err = p.runOnce(ctx, database, request, out)
	}
	if err != nil {
		return end, fmt.Errorf("read: %w", err)
	}
	return end, nil
}

func (p *Pool) runOnce(ctx context.Context, database *databaseFile, request wire.Request, out io.Writer) (wire.End, error) {
	if err := context.Cause(ctx); err != nil {
		return wire.End{}, err
	}
	holder := share.Holder(ctx)
	w, err := p.acquire(holder, database)
	if err != nil {
		return wire.End{}, err
	}
	used := p.watch(w, holder)
	if database == nil { // the connection has a limit of its own
		limited, timed, stop := p.limitTime(ctx, out)
		defer stop()
		ctx, out = limited, timed
	}
	ctx, unwatch := p.watchDisk(ctx, w)
	defer unwatch()
	cancelled := context.AfterFunc(ctx, w.kill)
	end, err := w.ask(request, out)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		w.awaitEnd(ctx) // so that it can say why
	}
	usable := cancelled() && (err == nil || isFailure(err))
	used(usable)
	p.release(w, usable && !ranOut(err) && w.queries < p.config.Queries && end.Held <= p.config.Held)
	switch {
	case err == nil:
		return end, nil
	case ctx.Err() != nil:
		return end, context.Cause(ctx)
	case isFailure(err):
		return end, translate(err)
	}
	if sink, ok := errors.AsType[*sinkError](err); ok {
		return end, sink.error
	}
	if unsent, ok := errors.AsType[*sendError](err); ok {
		return end, fmt.Errorf("%w: sending the query to the worker failed: %w", feedmill.ErrUnavailable, unsent)
	}
	<-w.dead
	if w.outOfMemory() {
		p.config.Log.Warn("a worker was stopped because a query exceeded its memory limit", "workspace", holder, "ending", w.ending())
		return end, errTooLarge
	}
	p.config.Log.Error("a worker exited during a query", "ending", w.ending())
	return end, fmt.Errorf("%w: the worker exited: %w", feedmill.ErrUnavailable, err)
}

// ranOut reports whether a query failed for want of memory. What its worker holds of it
// still may be too much for the next one.
func ranOut(err error) bool {
	failure, ok := errors.AsType[*wire.Failure](err)
	return ok && failure.Memory
}

func isFailure(err error) bool {
	_, ok := errors.AsType[*wire.Failure](err)
	return ok
}

// queryTooLarge is the problem of a query that needs more memory than it may use.
const queryTooLarge = "query-too-large"

// translate gives a failure that a client can do something about its kind.
func translate(err error) error {
	failure, _ := errors.AsType[*wire.Failure](err)
	switch {
	case failure.Memory:
		return errTooLarge
	case duckdb.IsSumOverflow(failure.Message):
		return errManyDigits
	}
	return err
}

var errManyDigits = &feedmill.Error{
	Kind: feedmill.ErrUnprocessable, Type: "too-many-digits",
	Detail: "A sum in this query has more than 38 digits, the maximum of a decimal. Filter more rows, or remove the sum.",
}

var errTooLarge = &feedmill.Error{
	Kind: feedmill.ErrUnprocessable, Type: queryTooLarge,
	Detail: "This query exceeds the memory limit of one query. Select fewer fields, filter more rows, or remove sorting.",
}

// Close kills all workers and waits for their end. Requests that are under way fail.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	p.spare.stop()
	p.ready.Broadcast()
	for _, w := range p.idle {
		w.kill()
	}
	for _, w := range p.idleDatabases {
		w.kill()
	}
	p.idle, p.idleDatabases = nil, nil
	for w := range p.busy {
		w.kill()
	}
	p.mu.Unlock()
	p.reaper.Wait()
}

// Try starts a worker and ends it, to check that the machine can run one.
func (p *Pool) Try(ctx context.Context) error {
	w, err := p.acquire(share.Holder(ctx), nil)
	if err != nil {
		return err
	}
	p.release(w, false)
	return nil
}
