package ui

import (
	"net/http"

	"github.com/feedmill/feedmill/client"
)

// profilePage says what the values of each column are like.
type profilePage struct {
	Head     feedHead
	Rows     int64
	Pictures []columnPicture
	// Exact reports whether all values were counted, and none of the counts is estimated.
	Exact bool
	// Filters are those that leave only some of the rows.
	Filters []filterChip
	Error   string
}

func showProfile(v *visit) error {
	head, err := headOf(v, "profile")
	if err != nil {
		return err
	}
	p := profilePage{Head: head, Exact: true, Filters: chips(v.r.URL)}
	if head.Version == 0 {
		return v.render(http.StatusOK, "feed_profile", head.Name, p)
	}
	profile, err := v.api.FeedProfile(v.r.Context(), head.ID, client.RowQuery{Filters: v.r.URL.Query()["filter"]})
	if detail, ok := refused(err); ok {
		p.Error = detail
		return v.render(http.StatusOK, "feed_profile", head.Name, p)
	}
	if err != nil {
		return err
	}
	p.Rows, p.Pictures = profile.RowCount, picturesOf(head.DataFeed, profile, nil)
	for _, c := range profile.Columns {
		p.Exact = p.Exact && c.DistinctExact
	}
	return v.render(http.StatusOK, "feed_profile", head.Name, p)
}

// showHeads is the pictures in the heads of the table, which come after the rows: those of a
// version that nobody has asked about before take a while. With filters they show what is left
// in front of all.
func showHeads(v *visit) error {
	ctx, id := v.r.Context(), v.r.PathValue("id")
	f, err := v.api.DataFeed(ctx, id)
	if err != nil {
		return err
	}
	all, err := v.api.FeedProfile(ctx, id, client.RowQuery{})
	if err != nil {
		return err
	}
	var left *client.FeedProfile
	if filters := v.r.URL.Query()["filter"]; len(filters) > 0 {
		some, err := v.api.FeedProfile(ctx, id, client.RowQuery{Filters: filters})
		if err != nil {
			return err
		}
		left = &some
	}
	return v.part("feed_heads", picturesOf(f, all, left))
}
