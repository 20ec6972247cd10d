package feed

import (
	"context"
	"errors"
	"io"
	"slices"
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
	// holdTime bounds the writes of a body that is forgotten.
	holdTime = 10 * time.Second
)

// Bodies has the records of bodies of previews, for all replicas. Their files are in [Blobs].
type Bodies interface {
	HoldBody(ctx context.Context, b feedmill.HeldBody, drop func([]feedmill.HeldBody) []feedmill.HeldBody) (dropped []feedmill.HeldBody, err error)
	HeldBody(ctx context.Context, workspace feedmill.ID, owner string, id feedmill.ID, now time.Time) (feedmill.HeldBody, error)
	ForgetBody(ctx context.Context, id feedmill.ID) (forgotten bool, err error)
	ExpiredBodies(ctx context.Context, now time.Time, limit int) ([]feedmill.HeldBody, error)
	HeldBodies(ctx context.Context) (n, bytes int64, err error)
}

// heldMetrics tell operators how many bodies are held, by all replicas, and their bytes.
type heldMetrics struct{ bodies, bytes prometheus.Gauge }

func newHeldMetrics(reg prometheus.Registerer) heldMetrics {
	m := heldMetrics{
		prometheus.NewGauge(prometheus.GaugeOpts{Name: "feedmill_previews_held", Help: "Preview uploads stored for later requests, by all replicas."}),
		prometheus.NewGauge(prometheus.GaugeOpts{Name: "feedmill_previews_held_bytes", Help: "Bytes of stored preview uploads, by all replicas."}),
	}
	if reg != nil {
		reg.MustRegister(m.bodies, m.bytes)
	}
	return m
}

// countHeld updates the metrics, with what is known if the store does not respond.
func (m *Mill) countHeld(ctx context.Context) {
	if n, bytes, err := m.Bodies.HeldBodies(ctx); err == nil {
		m.held.bodies.Set(float64(n))
		m.held.bytes.Set(float64(bytes))
	}
}

// Hold begins to hold a body of a workspace. Where that cannot be, nothing is held, which is no
// reason not to look at the data.
func (m *Mill) Hold(workspace feedmill.ID) feedmill.BodyHolder {
	h := &holding{mill: m, body: feedmill.HeldBody{ID: feedmill.NewID(feedmill.PrefixPreview), Workspace: workspace}}
	h.body.File = privateFolder + string(workspace) + "/" + string(h.body.ID)
	if m.Room.Disk.Check() == nil {
		h.draft, _ = m.Blobs.Begin(h.body.File)
	}
	return h
}

// holding is a body that arrives.
type holding struct {
	mill  *Mill
	body  feedmill.HeldBody
	draft Draft // nil where it is not held
}

func (h *holding) Write(p []byte) (int, error) {
	if h.draft == nil {
		return len(p), nil
	}
	if _, err := h.draft.Write(p); err != nil || h.draft.Size() > maxHeldBytes || h.mill.Room.Disk.Check() != nil {
		h.Close()
	}
	return len(p), nil
}

// Close forgets the body, unless it was kept.
func (h *holding) Close() {
	if h.draft != nil {
		h.draft.Close()
		h.draft = nil
	}
}

// Keep holds what was written, in place of what is oldest where there is too much.
func (h *holding) Keep(ctx context.Context, as feedmill.HeldBody) (feedmill.HeldBody, bool) {
	if h.draft == nil {
		return feedmill.HeldBody{}, false
	}
	defer h.Close()
	as.ID, as.Workspace, as.File, as.Bytes = h.body.ID, h.body.Workspace, h.body.File, h.draft.Size()
	as.ExpiresAt = now().Add(feedmill.HeldFor)
	m := h.mill
	err := h.draft.Keep(ctx)
	var dropped []feedmill.HeldBody
	if err == nil {
		if dropped, err = m.Bodies.HoldBody(ctx, as, dropHeld(as.Workspace)); err != nil {
			m.remove(as.File)
		}
	}
	if err != nil {
		m.Log.Warn("the upload of a preview could not be stored; the client has to send it again", "error", err)
		return feedmill.HeldBody{}, false
	}
	for _, b := range dropped {
		m.remove(b.File)
	}
	m.countHeld(ctx)
	return as, !slices.ContainsFunc(dropped, func(b feedmill.HeldBody) bool { return b.ID == as.ID })
}

