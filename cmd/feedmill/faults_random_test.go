package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestReplicasUnderRandomFaults lets one fault after the other happen to replicas
// and their database while events are published. Nothing that was accepted is
// lost, what is ordered arrives in order, and after each fault every subscription
// is delivered to again. FEEDMILL_SEED repeats a run, FEEDMILL_MINUTES says for how
// long the long form goes on.
func TestReplicasUnderRandomFaults(t *testing.T) {
	t.Parallel()
	for _, n := range longOr([]int{3}, []int{2, 3}) {
		t.Run(fmt.Sprint(n, " replicas"), func(t *testing.T) { underRandomFaults(t, n) })
	}
}

func underRandomFaults(t *testing.T, replicas int) {
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("FEEDMILL_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("FEEDMILL_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	f := newFleet(t, replicas)
	stop := f.publish(t)

	repeats := make(map[string]int) // by the fault that they came during or after
	counted, last := 0, ""
	count := func() {
		now := f.sink.repeats()
		repeats[last] += now - counted
		counted = now
	}
	order := random.Perm(len(faults))
	end := time.Now().Add(longOr(0, longRun()))
	for i := 0; i < longOr(3, len(faults)) || time.Now().Before(end); i++ {
		fault := faults[order[i%len(order)]]
		victim := f.replicas[random.IntN(replicas)]
		lasts := time.Second + time.Duration(random.Int64N(int64(time.Second)))
		if longOr(false, true) {
			lasts = 5*time.Second + time.Duration(random.Int64N(int64(85*time.Second)))/time.Duration(1+3*random.IntN(2))
		}
		f.note("%s of replica %d for %v", fault.name, victim.number, lasts.Round(time.Millisecond))
		count()
		last = fault.name
		fault.happen(t, f, victim, lasts)
		ended := time.Now()
		before := f.sink.progress()
		eventually(t, "every subscription is delivered to again after "+fault.name, func() bool {
			for path, n := range f.sink.progress() {
				if n == before[path] {
					return false
				}
			}
			return true
		})
		took := time.Since(ended)
		f.slowest = max(f.slowest, took)
		if most := longOr(patience, 20*time.Second); took > most {
			t.Errorf("after %s it took %v until every subscription was delivered to again, want at most %v", fault.name, took, most)
		}
		for _, r := range f.replicas {
			p := r.process.Load()
			p.boundMemory(t, 250<<20)
			f.peak = max(f.peak, p.memory(t).peak)
		}
	}

	published := stop()
	eventually(t, "all that was accepted has arrived", func() bool { return f.sink.complete(published) })
	f.sink.check(t)
	count()
	t.Logf("%d events to %d subscriptions, %d repeated; all were delivered to again after at most %v; at most %d MiB resident",
		published, len(f.sink.paths), f.sink.repeats(), f.slowest, f.peak>>20)
	for _, fault := range faults {
		t.Logf("%6d repeated by %s", repeats[fault.name], fault.name)
	}
	t.Logf("%6d repeated before anything had happened", repeats[""])
	for _, r := range f.replicas {
		r.process.Load().mustStop(t)
	}
}

// longRun is how long the long form goes on.
func longRun() time.Duration {
	if minutes, err := strconv.ParseFloat(os.Getenv("FEEDMILL_MINUTES"), 64); err == nil {
		return time.Duration(minutes * float64(time.Minute))
	}
	return 20 * time.Minute
}

// fault is something that happens to a replica, or to all, for a while.
type fault struct {
	name   string
	happen func(t *testing.T, f *fleet, victim *replica, lasts time.Duration)
}

var faults = []fault{
	{"a kill", func(t *testing.T, f *fleet, victim *replica, lasts time.Duration) {
		victim.process.Load().kill()
		time.Sleep(lasts)
		f.start(t, victim)
	}},
	{"a freeze", func(t *testing.T, _ *fleet, victim *replica, lasts time.Duration) {
		pid := victim.process.Load().cmd.Process.Pid
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(lasts)
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}},
	{"a crash of the database", func(t *testing.T, f *fleet, _ *replica, lasts time.Duration) {
		f.database.Stop(t, pgtest.Immediate)
		time.Sleep(min(lasts, 15*time.Second))
		f.database.Start(t)
	}},
	{"a lock on deliveries", holdRows(`SELECT 1 FROM (SELECT id FROM open_deliveries LIMIT 5) picked JOIN open_deliveries USING (id) FOR UPDATE OF open_deliveries`)},
	{"a lock on subscriptions", holdRows(`SELECT 1 FROM subscriptions ORDER BY id LIMIT 2 FOR UPDATE`)},
	{"a lock on slots", holdRows(`SELECT 1 FROM slots WHERE slot % 8 = 0 FOR UPDATE`)},
	{"a cut of its connections", func(_ *testing.T, f *fleet, victim *replica, lasts time.Duration) {
		victim.cable.plug("")
		victim.cable.cut()
		time.Sleep(lasts)
		victim.cable.plug(f.address)
	}},
	{"a silent network", func(_ *testing.T, _ *fleet, victim *replica, lasts time.Duration) {
		victim.cable.hold()
		time.Sleep(lasts)
		victim.cable.release()
	}},
	{"forgotten connections", func(_ *testing.T, _ *fleet, victim *replica, lasts time.Duration) {
		victim.cable.forget()
	}},
	{"a lock on a table", holdRows(`LOCK TABLE open_deliveries IN ACCESS EXCLUSIVE MODE`)},
	{"a slow disk", slowDisk},
	{"cut connections", func(_ *testing.T, _ *fleet, victim *replica, lasts time.Duration) {
		for range 5 {
			victim.cable.cut()
			time.Sleep(lasts / 5)
		}
	}},
}

// holdRows locks rows as somebody does who has begun a transaction by hand and
// gone for lunch. Of two who wait for each other the database may end this one,
// which then begins again.
func holdRows(lock string) func(*testing.T, *fleet, *replica, time.Duration) {
	return func(t *testing.T, f *fleet, _ *replica, lasts time.Duration) {
		conn, err := pgx.Connect(t.Context(), f.url)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		for {
			_, err := conn.Exec(t.Context(), `BEGIN; `+lock)
			if err == nil {
				break
			}
			const deadlock = "40P01"
			if refusal, ok := errors.AsType[*pgconn.PgError](err); !ok || refusal.Code != deadlock {
				t.Fatal(err)
			}
			if _, err := conn.Exec(t.Context(), `ROLLBACK`); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(lasts)
	}
}

// slowDisk makes each commit take a tenth of a second more, as a disk does that
// others keep busy. The setting outlives a restart, so it is taken back at the end.
func slowDisk(t *testing.T, f *fleet, _ *replica, lasts time.Duration) {
	conn, err := pgx.Connect(t.Context(), f.database.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	set := func(statements ...string) {
		for _, statement := range append(statements, `SELECT pg_reload_conf()`) {
			if _, err := conn.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	set(`ALTER SYSTEM SET commit_siblings = 0`, `ALTER SYSTEM SET commit_delay = 100000`)
	time.Sleep(lasts)
	set(`ALTER SYSTEM RESET commit_delay`, `ALTER SYSTEM RESET commit_siblings`)
}
