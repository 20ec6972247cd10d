package api

import (
	"context"
	"io"

	"github.com/feedmill/feedmill"
)

// heldView is the handle of data that is held.
type heldView struct {
	ID        feedmill.ID `json:"id"`
	ExpiresAt timestamp   `json:"expiresAt"`
}

// readHeld reads an upload whose data the request has or, where the parameter preview
// names it, is held from a preview before. What is held is read as if it were sent
// again; do gets the zero value where nothing is.
func (s *Server) readHeld(c *call, u feedmill.Upload, do func(context.Context, feedmill.Upload, feedmill.HeldBody) (answer, error)) (answer, error) {
	var held feedmill.HeldBody
	if handle, given := c.query["preview"]; given {
		if !feedmill.IsID(feedmill.PrefixPreview, handle) {
			c.fault(feedmill.Fault{Parameter: "preview", Detail: "This must be the handle of a preview, such as prv_…."})
		}
		if n, err := io.ReadFull(c.r.Body, make([]byte, 1)); n > 0 {
			c.fault(feedmill.Fault{Parameter: "preview", Detail: "The data is held under this handle; send either the handle or data."})
		} else if err != io.EOF {
			return answer{}, bodyError(err)
		}
		if err := c.refusal(); err != nil {
			return answer{}, err
		}
		var body io.ReadCloser
		var err error
		if held, body, err = s.Feeds.Held(c.who.Workspace, c.who.Subject, feedmill.ID(handle)); err != nil {
			return answer{}, err
		}
		defer body.Close()
		c.r = c.r.Clone(c.ctx())
		c.r.Body = body
		for name, value := range map[string]string{"Content-Type": held.ContentType, "Content-Disposition": held.Disposition, "Content-Encoding": ""} {
			if c.r.Header.Del(name); value != "" {
				c.r.Header.Set(name, value)
			}
		}
	}
	return s.readUpload(c, u, func(ctx context.Context, u feedmill.Upload) (answer, error) { return do(ctx, u, held) })
}

// previewUpload says what would become of an upload, and holds what was sent.
func (s *Server) previewUpload(c *call) (answer, error) {
	holder := s.Feeds.Hold()
	defer holder.Close()
	if _, given := c.query["preview"]; !given {
		c.copyTo = holder
	}
	return s.readHeld(c, feedmill.Upload{}, func(ctx context.Context, u feedmill.Upload, held feedmill.HeldBody) (answer, error) {
		p, err := s.Feeds.Preview(ctx, u)
		if err != nil {
			return answer{}, err
		}
		if c.copyTo != nil { // all of the body has been read now
			held, _ = holder.Keep(feedmill.HeldBody{
				Workspace: c.who.Workspace, Owner: c.who.Subject,
				ContentType: c.r.Header.Get("Content-Type"), Disposition: c.r.Header.Get("Content-Disposition"),
			})
		}
		var handle *heldView
		if held.ID != "" {
			handle = &heldView{held.ID, timestamp(held.ExpiresAt)}
		}
		return previewAnswer(p, handle), nil
	})
}

// copied is a body that is written somewhere else, too, as it is read.
func (c *call) copied(body io.Reader) io.Reader {
	if c.copyTo == nil {
		return body
	}
	return io.TeeReader(body, c.copyTo)
}