// dropHeld chooses which bodies, oldest first, are removed for a new one of a workspace.
func dropHeld(workspace feedmill.ID) func([]feedmill.HeldBody) []feedmill.HeldBody {
	return func(all []feedmill.HeldBody) (dropped []feedmill.HeldBody) {
		drop := func(of feedmill.ID) {
			i := slices.IndexFunc(all, func(b feedmill.HeldBody) bool { return b.Workspace == of })
			dropped = append(dropped, all[i])
			all = slices.Delete(all, i, i+1)
		}
		for crowded(all, func(b feedmill.HeldBody) bool { return b.Workspace == workspace }, 1) {
			drop(workspace)
		}
		for crowded(all, func(feedmill.HeldBody) bool { return true }, allHeld) {
			drop(largest(all))
		}
		return dropped
	}
}

// crowded reports whether there is more of some bodies than so many workspaces may have.
func crowded(all []feedmill.HeldBody, of func(feedmill.HeldBody) bool, workspaces int64) bool {
	var bytes, files int64
	for _, b := range all {
		if of(b) {
			bytes, files = bytes+b.Bytes, files+1
		}
	}
	return bytes > workspaces*maxHeldBytes || files > workspaces*maxHeldFiles
}

// largest is the workspace that most is held for.
func largest(all []feedmill.HeldBody) (most feedmill.ID) {
	bytes := make(map[feedmill.ID]int64)
	for _, b := range all {
		if bytes[b.Workspace] += b.Bytes + 1; bytes[b.Workspace] > bytes[most] {
			most = b.Workspace
		}
	}
	return most
}

// LetGo forgets a body, where it is held. Whoever reads it can finish.
func (m *Mill) LetGo(of feedmill.HeldBody) {
	ctx, cancel := context.WithTimeout(context.Background(), holdTime)
	defer cancel()
	if err := m.forgetBody(ctx, of); err != nil {
		m.Log.Warn("a used preview could not be deleted; it expires", "error", err)
	}
	m.countHeld(ctx)
}

func (m *Mill) forgetBody(ctx context.Context, b feedmill.HeldBody) error {
	forgotten, err := m.Bodies.ForgetBody(ctx, b.ID)
	if forgotten {
		m.remove(b.File)
	}
	return err
}

// forgetBodies removes bodies that are past their time, a few at a time.
func (m *Mill) forgetBodies(ctx context.Context, now time.Time) (more bool, err error) {
	const step = 20
	expired, err := m.Bodies.ExpiredBodies(ctx, now, step)
	if err != nil {
		return false, err
	}
	for _, b := range expired {
		if err := m.forgetBody(ctx, b); err != nil {
			return false, err
		}
	}
	m.countHeld(ctx)
	return len(expired) == step, nil
}

var errNotHeld = &feedmill.Error{
	Kind: feedmill.ErrNotFound, Type: "no-preview",
	Detail: "No data is stored for this handle. It was used, is older than 15 minutes, or belongs to another credential or, without a bucket, to another replica. Send the data again.",
}

// Held returns a body that is held for an owner, to be read from its beginning. It is
// to be closed, and let go where it is not needed any more.
func (m *Mill) Held(ctx context.Context, workspace feedmill.ID, owner string, id feedmill.ID) (feedmill.HeldBody, io.ReadCloser, error) {
	b, err := m.Bodies.HeldBody(ctx, workspace, owner, id, now())
	var file Blob
	if err == nil {
		file, err = m.Blobs.Open(ctx, b.File)
	}
	if errors.Is(err, feedmill.ErrNotFound) {
		err = errNotHeld
	}
	if err != nil {
		return feedmill.HeldBody{}, nil, err
	}
	return b, file, nil
}
