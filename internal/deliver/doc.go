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
// Deliveries that wait in memory have one limit in bytes, payloads included. Workspaces have
// equal shares of it, and so have the lanes of a workspace. A lane above its share is evicted
// when others need the memory (memory_share.go). A lane that has no room at all reads a single
// delivery when it can send it, and sends it immediately.
//
// Two budgets limit the attempts and the reads in flight, and the bytes that they hold
// (budget.go). A lane asks only them.
//
// A lane is in one state, and state.go has all its transitions:
//
//	┌──────┐   offered, due in the store, changed,   ┌───────┐ its turn
//	│ idle │   an attempt or a read ended            │ ready │ ───┐
//	└──────┘ ──────────────────────────────────────▶ └───────┘ ◀──┘ a task is begun:
//	   ▲ ▲ ▲                                           │   ▲       send one, or read
//	   │ │ └────── nothing that it may do now ─────────┤   │
//	   │ │         ┌─────────┐  no grant is free       │   │
//	   │ │         │ waiting │ ◀───────────────────────┤   │
//	   │ │         └─────────┘ ── granted, changed ────────┘
//	   │ │         ┌─────────────────────────────┐     │
//	   │ └──────── │ limited │ tripped │ stalled │ ◀───┘ rate limit is used up, breaker is open,
//	   │   time or │ filling                     │       the store could not be read, or an
//	   │   changed └─────────────────────────────┘       array of events is not full (batch.go)
//	   │   changed ┌─────────┐
//	   └────────── │  lost   │ ◀── from any of the above: the slot belongs to another replica
//	      leased   └─────────┘
package deliver
