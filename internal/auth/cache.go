package auth

import (
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// entry is a credential that was verified.
type entry struct {
	principal feedmill.Principal
	key       feedmill.ID // empty for a token
	session   feedmill.ID // empty for a credential of its own
	expires   time.Time
}

// cache holds verified credentials by their hash. Only good credentials enter
// it, so that a flood of bad ones neither grows it nor pushes good ones out.
type cache struct {
	size int

	mu      sync.RWMutex
	entries map[feedmill.KeyHash]entry
	forgets uint64 // how often something was forgotten
}

func newCache(size int) *cache {
	return &cache{size: size, entries: make(map[feedmill.KeyHash]entry)}
}

func (c *cache) get(hash feedmill.KeyHash, now time.Time) (entry, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	e, ok := c.entries[hash]
	return e, ok && now.Before(e.expires)
}

// epoch is taken before a credential is verified and handed to put after.
func (c *cache) epoch() uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.forgets
}

// put remembers what was verified, unless anything was forgotten since the
// epoch: the key may be the one, read just before it was revoked.
func (c *cache) put(hash feedmill.KeyHash, e entry, epoch uint64, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.forgets != epoch {
		return
	}
	if _, ok := c.entries[hash]; !ok && len(c.entries) >= c.size {
		c.makeRoom(now)
	}
	c.entries[hash] = e
}

// evictSample is how many entries are looked at to find those that have
// expired. A few keep a full cache free of most of the dead, at a fixed price.
const evictSample = 8

// makeRoom removes the expired of a few arbitrary entries, or one that is still
// good when none of them has.
func (c *cache) makeRoom(now time.Time) {
	var victim feedmill.KeyHash
	seen := 0
	for hash, e := range c.entries {
		if now.Before(e.expires) {
			victim = hash
		} else {
			delete(c.entries, hash)
		}
		if seen++; seen == evictSample {
			break
		}
	}
	if len(c.entries) >= c.size {
		delete(c.entries, victim)
	}
}

// forget removes what a key or a session stands for. It looks at every entry, which a revocation is rare
// enough for.
func (c *cache) forget(id feedmill.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgets++
	for hash, e := range c.entries {
		if e.key == id || e.session == id {
			delete(c.entries, hash)
		}
	}
}
