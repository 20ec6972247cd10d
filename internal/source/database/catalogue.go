package database

import (
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// catalogue is what was found behind connections, for a while.
type catalogue struct {
	mu sync.Mutex
	by map[feedmill.ID]*inventory
}

// inventory is what was found behind one state of a connection.
type inventory struct {
	of     time.Time
	used   time.Time
	views  found[feedmill.ServiceView]
	fields map[string]found[feedmill.ServiceField]
	names  map[string][]string
	named  time.Time
}

type found[T any] struct {
	at  time.Time
	all []T
}

const (
	// viewsKnown and fieldsKnown are how long it is not looked for them again.
	viewsKnown, fieldsKnown = 5 * time.Minute, time.Minute
	// maxInventories is of how many connections something is kept, maxKnownFields
	// of how many views of one, and maxKnownViews how many views at most.
	maxInventories, maxKnownFields, maxKnownViews = 200, 100, 20_000
	// maxKnownNames is how many names of fields are kept of one.
	maxKnownNames = 50_000
)

func (f found[T]) known(for_ time.Duration) ([]T, bool) {
	return f.all, f.all != nil && time.Since(f.at) < for_
}

// of is the inventory of a connection as it is now. The feeds of a workspace have
// none: they are here.
func (c *catalogue) of(of feedmill.Connection) *inventory {
	if of.ID == "" {
		return nil
	}
	i := c.by[of.ID]
	if i == nil || !i.of.Equal(of.UpdatedAt) {
		return nil
	}
	i.used = time.Now()
	return i
}

func (c *catalogue) views(of feedmill.Connection) ([]feedmill.ServiceView, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.of(of); i != nil {
		return i.views.known(viewsKnown)
	}
	return nil, false
}

func (c *catalogue) fields(of feedmill.Connection, view string) ([]feedmill.ServiceField, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.of(of); i != nil {
		return i.fields[view].known(fieldsKnown)
	}
	return nil, false
}

// names are the names of the fields of all views.
func (c *catalogue) names(of feedmill.Connection) (map[string][]string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.of(of); i != nil && i.names != nil && time.Since(i.named) < viewsKnown {
		return i.names, true
	}
	return nil, false
}

func (c *catalogue) keepNames(of feedmill.Connection, names map[string][]string) {
	n := 0
	for _, fields := range names {
		n += len(fields)
	}
	if n <= maxKnownNames {
		c.keep(of, func(i *inventory) { i.names, i.named = names, time.Now() })
	}
}

func (c *catalogue) keepViews(of feedmill.Connection, all []feedmill.ServiceView) {
	if len(all) > maxKnownViews {
		return
	}
	c.keep(of, func(i *inventory) { i.views = found[feedmill.ServiceView]{time.Now(), all} })
}

func (c *catalogue) keepFields(of feedmill.Connection, view string, all []feedmill.ServiceField) {
	c.keep(of, func(i *inventory) {
		for other := range i.fields {
			if len(i.fields) < maxKnownFields {
				break
			}
			delete(i.fields, other)
		}
		i.fields[view] = found[feedmill.ServiceField]{time.Now(), all}
	})
}

// keep notes something in the inventory of a connection. The one that was not
// looked at for the longest time makes room.
func (c *catalogue) keep(of feedmill.Connection, note func(*inventory)) {
	if of.ID == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.of(of)
	if i == nil {
		if c.by == nil {
			c.by = make(map[feedmill.ID]*inventory)
		}
		c.makeRoom()
		i = &inventory{of: of.UpdatedAt, used: time.Now(), fields: make(map[string]found[feedmill.ServiceField])}
		c.by[of.ID] = i
	}
	note(i)
}

func (c *catalogue) makeRoom() {
	if len(c.by) < maxInventories {
		return
	}
	var oldest feedmill.ID
	for id, i := range c.by {
		if oldest == "" || i.used.Before(c.by[oldest].used) {
			oldest = id
		}
	}
	delete(c.by, oldest)
}

func (c *catalogue) forget(id feedmill.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.by, id)
}
