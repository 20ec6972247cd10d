package deliver

import (
	"container/heap"

	"github.com/feedmill/feedmill"
)

// budget limits the attempts, or the reads of the store, that are in flight, and the bytes that
// they hold. A lane asks for a grant. Without one it waits in the queue of the budget. Each
// release hands what is free to the lanes that wait, until none of them fits.
//
// A slow endpoint keeps its grants for a long time, so no workspace can use up a budget: it
// holds at most as much as is still free, and other workspaces always find some. Endpoints that
// fail, or have not responded yet, leave a part of that to healthy ones. The closer a workspace
// is to its limit, the fewer grants each of its lanes can hold, down to one.
type budget struct {
	max, used amount
	// past counts the grants beyond the limit on bytes, up to maxPast. A claim of at least
	// large bytes is granted beyond it while small ones keep all bytes in use.
	past, maxPast, large int
	// laneShare is how many grants its workspace must have left for each that a lane holds
	// before the lane gets another.
	laneShare int
	// portions are those of the workspaces that hold grants or wait.
	portions map[feedmill.ID]*portion
	// queue has the portions with waiting claims.
	queue line
	// asked numbers claims and turns.
	asked uint64
	// granted is called for each lane that has a grant now.
	granted func(*lane)
}

// amount is how much of a budget is held, or may be.
type amount struct{ count, bytes int }

func (a amount) plus(b amount) amount  { return amount{a.count + b.count, a.bytes + b.bytes} }
func (a amount) minus(b amount) amount { return amount{a.count - b.count, a.bytes - b.bytes} }

// trust is what is known about an endpoint's responses.
type trust uint8

const (
	answersWell trust = iota
	answersUnknown
	answersBadly
	trusts
)

// portion is what a workspace holds of a budget, and its waiting claims.
type portion struct {
	rank
	workspace feedmill.ID
	grants    [trusts]amount
	waiting   [trusts]line // of claims
}

// size is what a grant takes: bytes, and the payload of an event unless that is nil. A
// payload is counted once for all grants that send it.
type size struct {
	event *event
	bytes int
}

// claim is a lane's claim on a budget. It waits, has an unused grant, or neither.
type claim struct {
	rank    // held includes the grant that is not used yet
	lane    *lane
	portion *portion // that of the lane's workspace while the claim waits
	size    size     // of the grant that it waits for
	trust   trust
	grant   grant
}

// grant is what was granted, until it is released.
type grant struct {
	claim   *claim // nil where nothing was granted
	portion *portion
	size    size
	trust   trust
	past    bool
}

const (
	// trustShare is the part of what is free, one in trustShare, that other endpoints
	// leave to healthy ones. Failing ones leave as much again to those that have not
	// responded yet.
	trustShare = 4
	// A claim is large that is for one in largePart of the bytes.
	laneShare = 32
	maxPast   = 8
	largePart = 1024
)

func newBudget(most amount, granted func(*lane)) budget {
	return budget{max: most, maxPast: maxPast, large: most.bytes / largePart, laneShare: laneShare, portions: make(map[feedmill.ID]*portion), granted: granted}
}

// ask reports whether a claim has a grant of a size. Without room for one the claim waits. A
// claim that waits already, or has a grant of another size, keeps its place.
func (b *budget) ask(c *claim, s size) bool {
	switch has := c.grant.size; {
	case c.isGranted() && has.event == s.event && has.bytes >= s.bytes:
		return true
	case c.isGranted():
		b.put(c.take())
	case c.portion != nil:
		b.leave(c)
	default:
		b.asked++
		c.asked = b.asked
	}
	p, ok := b.portions[c.lane.workspace]
	if !ok {
		p = &portion{workspace: c.lane.workspace, rank: rank{place: -1}}
		b.portions[p.workspace] = p
	}
	c.portion, c.size, c.trust = p, s, c.lane.pace.trust
	heap.Push(&p.waiting[c.trust], c)
	if p.place < 0 {
		p.asked = c.asked
		heap.Push(&b.queue, p)
	}
	b.handOver()
	return c.isGranted()
}

func (c *claim) isGranted() bool { return c.grant.claim != nil }

// inUse is how many grants of the claim are used.
func (c *claim) inUse() int {
	if c.isGranted() {
		return c.held - 1
	}
	return c.held
}

// take takes the grant of a claim, to use it.
func (c *claim) take() grant {
	g := c.grant
	c.grant = grant{}
	return g
}

// keep makes a grant that was taken the unused grant of its claim. If the claim has another,
// the grant is released.
func (b *budget) keep(g grant) {
	c := g.claim
	if c == nil || c.isGranted() {
		b.release(g)
		return
	}
	b.drop(c)
	c.grant = g
}

// release releases a grant, and hands over.
func (b *budget) release(g grant) {
	if g.claim != nil {
		b.put(g)
		b.handOver()
	}
}

// drop ends a claim, whether it waits or has a grant.
func (b *budget) drop(c *claim) {
	if c.portion != nil {
		b.leave(c)
		b.handOver() // to those that were behind it
	}
	b.release(c.take())
}

