package api

import (
	"slices"

	"github.com/feedmill/feedmill"
)

// modeParameters say what becomes of the rows that are there.
var modeParameters = []string{"mode", "key"}

// readMode reads what becomes of the rows that are there when an upload comes.
// What the request leaves out is as the feed has it; a new feed replaces.
func (c *call) readMode(feed feedmill.Feed) (mode feedmill.FeedMode, key []string) {
	mode = feed.Mode
	if text, given := c.query["mode"]; given {
		mode = feedmill.FeedMode(text)
		if !slices.Contains([]feedmill.FeedMode{feedmill.ModeReplace, feedmill.ModeAppend, feedmill.ModeMerge}, mode) {
			c.fault(feedmill.Fault{Parameter: "mode", Detail: "mode must be replace, append or merge."})
			c.listParameter("key", "")
			return mode, nil
		}
	}
	items := c.listParameter("key", "")
	for _, item := range items {
		if slices.Contains(key, item.Text) {
			c.fault(feedmill.Fault{Parameter: "key", Detail: "key lists a column twice. List each column once."})
		}
		key = append(key, item.Text)
	}
	_, given := c.query["key"]
	switch {
	case mode != feedmill.ModeMerge && given:
		c.fault(feedmill.Fault{Parameter: "key", Detail: "key applies only to mode=merge."})
	case mode != feedmill.ModeMerge:
		return mode, nil
	case !given && len(feed.Key) == 0:
		c.fault(feedmill.Fault{Parameter: "key", Detail: "key is required with mode=merge. List the columns that identify a row, separated by commas."})
	case !given:
		return mode, feed.Key
	}
	return mode, key
}
