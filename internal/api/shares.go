package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

const (
	// maxUploads is how many uploads and previews may be under way, and
	// uploadsEach how many of one workspace.
	maxUploads, uploadsEach = 256, feedmill.MaxConcurrentUploads
	// largeBody is from how many bytes on a body takes places while it is worked on,
	// one for so many bytes. A workspace may have bodiesEach, as many as the largest publish
	// takes, and there are maxBodies: clients of two workspaces that take their time over theirs leave
	// as much to a third.
	largeBody     = 64 << 10
	bodiesEach    = feedmill.MaxPublishBytes/largeBody + 1
	maxBodies     = 3 * bodiesEach
	bodiesWaiting = 256
	// maxLists is how many lists of events may be made and fetched at once, and listsEach
	// how many of one workspace: each holds [maxListBytes] of payloads, and its answer. Two
	// workspaces leave some to a third here, too.
	maxLists, listsEach = 9, 3
	listsWaiting        = 256
	// maxCharts is the number of charts that are computed concurrently, and chartsEach that of one
	// workspace: each holds up to [maxChartBytes] of results, and several times that decoded.
	maxCharts, chartsEach = 3, 2
	chartsWaiting         = 64
	// maxStreams is how many streams of events may be open, and streamsEach how
	// many of one workspace: each looks at the store twice a second.
	maxStreams, streamsEach = 512, 32
	// maxWatches is how many refreshes may be watched, and watchesEach how many in
	// one workspace: each is looked at four times a second.
	maxWatches, watchesEach = 1024, 64
	// maxQueries is more than there are connections: queries wait for their turn behind the API,
	// and are counted here for the quotas of workspaces.
	maxQueries = 1 << 30
)

// shares are the places that requests take, by workspace.
type shares struct{ uploads, bodies, lists, charts, streams, watches, queries *share.Slots }

func newShares() shares {
	return shares{
		uploads: share.NewSlots(maxUploads, uploadsEach, 0),
		bodies:  share.NewSlots(maxBodies, bodiesEach, bodiesWaiting),
		lists:   share.NewSlots(maxLists, listsEach, listsWaiting),
		charts:  share.NewSlots(maxCharts, chartsEach, chartsWaiting),
		streams: share.NewSlots(maxStreams, streamsEach, 0),
		watches: share.NewSlots(maxWatches, watchesEach, 0),
		queries: share.NewSlots(maxQueries, maxQueries, 0),
	}
}

// takeUpload takes a place for an upload, before anything of it is read.
func (s *shares) takeUpload(ctx context.Context, quota *int) (giveBack func(), err error) {
	most := uploadsEach
	if quota != nil {
		most = min(most, *quota)
	}
	giveBack, ok := s.uploads.TryWithin(ctx, most)
	if !ok && s.uploads.Held(share.Holder(ctx)) < most {
		return nil, &feedmill.Error{
			Kind: feedmill.ErrUnavailable, RetryAfter: 5 * time.Second,
			Detail: fmt.Sprintf("Other workspaces use all %d upload slots. Retry after the time in the Retry-After header.", maxUploads),
		}
	}
	if !ok {
		return nil, &feedmill.Error{
			Kind: feedmill.ErrTooMany, Type: "too-many-uploads", RetryAfter: 5 * time.Second,
			Detail: fmt.Sprintf("The workspace already sends %d uploads concurrently, the maximum. Retry after the time in the Retry-After header.", most),
		}
	}
	return giveBack, nil
}

// takeQuery counts a query of the workspace until its response is sent, and refuses one more
// than the quota.
func (c *call) takeQuery(s *shares) error {
	most := maxQueries
	if quota := c.who.Quotas.ConcurrentQueries; quota != nil {
		most = *quota
	}
	end, ok := s.queries.TryWithin(c.ctx(), most)
	if !ok {
		return &feedmill.Error{
			Kind: feedmill.ErrTooMany, Type: "too-many-queries", RetryAfter: 2 * time.Second,
			Detail: fmt.Sprintf("The workspace already runs %d queries concurrently, the maximum. Retry after the time in the Retry-After header.", most),
		}
	}
	c.endQuery = end
	return nil
}

// takeStream takes a place for a stream of events.
func (s *shares) takeStream(c *call) (giveBack func(), err error) {
	return takeLive(c, s.streams, fmt.Sprintf("A server allows %d open event streams per workspace and %d in total.", streamsEach, maxStreams))
}

