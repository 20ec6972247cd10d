package share

import "sync"

// Budget is bytes of which each holder may have a share.
type Budget struct {
	total, each int64

	mu   sync.Mutex
	used int64
	held map[string]int64
}

// NewBudget makes a budget of so many bytes, of which one holder may have so many.
func NewBudget(total, each int64) *Budget {
	return &Budget{total: total, each: min(each, total), held: make(map[string]int64)}
}

// Take takes bytes where there are so many for the holder. They must be given
// back.
func (b *Budget) Take(holder string, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+n > b.total || b.held[holder]+n > b.each {
		return false
	}
	b.used += n
	b.held[holder] += n
	return true
}

// Give gives bytes back.
func (b *Budget) Give(holder string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	if b.held[holder] -= n; b.held[holder] <= 0 {
		delete(b.held, holder)
	}
}

// Used is how many bytes are taken.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}
