package feed

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
)

const (
	// maxHeldBytes is how much is held for one workspace, and maxHeldFiles how many
	// bodies; allHeld is how many times as much is held for all of them.
	maxHeldBytes = 1 << 30
	maxHeldFiles = 20
	allHeld      = 4
)

// heldBodies are the bodies of previews, each in a file that has no name: it is gone when it
// is closed, and with this process, whatever becomes of it.
type heldBodies struct {
	mu     sync.Mutex
	bodies []*heldBody // oldest first
}

type heldBody struct {
	feedmill.HeldBody
	file  *os.File
	bytes int64
	// readers read it, and gone says that nobody else may begin to.
	readers int
	gone    bool
	timer   *time.Timer
}

// count tells operators how many bodies are held, each of which is an open file that has no
// name in any folder, and how much of the disk they take.
func (h *heldBodies) count(reg prometheus.Registerer) {
	sum := func(of func(*heldBody) int64) func() float64 {
		return func() float64 {
			h.mu.Lock()
			defer h.mu.Unlock()
			var n int64
			for _, b := range h.bodies {
				n += of(b)
			}
			return float64(n)
		}
	}
	reg.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "feedmill_previews_held", Help: "Preview uploads stored for later requests."},
			sum(func(*heldBody) int64 { return 1 })),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "feedmill_previews_held_bytes", Help: "Bytes on disk used by stored preview uploads."},
			sum(func(b *heldBody) int64 { return b.bytes })))
}

// Hold begins to hold a body. Where that cannot be, nothing is held, which is no
// reason not to look at the data.
func (m *Mill) Hold() feedmill.BodyHolder {
	h := &holding{mill: m}
	if m.Room.Disk.Check() == nil {
		h.file, _ = unnamed(m.Temp)
	}
	return h
}

// holding is a body that arrives.
type holding struct {
	mill  *Mill
	file  *os.File // nil where it is not held
	bytes int64
}

func (h *holding) Write(p []byte) (int, error) {
	if h.file == nil {
		return len(p), nil
	}
	h.bytes += int64(len(p))
	if _, err := h.file.Write(p); err != nil || h.bytes > maxHeldBytes || h.mill.Room.Disk.Check() != nil {
		_ = h.Close()
	}
	return len(p), nil
}

// Close forgets the body, unless it was kept.
func (h *holding) Close() error {
	if h.file == nil {
		return nil
	}
	err := h.file.Close()
	h.file = nil
	return err
}

// Keep holds what was written, in place of what is oldest where there is too much.
func (h *holding) Keep(as feedmill.HeldBody) (feedmill.HeldBody, bool) {
	if h.file == nil {
		return feedmill.HeldBody{}, false
	}
	as.ID, as.ExpiresAt = feedmill.NewID(feedmill.PrefixPreview), now().Add(feedmill.HeldFor)
	all := &h.mill.held
	b := &heldBody{HeldBody: as, file: h.file, bytes: h.bytes}
	h.file = nil
	all.mu.Lock()
	defer all.mu.Unlock()
	all.bodies = append(all.bodies, b)
	b.timer = time.AfterFunc(feedmill.HeldFor, func() { h.mill.LetGo(as) })
	for all.crowded(func(other *heldBody) bool { return other.Workspace == as.Workspace }, 1) {
		all.drop(all.first(as.Workspace))
	}
	for all.crowded(func(*heldBody) bool { return true }, allHeld) {
		all.drop(all.first(all.largest()))
	}
	return as, !b.gone
}

// crowded reports whether there is more of some bodies than so many workspaces may have.
func (h *heldBodies) crowded(of func(*heldBody) bool, workspaces int64) bool {
	var bytes, files int64
	for _, b := range h.bodies {
		if of(b) {
			bytes, files = bytes+b.bytes, files+1
		}
	}
	return bytes > workspaces*maxHeldBytes || files > workspaces*maxHeldFiles
}

// first is the oldest body of a workspace that has one.
func (h *heldBodies) first(workspace feedmill.ID) *heldBody {
	for _, b := range h.bodies {
		if b.Workspace == workspace {
			return b
		}
	}
	return h.bodies[0]
}

// largest is the workspace that most is held for.
func (h *heldBodies) largest() (most feedmill.ID) {
	bytes := make(map[feedmill.ID]int64)
	for _, b := range h.bodies {
		if bytes[b.Workspace] += b.bytes + 1; bytes[b.Workspace] > bytes[most] {
			most = b.Workspace
		}
	}
	return most
}

// drop forgets a body. Its file is gone once nobody reads it.
func (h *heldBodies) drop(b *heldBody) {
	for i, other := range h.bodies {
		if other == b {
			h.bodies = append(h.bodies[:i:i], h.bodies[i+1:]...)
			break
		}
	}
	b.gone = true
	b.timer.Stop()
	if b.readers == 0 {
		_ = b.file.Close() // there is nothing in it that anybody could miss
	}
}

// LetGo forgets a body, where it is held.
func (m *Mill) LetGo(of feedmill.HeldBody) {
	m.held.mu.Lock()
	defer m.held.mu.Unlock()
	for _, b := range m.held.bodies {
		if b.ID == of.ID {
			m.held.drop(b)
			return
		}
	}
}

var errNotHeld = &feedmill.Error{
	Kind: feedmill.ErrNotFound, Type: "no-preview",
	Detail: "No data is stored for this handle. It was used, is older than 15 minutes, or belongs to another credential or replica. Send the data again.",
}

// Held returns a body that is held for an owner, to be read from its beginning. It is
// to be closed, and let go where it is not needed any more.
func (m *Mill) Held(workspace feedmill.ID, owner string, id feedmill.ID) (feedmill.HeldBody, io.ReadCloser, error) {
	m.held.mu.Lock()
	defer m.held.mu.Unlock()
	for _, b := range m.held.bodies {
		if b.ID == id && b.Workspace == workspace && b.Owner == owner {
			b.readers++
			return b.HeldBody, &heldReader{io.NewSectionReader(b.file, 0, b.bytes), m, b}, nil
		}
	}
	return feedmill.HeldBody{}, nil, errNotHeld
}

type heldReader struct {
	io.Reader
	mill *Mill
	body *heldBody
}

// Close ends the reading; it must be called once.
func (r *heldReader) Close() error {
	r.mill.held.mu.Lock()
	defer r.mill.held.mu.Unlock()
	if r.body.readers--; r.body.readers == 0 && r.body.gone {
		return r.body.file.Close()
	}
	return nil
}
