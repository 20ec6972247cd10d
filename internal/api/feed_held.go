package api

import (
	"context"
	"errors"
	"io"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// readHeld reads an upload whose data the request has or, where the parameter preview
// names it, is held from a preview before. What is held is read as if it were sent
// again.
func (s *Server) readHeld(c *call, u feedmill.Upload, do func(context.Context, feedmill.Upload) (answer, error)) (answer, error) {
	if handle, given := c.query["preview"]; given {
		if !feedmill.IsID(feedmill.PrefixPreview, handle) {
			c.fault(feedmill.Fault{Parameter: "preview", Detail: "preview must be the handle of a preview, such as prv_…."})
		}
		if n, err := io.ReadFull(c.r.Body, make([]byte, 1)); n > 0 {
			c.fault(feedmill.Fault{Parameter: "preview", Detail: "The preview already has the data. Send either the handle or data, not both."})
		} else if err != io.EOF {
			return answer{}, bodyError(err)
		}
		if err := c.refusal(); err != nil {
			return answer{}, err
		}
		held, body, err := s.Feeds.Held(c.ctx(), c.who.Workspace, c.who.Subject, feedmill.ID(handle))
		if err != nil {
			return answer{}, err
		}
		defer body.Close()
		c.held = held
		c.r = c.r.Clone(c.ctx())
		c.r.Body = body
		for name, value := range map[string]string{"Content-Type": held.ContentType, "Content-Disposition": held.Disposition, "Content-Encoding": ""} {
			if c.r.Header.Del(name); value != "" {
				c.r.Header.Set(name, value)
			}
		}
	}
	return s.readUpload(c, u, do)
}

// previewUpload says what would become of an upload, and holds what was sent. Where
// nothing would, it is held all the same: often an option is wrong, and not the data.
func (s *Server) previewUpload(c *call) (answer, error) {
	if _, given := c.query["compare"]; given {
		c.fault(feedmill.Fault{Parameter: "compare", Detail: "compare applies only to feeds that fetch their data."})
		return answer{}, c.refusal()
	}
	holder := s.Feeds.Hold(c.who.Workspace)
	defer holder.Close()
	if _, given := c.query["preview"]; !given {
		c.copyTo = holder
	}
	keep := func() {
		if c.copyDone {
			c.held, _ = holder.Keep(c.ctx(), feedmill.HeldBody{
				Owner:       c.who.Subject,
				ContentType: c.r.Header.Get("Content-Type"), Disposition: c.r.Header.Get("Content-Disposition"),
			})
		}
	}
	a, err := s.readHeld(c, feedmill.Upload{}, func(ctx context.Context, u feedmill.Upload) (answer, error) {
		p, err := s.Feeds.Preview(ctx, u)
		if err != nil {
			return answer{}, err
		}
		keep()
		return previewAnswer(p, viewHeld(c.held)), nil
	})
	refusal, ok := errors.AsType[*feedmill.Error](err)
	if !ok || refusal.Kind != feedmill.ErrUnprocessable && refusal.Kind != feedmill.ErrInvalid {
		return a, err
	}
	keep()
	withHeld := *refusal
	withHeld.Held = c.held
	return a, &withHeld
}

// letGo forgets the body that a call named: it has been used.
func (s *Server) letGo(c *call) {
	if c.held.ID != "" {
		s.Feeds.LetGo(c.held)
	}
}

// viewHeld is the handle of a body, nil where none is held.
func viewHeld(held feedmill.HeldBody) *client.PreviewHandle {
	if held.ID == "" {
		return nil
	}
	return &client.PreviewHandle{ID: string(held.ID), ExpiresAt: held.ExpiresAt}
}

// copied is a body that is written somewhere else, too, as it is read.
func (c *call) copied(body io.Reader) io.Reader {
	if c.copyTo == nil {
		return body
	}
	return &copiedBody{io.TeeReader(body, c.copyTo), c}
}

// copiedBody notes when all of a body was copied.
type copiedBody struct {
	io.Reader
	c *call
}

func (b *copiedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		b.c.copyDone = true
	}
	return n, err
}
