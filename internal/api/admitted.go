package api

import (
	"context"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
)

// admissionPace is how often the credential of an answer that goes on and on is
// checked again.
const admissionPace = time.Second

// errNotAdmitted is why the context of such an answer ends when its credential
// does.
var errNotAdmitted = errors.New("the credential is no longer valid")

// whileAdmitted returns a context that ends, because of [errNotAdmitted], when
// the credential of a call holds no more: whoever is not admitted any more hears
// no more, either. stop ends the checks and waits until they have.
func (s *Server) whileAdmitted(ctx context.Context, c *call, scope feedmill.Scope) (_ context.Context, stop func()) {
	ctx, end := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		check := time.NewTicker(admissionPace)
		defer check.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-check.C:
			}
			if s.stillAdmitted(ctx, c, scope) != nil {
				end(errNotAdmitted)
				return
			}
		}
	}()
	return ctx, func() {
		end(nil)
		<-done
	}
}

// stillAdmitted checks the credential of a call again. That it cannot be checked
// at the moment is no reason to end anything.
func (s *Server) stillAdmitted(ctx context.Context, c *call, scope feedmill.Scope) error {
	who, err := s.authenticate(ctx, c.r)
	if err == nil && !who.Has(scope) {
		err = feedmill.ErrForbidden
	}
	if errors.Is(err, feedmill.ErrUnauthenticated) || errors.Is(err, feedmill.ErrForbidden) {
		return err
	}
	return nil
}
