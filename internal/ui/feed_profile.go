package ui

import (
	"net/http"

	"github.com/feedmill/feedmill/client"
)

// profilePage says what the values of each column are like.
type profilePage struct {
	Head feedHead
	// Version is the one that was looked at, and Rows how many rows of it.
	Version, Rows int64
	Pictures      []columnPicture
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
	asked, same := rowsAsked(v.r.URL.Query())
	head.Query = same
	p := profilePage{Head: head, Exact: true, Filters: chips(v.r.URL)}
	if head.Version == 0 {
		return v.render(http.StatusOK, "feed_profile", head.Name, p)
	}
	profile, err := v.api.FeedProfile(v.r.Context(), head.ID, asked)
	if detail, ok := refused(err); ok {
		p.Error = detail
		return v.render(http.StatusOK, "feed_profile", head.Name, p)
	}
	if err != nil {
		return err
	}
	p.Version, p.Rows, p.Pictures = profile.Version, profile.RowCount, picturesOf(head.DataFeed, profile, nil)
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
	asked, _ := rowsAsked(v.r.URL.Query())
	all, err := v.api.FeedProfile(ctx, id, client.RowQuery{Version: asked.Version})
	if err != nil {
		return err
	}
	var left *client.FeedProfile
	if len(asked.Filters) > 0 {
		some, err := v.api.FeedProfile(ctx, id, asked)
		if err != nil {
			return err
		}
		left = &some
	}
	return v.part("feed_heads", picturesOf(f, all, left))
}
