package browser

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill/client"
)

// TestEventStream hears of events as they happen, and of those that came while nobody
// listened.
func TestEventStream(t *testing.T) {
	c, key := workspace(t)
	publish := func(events ...client.NewEvent) {
		t.Helper()
		if _, err := c.PublishAll(t.Context(), events); err != nil {
			t.Error(err)
		}
	}
	began := time.Now().Add(-time.Minute)
	publish(client.NewEvent{ID: "before", Type: "tag.created"})
	hear := func(q client.EventQuery, after string, n int) (ids []string, last string) {
		t.Helper()
		for e, err := range c.EventStream(t.Context(), q, after) {
			if err != nil {
				t.Fatal(err)
			}
			ids, last = append(ids, e.PublisherID), e.ID
			if len(ids) == n {
				break
			}
		}
		return ids, last
	}
	// What is published once the stream is open comes, and each once. That it is open is
	// seen by the first event that comes.
	stop := make(chan struct{})
	var publishing sync.WaitGroup
	publishing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				publish(client.NewEvent{Type: "tag.updated", ID: fmt.Sprint("u", i)})
			}
		}
	})
	ids, last := hear(client.EventQuery{Type: "tag.updated"}, "", 5)
	close(stop)
	publishing.Wait()
	if unique := slices.Compact(slices.Sorted(slices.Values(ids))); len(unique) != 5 {
		t.Errorf("the stream brought %q", ids)
	}
	publish(client.NewEvent{ID: "one", Type: "tag.deleted", ResourceID: "t_1"}, client.NewEvent{ID: "two", Type: "tag.deleted"})
	if ids, _ = hear(client.EventQuery{Type: "tag.deleted"}, last, 2); !slices.Equal(ids, []string{"one", "two"}) {
		t.Errorf("after a break the stream goes on with %q", ids)
	}
	if ids, _ = hear(client.EventQuery{ResourceID: "t_1"}, last, 1); !slices.Equal(ids, []string{"one"}) {
		t.Errorf("of one resource the stream brought %q", ids)
	}
	// Since a time, of a whole family, and after an event that is later than the time.
	if ids, _ = hear(client.EventQuery{Type: "metric.created,tag.*", Since: began}, "", 2); !slices.Equal(ids, []string{"before", "u0"}) {
		t.Errorf("since its beginning the stream brought %q", ids)
	}
	if ids, _ = hear(client.EventQuery{Type: "tag.deleted", Since: began}, last, 2); !slices.Equal(ids, []string{"one", "two"}) {
		t.Errorf("since its beginning and after a break the stream goes on with %q", ids)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.url+"/events/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Last-Event-ID", "nothing")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), `"header":"Last-Event-ID"`) {
		t.Errorf("a wrong id is answered %d: %s", resp.StatusCode, text)
	}
}