// handOver grants what is free to waiting claims, until none fits.
func (b *budget) handOver() {
	var aside []*portion
	var granted []*lane
	for len(b.queue) > 0 {
		p := b.queue[0].(*portion)
		if p.held >= b.max.count-b.used.count {
			break
		}
		c := b.next(p)
		if c == nil { // nothing that is granted below makes one fit
			heap.Pop(&b.queue)
			aside = append(aside, p)
			continue
		}
		b.asked++
		p.asked = b.asked
		b.give(p, c)
		b.leave(c)
		granted = append(granted, c.lane)
	}
	for _, p := range aside {
		heap.Push(&b.queue, p)
	}
	for _, l := range granted {
		b.granted(l)
	}
}

// next is the claim of a workspace that gets the next grant; nil if none fits.
func (b *budget) next(p *portion) (next *claim) {
	for _, line := range p.waiting {
		if len(line) > 0 {
			if c := line[0].(*claim); (next == nil || c.before(&next.rank)) && b.fits(p, c) {
				next = c
			}
		}
	}
	return next
}

// fits reports whether there is room for a claim.
func (b *budget) fits(p *portion, c *claim) bool {
	room, bytes := b.room(p, c.trust), c.size.total()
	return room.count > 0 && (c.held == 0 || c.held < room.count/b.laneShare) &&
		(bytes <= room.bytes || bytes >= b.large && b.past < b.maxPast)
}

// room is what endpoints of a trust can still be granted in a workspace.
func (b *budget) room(p *portion, t trust) amount {
	free := b.max.minus(b.used)
	room := free.minus(p.total())
	if t == answersWell {
		return room
	}
	var held amount // by endpoints of no more trust
	for _, h := range p.grants[t:] {
		held = held.plus(h)
	}
	return amount{
		min(room.count, free.count-int(t)*(free.count/trustShare)-held.count),
		min(room.bytes, free.bytes-int(t)*(free.bytes/trustShare)-held.bytes),
	}
}

// give grants a claim.
func (b *budget) give(p *portion, c *claim) {
	c.held++
	c.grant = grant{claim: c, portion: p, size: c.size, trust: c.trust, past: c.size.total() > b.room(p, c.trust).bytes}
	if c.grant.past {
		b.past++
	}
	b.count(p, c.trust, amount{1, c.size.bytes})
	if e := c.size.event; e != nil {
		if e.inFlight++; e.inFlight == 1 {
			e.trust = c.trust
			b.count(p, c.trust, amount{0, e.size()})
		}
	}
}

// put takes a grant back.
func (b *budget) put(g grant) {
	c := g.claim
	if c.held--; c.portion != nil {
		heap.Fix(&c.portion.waiting[c.trust], c.place)
	}
	b.count(g.portion, g.trust, amount{-1, -g.size.bytes})
	if g.past {
		b.past--
	}
	if e := g.size.event; e != nil {
		if e.inFlight--; e.inFlight == 0 {
			b.count(g.portion, e.trust, amount{0, -e.size()})
			e.forget()
		}
	}
	b.forget(g.portion)
}

func (b *budget) count(p *portion, t trust, a amount) {
	b.used = b.used.plus(a)
	p.grants[t] = p.grants[t].plus(a)
	p.held += a.count
	if p.place >= 0 {
		heap.Fix(&b.queue, p.place)
	}
}

// leave takes a claim out of the queue.
func (b *budget) leave(c *claim) {
	p := c.portion
	c.portion = nil
	heap.Remove(&p.waiting[c.trust], c.place)
	if p.place >= 0 && !p.waits() {
		heap.Remove(&b.queue, p.place)
	}
	b.forget(p)
}

// forget removes the portion of a workspace that holds nothing and does not wait.
func (b *budget) forget(p *portion) {
	if p.total() == (amount{}) && !p.waits() {
		delete(b.portions, p.workspace)
	}
}

// total is what the next grant of the size takes, including a payload that is not counted yet.
func (s size) total() int {
	if s.event != nil && s.event.inFlight == 0 {
		return s.bytes + s.event.size()
	}
	return s.bytes
}

func (p *portion) total() (all amount) {
	for _, h := range p.grants {
		all = all.plus(h)
	}
	return all
}

func (p *portion) waits() bool {
	return len(p.waiting[answersWell])+len(p.waiting[answersUnknown])+len(p.waiting[answersBadly]) > 0
}

// rank is the place of a workspace, or of a claim, in a line. The one that holds the fewest
// grants is first, then the one that asked first.
type rank struct {
	held  int // grants
	asked uint64
	place int // -1 where it is in no line
}

func (r *rank) ranked() *rank { return r }

func (r *rank) before(other *rank) bool {
	return r.held < other.held || r.held == other.held && r.asked < other.asked
}

// line is a [heap.Interface].
type line []ranked

type ranked interface{ ranked() *rank }

func (l line) Len() int           { return len(l) }
func (l line) Less(i, j int) bool { return l[i].ranked().before(l[j].ranked()) }

func (l line) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].ranked().place, l[j].ranked().place = i, j
}

func (l *line) Push(x any) {
	x.(ranked).ranked().place = len(*l)
	*l = append(*l, x.(ranked))
}

func (l *line) Pop() any {
	last := len(*l) - 1
	x := (*l)[last]
	clear((*l)[last:])
	*l = (*l)[:last]
	x.ranked().place = -1
	return x
}
