// Package deliver brings accepted events to their subscribers.
//
// The [Dispatcher] keeps a lane for each subscription with work to do. Workers
// take one delivery at a time, in turn from each workspace and within it a few
// from each lane, so that an endpoint that hangs holds up nobody but itself.
// A worker sends through the [feedmill.Endpoint] that the [Kind] of the destination opened
// for the subscription. outcome.go decides what the verdict means for the delivery, and
// settle.go writes it, in batches. Nothing here depends on the kind of the destination.
//
// The store is the truth and memory is a cache of it. A delivery is pending in
// the store until its outcome is written, so whatever a crash interrupts is
// sent again. A lane's backlog has some deliveries queued in memory and some
// under way, and knows whether there may be more in the store:
//
//	Offer ──▶ queue ──▶ under way ──▶ settled
//	  │         ▲       (attempt, then outcome)
//	  │         └── read ◀─┐
//	  └──────────────▶ rest of it, in the store:
//	    no room, ordered    all known, unsure or unread
//	    or held
//
// What is ordered is queued one delivery of a resource at a time; those behind it wait
// beside the queue until it has ended in the store (series.go).
//
// Fresh deliveries are offered from memory. The store is read for retries that
// have come due, for what did not fit into memory, for ordered subscriptions,
// and for slots taken over from another replica.
//
// What waits in memory has one bound in bytes, payloads and all. Workspaces have
// equal shares of it and, within them, lanes; whoever has more lets go when others
// need it (memory_share.go). A lane for which there is no room at all reads a single
// delivery when its turn comes, and sends it at once (single.go). What is under way
// has a bound in bytes as well (share.go).
//
// A lane is in one state, and state.go has all its transitions:
//
//	            offered, due in the store, changed,
//	┌──────┐    an attempt or a read ended         ┌───────┐ its turn
//	│ idle │ ────────────────────────────────────▶ │ ready │ ───┐
//	└──────┘ ◀──────────────────────────────────── └───────┘ ◀──┘ a task is begun:
//	    ▲       nothing that it may do now           │ ▲ ▲ ▲      send one, or read
//	    │                                            │ │ │ │
//	    │         ┌─────────┐  rate limit is used up │ │ │ │
//	    │         │ limited │ ◀──────────────────────┤ │ │ │
//	    │         └─────────┘ ── time, changed ────────┘ │ │
//	    │         ┌─────────┐  breaker is open       │   │ │
//	    │         │ tripped │ ◀──────────────────────┤   │ │
//	    │         └─────────┘ ── time, changed ──────────┘ │
//	    │         ┌─────────┐  no attempt is free    │     │
//	    │         │ crowded │ ◀──────────────────────┤     │
//	    │         └─────────┘ ── an attempt ended ─────────┤
//	    │         ┌─────────┐  nothing queued, no room   │ │
//	    │         │ hungry  │ ◀──────────────────────────┘ │
//	    │         └─────────┘ ── another has read ─────────┤
//	    │         ┌─────────┐  too many are being read   │ │
//	    │         │  unfed  │ ◀──────────────────────────┘ │
//	    │         └─────────┘ ── another was read ─────────┘
//	    │         ┌─────────┐  paused, or listening  │
//	    ├──────── │  held   │ ◀──────────────────────┘
//	    │ changed └─────────┘
//	    │         ┌─────────┐  the store could not be read
//	    ├──────── │ stalled │ ◀── from any of the above
//	    │ time or └─────────┘
//	    │ changed
//	    │         ┌─────────┐  the slot belongs to another replica
//	    └──────── │  lost   │ ◀── from any of the above
//	      leased  └─────────┘
package deliver
