package auth

import (
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"pgregory.net/rapid"
)

// Whatever is put and forgotten, the cache stays within its size, returns only
// what was put last, and nothing that has expired or was forgotten.
func TestCacheLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 12
		c := newCache(size)
		now := time.Unix(0, 0)
		model := make(map[feedmill.KeyHash]entry)
		hashes := rapid.Map(rapid.IntRange(0, 30), func(i int) feedmill.KeyHash { return feedmill.KeyHash{byte(i)} })
		ids := rapid.SampledFrom([]feedmill.ID{"", "key_a", "key_b", "key_c"})

		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				hash := hashes.Draw(t, "hash")
				e := entry{key: ids.Draw(t, "key"), expires: now.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "ttl")))}
				c.put(hash, e, c.epoch(), now)
				model[hash] = e
				if _, ok := c.get(hash, now); ok != now.Before(e.expires) {
					t.Fatal("what was just put is not there")
				}
			},
			"forget": func(t *rapid.T) {
				key := ids.Filter(func(id feedmill.ID) bool { return id != "" }).Draw(t, "key")
				before := c.epoch()
				c.forget(key)
				for hash, e := range model {
					if e.key == key {
						delete(model, hash)
					}
				}
				stale := feedmill.KeyHash{255}
				c.put(stale, entry{expires: now.Add(time.Hour)}, before, now)
				if _, ok := c.get(stale, now); ok {
					t.Fatal("what was verified before a forget was remembered after it")
				}
			},
			"wait": func(t *rapid.T) { now = now.Add(1) },
			"": func(t *rapid.T) {
				if len(c.entries) > size {
					t.Fatalf("%d entries, want at most %d", len(c.entries), size)
				}
				for hash := range c.entries {
					want, known := model[hash]
					got, ok := c.get(hash, now)
					if !known {
						t.Fatal("a forgotten entry is there")
					}
					if ok && (got.key != want.key || got.expires != want.expires || !now.Before(want.expires)) {
						t.Fatalf("got %v, want %v", got, want)
					}
				}
			},
		})
	})
}

func TestAFullCacheDropsTheExpiredFirst(t *testing.T) {
	c := newCache(evictSample)
	now := time.Unix(0, 0)
	for i := range evictSample {
		expires := now.Add(time.Hour)
		if i == 0 {
			expires = now
		}
		c.put(feedmill.KeyHash{byte(i)}, entry{expires: expires}, c.epoch(), now)
	}
	c.put(feedmill.KeyHash{255}, entry{expires: now.Add(time.Hour)}, c.epoch(), now)
	for i := 1; i < evictSample; i++ {
		if _, ok := c.get(feedmill.KeyHash{byte(i)}, now); !ok {
			t.Errorf("entry %d was dropped for one that had expired", i)
		}
	}
}
