package upstream

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/client"
)

// Path is where the records are in a page.
const Path = "$.data[*]"

// Source is a running API.
type Source struct {
	*rig.Peer
	rows, pages int
}

// Start starts an API that has one row until [Source.OfferAll].
func Start(rows, pages int) (*Source, error) {
	peer, err := rig.StartRole(Role.Name, strconv.Itoa(rows), strconv.Itoa(pages))
	if err != nil {
		return nil, err
	}
	return &Source{peer, rows, pages}, nil
}

// Page is the URL of a page.
func (s *Source) Page(i int) string { return fmt.Sprintf("%s/rows?at=%d", s.Said, i) }

// OfferFirst leaves one row on one page.
func (s *Source) OfferFirst() error { return s.post("/first") }

// OfferAll makes all rows available.
func (s *Source) OfferAll() error { return s.post("/all") }

func (s *Source) post(path string) error {
	resp, err := http.Post(s.Said+path, "", nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// CreateFeed creates a feed that fetches from the API. It has one row.
func (s *Source) CreateFeed(ctx context.Context, c *client.Client) (feed client.DataFeed, err error) {
	if err := s.OfferFirst(); err != nil {
		return feed, err
	}
	spec := fmt.Appendf(nil, `{"request":{"url":%q},"response":{"path":%q},"pagination":{"kind":"cursor","path":"$.next","param":"at","maxPages":%d}}`,
		s.Said+"/rows", Path, s.pages)
	feed, err = c.CreateRestFeed(ctx, client.RestFeed{Spec: spec, Wait: time.Minute})
	if err == nil && feed.State != feedmill.FeedReady {
		err = fmt.Errorf("the feed is %s", feed.State)
	}
	return feed, err
}

// pollEvery is so long that polling costs the refresh next to nothing; when it ended is in the
// refresh itself.
const pollEvery = 100 * time.Millisecond

// Refresh refreshes a feed with one row while the API offers all rows, and returns how long that took, from
// the request to the end of the refresh.
func (s *Source) Refresh(ctx context.Context, c *client.Client, feed client.DataFeed) (time.Duration, error) {
	began := time.Now()
	feed, err := refresh(ctx, c, feed.ID)
	if err != nil {
		return 0, err
	}
	if feed.State != feedmill.FeedReady || feed.RowCount != int64(s.rows) {
		return 0, fmt.Errorf("the feed is %s with %d rows: %+v", feed.State, feed.RowCount, feed.LastError)
	}
	return feed.LastRefresh.EndedAt.Sub(began), nil
}

// Reset refreshes a feed while the API offers one row.
func (s *Source) Reset(ctx context.Context, c *client.Client, feed client.DataFeed) error {
	if err := s.OfferFirst(); err != nil {
		return err
	}
	feed, err := refresh(ctx, c, feed.ID)
	if err == nil && (feed.State != feedmill.FeedReady || feed.RowCount != 1) {
		err = fmt.Errorf("the feed is %s with %d rows of 1: %+v", feed.State, feed.RowCount, feed.LastError)
	}
	return err
}

// refresh refreshes a feed and waits for the end of the refresh.
func refresh(ctx context.Context, c *client.Client, id string) (feed client.DataFeed, err error) {
	if _, err := c.RefreshDataFeed(ctx, id); err != nil {
		return feed, err
	}
	for {
		if feed, err = c.DataFeed(ctx, id); err != nil || feed.LastRefresh.Ended() {
			return feed, err
		}
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return feed, ctx.Err()
		}
	}
}