// takeWatch takes a place for watching a refresh.
func (s *shares) takeWatch(c *call) (giveBack func(), err error) {
	return takeLive(c, s.watches, fmt.Sprintf("A server allows %d watched refreshes per workspace and %d in total.", watchesEach, maxWatches))
}

// takeLive takes a place for an answer that goes on.
func takeLive(c *call, of *share.Slots, bounds string) (giveBack func(), err error) {
	if c.r.Method == http.MethodHead { // which streams nothing
		return func() {}, nil
	}
	giveBack, ok := of.Try(c.ctx())
	if !ok {
		return nil, &feedmill.Error{
			Kind: feedmill.ErrTooMany, Type: "too-many-streams", RetryAfter: 5 * time.Second,
			Detail: bounds + " Close one, or retry after the time in the Retry-After header.",
		}
	}
	return giveBack, nil
}

// takeBody takes places for so many bytes of a body that are about to be held in
// memory; they are given back when the request is answered. Others wait.
func (c *call) takeBody(bytes int64) error {
	if c.shares == nil || c.giveBack != nil {
		return nil
	}
	places := min(bytes/largeBody+1, bodiesEach)
	return c.take(func() (func(), error) { return c.shares.bodies.TakeSome(c.ctx(), int(places)) }, "large requests", bodiesWaiting)
}

// takeList takes a place for a list of events, until it is fetched.
func (c *call) takeList() error {
	return c.take(func() (func(), error) { return c.shares.lists.Take(c.ctx()) }, "lists", listsWaiting)
}

// takeChart takes a slot for a chart, until the response is sent.
func (c *call) takeChart() error {
	return c.take(func() (func(), error) { return c.shares.charts.Take(c.ctx()) }, "charts", chartsWaiting)
}

// take takes what is given back when the request is answered.
func (c *call) take(from func() (giveBack func(), err error), what string, most int) error {
	giveBack, err := from()
	if errors.Is(err, share.ErrCrowded) {
		return &feedmill.Error{
			Kind: feedmill.ErrTooMany, RetryAfter: time.Second,
			Detail: fmt.Sprintf("The workspace already has %d waiting %s, the maximum. Retry after the time in the Retry-After header.", most, what),
		}
	}
	c.giveBack = giveBack
	return err
}

// done gives back what the request took.
func (c *call) done() {
	if c.giveBack != nil {
		c.giveBack()
	}
}

// HeldBytes is about how much memory large requests and lists take that are under way.
func (s *Server) HeldBytes() int {
	return s.shares.bodies.Used()*largeBody + s.shares.lists.Used()*maxListBytes
}

type admittedKey struct{}

// OnAdmitted has admitted called once a request whose context comes from the
// one that is returned has shown a credential that is accepted: the context of a
// connection, for example.
func OnAdmitted(ctx context.Context, admitted func()) context.Context {
	return context.WithValue(ctx, admittedKey{}, admitted)
}

// known tells whoever wants to hear it that a request has a credential.
func known(ctx context.Context) {
	if admitted, ok := ctx.Value(admittedKey{}).(func()); ok {
		admitted()
	}
}

// strangerTimeout is how long somebody without a credential may take to fetch an
// answer.
const strangerTimeout = 20 * time.Second

// watchedBody knows whether it was read to its end.
type watchedBody struct {
	io.ReadCloser
	ended bool
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || err == io.EOF
	return n, err
}

// endUnread ends the connection after an answer to a request whose body was not
// read: what is still to come of it would have to be taken, from whoever sends
// it. It returns whether that is so.
func (b *watchedBody) endUnread(a *answer, r *http.Request) bool {
	unread := r.ContentLength != 0 && !b.ended && a.status >= 400
	if unread {
		a.set("Connection", "close")
	}
	return unread
}

// lingerTimeout is how long a client that is still sending has to notice the answer.
const lingerTimeout = time.Second

// linger sends the answer and takes what still comes for a moment: a connection that is
// closed before is reset, and the client may never see why it was refused. The server
// of net/http does so too, but not for who waits for a 100 Continue.
func (b *watchedBody) linger(w http.ResponseWriter) {
	connection := http.NewResponseController(w)
	if connection.Flush() != nil || connection.SetReadDeadline(time.Now().Add(lingerTimeout)) != nil {
		return // a recorder in a test
	}
	_, _ = io.Copy(io.Discard, b.ReadCloser)
}

// Close leaves the body open, which the server closes behind the answer.
func (b *watchedBody) Close() error { return nil }
