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
	maxUploads, uploadsEach = 256, 32
	// largeBody is from how many bytes on a body takes a place while it is
	// worked on, of which there are maxBodies and bodiesEach for a workspace.
	largeBody             = 64 << 10
	maxBodies, bodiesEach = 64, 16
	bodiesWaiting         = 256
	// maxStreams is how many streams of events may be open, and streamsEach how
	// many of one workspace: each looks at the store twice a second.
	maxStreams, streamsEach = 512, 32
	// maxWatches is how many refreshes may be watched, and watchesEach how many in
	// one workspace: each is looked at four times a second.
	maxWatches, watchesEach = 1024, 64
)

// shares are the places that requests take, by workspace.
type shares struct{ uploads, bodies, streams, watches *share.Slots }

func newShares() shares {
	return shares{
		uploads: share.NewSlots(maxUploads, uploadsEach, 0),
		bodies:  share.NewSlots(maxBodies, bodiesEach, bodiesWaiting),
		streams: share.NewSlots(maxStreams, streamsEach, 0),
		watches: share.NewSlots(maxWatches, watchesEach, 0),
	}
}

// takeUpload takes a place for an upload, before anything of it is read.
func (s *shares) takeUpload(ctx context.Context) (giveBack func(), err error) {
	giveBack, ok := s.uploads.Try(ctx)
	if !ok && s.uploads.Held(share.Holder(ctx)) < uploadsEach {
		return nil, &feedmill.Error{
			Kind: feedmill.ErrUnavailable, RetryAfter: 5 * time.Second,
			Detail: fmt.Sprintf("All %d places for uploads are taken by others. Send this one again after the time in the Retry-After header.", maxUploads),
		}
	}
	if !ok {
		return nil, &feedmill.Error{
			Kind: feedmill.ErrTooMany, Type: "too-many-uploads", RetryAfter: 5 * time.Second,
			Detail: fmt.Sprintf("A workspace may send %d uploads at once. Send this one again after the time in the Retry-After header.", uploadsEach),
		}
	}
	return giveBack, nil
}

// takeStream takes a place for a stream of events.
func (s *shares) takeStream(c *call) (giveBack func(), err error) {
	return takeLive(c, s.streams, fmt.Sprintf("A workspace may have %d streams of events open on a server, and all have %d.", streamsEach, maxStreams))
}

// takeWatch takes a place for watching a refresh.
func (s *shares) takeWatch(c *call) (giveBack func(), err error) {
	return takeLive(c, s.watches, fmt.Sprintf("A workspace may watch %d refreshes on a server, and all %d.", watchesEach, maxWatches))
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
			Detail: bounds + " Close one, or try again after the time in the Retry-After header.",
		}
	}
	return giveBack, nil
}

// takeBody takes a place for a body that is about to be held in memory, where it can
// be large; it is given back when the request is answered. The others wait.
func (c *call) takeBody() error {
	if c.bodies == nil || c.giveBack != nil || c.r.ContentLength >= 0 && c.r.ContentLength < largeBody {
		return nil
	}
	giveBack, err := c.bodies.Take(c.ctx())
	if errors.Is(err, share.ErrCrowded) {
		return &feedmill.Error{
			Kind: feedmill.ErrTooMany, RetryAfter: time.Second,
			Detail: fmt.Sprintf("%d large requests of this workspace wait for their turn already. Send this one again after the time in the Retry-After header.", bodiesWaiting),
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
