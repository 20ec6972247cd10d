package database

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/share"
	"github.com/feedmill/feedmill/internal/store/sqlitetest"
)

// Work in the background has all sessions but one, and waits for them. A request has
// any of them, and is refused where none is free in time.
func TestSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := feedmill.Connection{ServiceName: "warehouse"}
		s := newSessions(3, nil)
		request, background := t.Context(), share.InBackground(t.Context(), "ws_1")
		take := func(ctx context.Context) func() {
			t.Helper()
			release, err := s.take(ctx, of)
			if err != nil {
				t.Fatal(err)
			}
			return release
		}
		first := take(background)
		take(background)
		taken := make(chan func())
		go func() { taken <- take(background) }()
		synctest.Wait()
		preview := take(request) // the reserved one
		_, err := s.take(request, of)
		refusal, _ := errors.AsType[*feedmill.Error](err)
		if refusal == nil || refusal.Kind != feedmill.ErrUnavailable || refusal.Type != "connection-busy" || refusal.RetryAfter <= 0 || !strings.Contains(refusal.Detail, `All 3 sessions of the connection "warehouse"`) {
			t.Fatalf("a fourth session: %v", err)
		}
		select {
		case <-taken:
			t.Fatal("a third session in the background")
		default:
		}
		first()
		(<-taken)()
		preview()
		take(request)
		take(request)
		canceled, cancel := context.WithCancel(background)
		cancel()
		if _, err := s.take(canceled, of); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
	})
}

// Two replicas share the sessions of a connection: one more than all of them is refused, whichever
// replica it comes to.
func TestReplicasShareSessions(t *testing.T) {
	db, of := sqlitetest.New(t), feedmill.Connection{ID: "con_1", ServiceName: "warehouse"}
	replica := func(name string) *sessions {
		s := newSessions(3, share.NewPermits(db, name, slog.New(slog.DiscardHandler)))
		s.wait = time.Minute
		return s
	}
	one, two := replica("one"), replica("two")
	request, background := t.Context(), share.InBackground(t.Context(), "ws_1")
	take := func(s *sessions, ctx context.Context, of feedmill.Connection) func() {
		t.Helper()
		release, err := s.take(ctx, of)
		if err != nil {
			t.Fatal(err)
		}
		return release
	}
	first := take(one, background, of)
	take(two, background, of)
	canceled, cancel := context.WithCancel(background)
	ended := make(chan error)
	go func() {
		_, err := two.take(canceled, of)
		ended <- err
	}()
	take(two, request, of) // the reserved one
	one.wait = time.Millisecond
	if _, err := one.take(request, of); err == nil || !strings.Contains(err.Error(), `All 3 sessions of the connection "warehouse"`) {
		t.Errorf("a fourth session: %v", err)
	}
	take(one, request, feedmill.Connection{ID: "con_2"})()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a third session in the background: %v", err)
	}
	first()
	take(two, background, of)
}

type droppedRows struct{ feedmill.FetchSink }

func (droppedRows) Rows(context.Context, []columnar.Vector) error { return nil }

// A preview ends after its time and its bytes, and says which.
func TestPreviewLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := limitPreview(t.Context(), previewTime, droppedRows{}, func(ctx context.Context, _ feedmill.FetchSink) error {
			<-ctx.Done()
			return errors.New("the driver's words")
		})
		failure, _ := errors.AsType[*feedmill.SourceFailure](err)
		if failure == nil || failure.Type != ProblemTimeout || !strings.Contains(failure.Detail, "longer than 30s") || time.Since(began) != 30*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
	rows := 0
	err := limitPreview(t.Context(), previewTime, droppedRows{}, func(ctx context.Context, sink feedmill.FetchSink) error {
		for ; rows < 100; rows++ {
			run := []columnar.Vector{{Type: columnar.TypeText, Len: 1, Offsets: []uint32{0, 1 << 20}, Bytes: make([]byte, 1<<20)}}
			if err := sink.Rows(ctx, run); err != nil {
				return err
			}
		}
		return nil
	})
	failure, _ := errors.AsType[*feedmill.SourceFailure](err)
	if failure == nil || failure.Type != ProblemTooLarge || !strings.Contains(failure.Detail, "larger than 16 MiB") || rows != 15 {
		t.Errorf("after %d rows: %v", rows, err)
	}
}
