package auth

import (
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// entry is a verified credential.
type entry struct {
	principal feedmill.Principal
	key       feedmill.ID // empty for a token
	session   feedmill.ID // empty unless the credential is a session
	expires   time.Time
}

// cache holds verified credentials by their hash. Invalid credentials are not cached, so
// they neither grow the cache nor evict valid ones.
type cache struct {
	size int

	mu      sync.RWMutex
	entries map[feedmill.KeyHash]entry
	forgets uint64 // the number of calls of forget
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

// epoch returns a number to read before a credential is verified and to pass to put.
func (c *cache) epoch() uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.forgets
}

// put adds a verified credential, unless forget was called since epoch: the key may have
// been read just before it was revoked.
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

// evictSample is the number of entries that makeRoom checks. A few are enough to remove
// most expired entries of a full cache at a fixed cost.
const evictSample = 8

// makeRoom removes the expired ones among a few arbitrary entries, or one valid entry if
// none has expired.
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

// forget removes the entries of a key, a session, a portal link or a workspace, and those of portal
// links that a key created. It checks every entry; revocations are rare.
func (c *cache) forget(id feedmill.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgets++
	for hash, e := range c.entries {
		portal := e.principal.Portal
		if e.key == id || e.session == id || e.principal.Workspace == id || portal != nil && portal.Key == id {
			delete(c.entries, hash)
		}
	}
}
