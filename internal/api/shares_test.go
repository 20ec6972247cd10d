package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

// Whoever has all of his places is told so, and whoever finds them taken by others is
// told that instead.
func TestPlacesForUploads(t *testing.T) {
	s := newShares()
	for i := range uploadsEach {
		if _, err := s.takeUpload(share.For(t.Context(), "one"), nil); err != nil {
			t.Fatal(i, err)
		}
	}
	if _, err := s.takeUpload(share.For(t.Context(), "one"), nil); !errors.Is(err, feedmill.ErrTooMany) {
		t.Error(err)
	}
	for i := range maxUploads - uploadsEach {
		if _, err := s.takeUpload(share.For(t.Context(), fmt.Sprint(i/uploadsEach)), nil); err != nil {
			t.Fatal(i, err)
		}
	}
	if _, err := s.takeUpload(share.For(t.Context(), "another"), nil); !errors.Is(err, feedmill.ErrUnavailable) {
		t.Error(err)
	}
}

// Large bodies take places by their bytes, and small ones take none, whether or not
// their length is known beforehand.
func TestPlacesForBodies(t *testing.T) {
	for _, c := range []struct {
		size, said int64
		want       int
	}{
		{1, 1, 0},
		{largeBody - 1, largeBody - 1, 0},
		{largeBody - 1, -1, 0},
		{largeBody, largeBody, 2},
		{10 * largeBody, 10 * largeBody, 11},
		{largeBody, -1, 65},
		{feedmill.MaxPublishBytes, feedmill.MaxPublishBytes, 129},
		{feedmill.MaxPublishBytes, 1 << 40, 129},
	} {
		s := newShares()
		r := httptest.NewRequestWithContext(share.For(t.Context(), "one"), "POST", "/", strings.NewReader(strings.Repeat("x", int(c.size))))
		r.ContentLength = c.said
		call := &call{r: r, context: r.Context(), shares: &s, maxBody: feedmill.MaxPublishBytes}
		if c.said < 0 && c.want > 0 {
			call.maxBody = 64 * largeBody
		}
		b, err := call.readBody()
		if err != nil || int64(len(b)) != c.size || s.bodies.Used() != c.want {
			t.Errorf("%d bytes, said to be %d: %d were read, %d places are taken, want %d (%v)", c.size, c.said, len(b), s.bodies.Used(), c.want, err)
		}
		if call.done(); s.bodies.Used() != 0 {
			t.Error("the places are not given back")
		}
	}
}

// Two workspaces whose clients take their time over large bodies and lists, as many as
// they may, do not make a third one wait for places.
func TestSlowClientsOfTwoWorkspacesLeavePlacesToAThird(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShares()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // with which waiting ends
		defer cancel()
		request := func(workspace string, body io.Reader) *call {
			r := httptest.NewRequestWithContext(share.For(ctx, workspace), "POST", "/", body)
			r.ContentLength = feedmill.MaxPublishBytes
			return &call{r: r, context: r.Context(), shares: &s, maxBody: feedmill.MaxPublishBytes}
		}
		slow, end := io.Pipe()
		var clients sync.WaitGroup
		for i := range 20 {
			clients.Go(func() {
				c := request(fmt.Sprint("slow", i%2), slow)
				defer c.done()
				if _, err := c.readBody(); err == nil {
					t.Error("a body that is not sent was read")
				}
			})
			clients.Go(func() {
				c := request(fmt.Sprint("slow", i%2), nil)
				defer c.done()
				if c.takeList() == nil {
					<-ctx.Done() // it is not fetched
				}
			})
		}
		synctest.Wait()
		for _, take := range []func(*call) error{
			func(c *call) error {
				_, err := c.readBody()
				return err
			},
			(*call).takeList,
		} {
			c := request("third", strings.NewReader(strings.Repeat("x", feedmill.MaxPublishBytes)))
			if err := take(c); err != nil {
				t.Errorf("the third workspace waits for a place: %v", err)
			}
			c.done()
		}
		cancel()
		end.CloseWithError(io.ErrUnexpectedEOF)
		clients.Wait()
	})
}
