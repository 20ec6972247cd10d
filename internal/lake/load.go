package lake

import (
	"math"
	"time"

	"github.com/feedmill/feedmill/internal/share"
)

const (
	// muchLoad is how much of the time for which use counts a workspace may use workers
	// before it uses much.
	muchLoad = 0.25
	// endingLoad is what counts for ending a worker, as a part of that time: another must
	// be started, which takes a processor for some ten milliseconds.
	endingLoad = 0.5
	// manyLoads is from how many on it is seen to which of them count no more.
	manyLoads = 64
	// setBackEvery is how often a worker is looked at while it works.
	setBackEvery = 50 * time.Millisecond
	// setBackBy is by how much a worker that is set back has less of the processors, as
	// nice(1) counts.
	setBackBy = 10
)

// load is how long workers worked for somebody, of which less and less counts.
type load struct {
	used time.Duration
	at   time.Time
}

// loads are those of all who used workers lately.
type loads struct {
	over time.Duration
	of   map[string]load
}

func (l *loads) now(holder string) time.Duration {
	one := l.of[holder]
	return time.Duration(float64(one.used) * math.Exp(-float64(time.Since(one.at))/float64(l.over)))
}

func (l *loads) add(holder string, used time.Duration) {
	if len(l.of) >= manyLoads {
		for other := range l.of {
			if l.now(other) < time.Millisecond {
				delete(l.of, other)
			}
		}
	}
	l.of[holder] = load{used: l.now(holder) + used, at: time.Now()}
}

func (l *loads) isMuch(holder string) bool { return l.isMuchWith(holder, 0) }

func (l *loads) isMuchWith(holder string, used time.Duration) bool {
	return float64(l.now(holder)+used) > muchLoad*float64(l.over)
}

// watch counts the use of a worker, until the function is called that it returns, and
// sets it back where its user uses much and others are at work.
func (p *Pool) watch(w *process, holder string) (used func(usable bool)) {
	began, over := time.Now(), false
	var again *time.Timer
	var look func()
	look = func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if over {
			return
		}
		if share.AnybodyBut(holder) && p.loads.isMuchWith(holder, time.Since(began)) {
			p.setBack(w)
		}
		if again == nil {
			again = time.AfterFunc(setBackEvery, look)
		} else {
			again.Reset(setBackEvery)
		}
	}
	look()
	return func(usable bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		over = true
		again.Stop()
		took := time.Since(began)
		if !usable {
			took += time.Duration(endingLoad * float64(p.loads.over))
		}
		p.loads.add(holder, took)
	}
}

// setBack gives a worker less of the processors than others, for good: a process that
// has no privileges cannot take that back. Of those that read feeds one at least is
// never set back. The pool is locked.
func (p *Pool) setBack(w *process) {
	if w.setBack || !p.busy[w] || w.database == nil && !p.hasOther(w) {
		return
	}
	if err := lowerPriority(w.cmd.Process.Pid, setBackBy); err != nil {
		p.config.Log.Warn("lowering the priority of a worker failed", "error", err)
	}
	w.setBack = true
}

// hasOther reports whether there is another worker that was not set back. The pool is
// locked.
func (p *Pool) hasOther(than *process) bool {
	for w := range p.busy {
		if w != than && w.database == nil && !w.setBack {
			return true
		}
	}
	return p.countIdle() > 0
}
