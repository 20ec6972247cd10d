package api

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/feedmill/feedmill"
)

// maxSearchText is how many characters a search for feeds may have.
const maxSearchText = 200

// listFeeds answers a part of the feeds, with how many there are in all.
func (s *Server) listFeeds(c *call) (answer, error) {
	q := feedmill.FeedSearch{Text: strings.TrimSpace(c.query["q"]), Limit: c.pageLimit(), States: words(c, "state", feedmill.FeedStates)}
	if utf8.RuneCountInString(q.Text) > maxSearchText {
		c.fault(feedmill.Fault{Parameter: "q", Detail: fmt.Sprintf("q must have at most %d characters.", maxSearchText)})
	}
	c.feedSort(&q)
	c.feedCursor(&q)
	if counts, given := c.query["counts"]; given {
		if q.CountStates = counts == "state"; !q.CountStates {
			c.fault(feedmill.Fault{Parameter: "counts", Detail: "counts must be state."})
		}
	}
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	if err := c.takeList(); err != nil {
		return answer{}, err
	}
	var list jsonList
	q.Fits = func(f feedmill.Feed) bool { return list.add(viewFeed(f)) }
	found, err := s.Store.SearchFeeds(c.ctx(), c.who.Workspace, q)
	if err != nil {
		return answer{}, err
	}
	a := list.answer()
	if len(a.body) < maxListBytes {
		c.done() // a client that fetches little holds up no other list
	}
	a.set("X-Total-Count", strconv.FormatInt(found.Total, 10))
	if q.CountStates {
		a.set("X-Counts", counted(feedmill.FeedStates, found.ByState))
	}
	if found.Next != nil {
		c.linkAfter(&a, placeText(q, *found.Next))
	}
	return a, nil
}

// words reads a parameter with one or more of some words, between commas.
func words[T ~string](c *call, name string, known []T) (found []T) {
	text, given := c.query[name]
	if !given {
		return nil
	}
	for word := range strings.SplitSeq(text, ",") {
		w := T(strings.TrimSpace(word))
		if !slices.Contains(known, w) {
			c.fault(feedmill.Fault{Parameter: name, Detail: name + " must be one or more of " + joinWords(known) + ", separated by commas."})
			return nil
		}
		if !slices.Contains(found, w) {
			found = append(found, w)
		}
	}
	return found
}

func joinWords[T ~string](all []T) string {
	texts := make([]string, len(all))
	for i, w := range all {
		texts[i] = string(w)
	}
	return strings.Join(texts, ", ")
}

// counted are the words that occur, each with how often.
func counted[T ~string](order []T, counts map[T]int64) string {
	var parts []string
	for _, word := range order {
		if n := counts[word]; n > 0 {
			parts = append(parts, string(word)+"="+strconv.FormatInt(n, 10))
		}
	}
	return strings.Join(parts, ", ")
}

// feedSort reads what the list goes by; a minus before it turns it round.
func (c *call) feedSort(q *feedmill.FeedSearch) {
	text, given := c.query["sort"]
	if !given {
		q.Sort, q.Descending = feedmill.SortFeedCreated, true
		return
	}
	name, down := strings.CutPrefix(text, "-")
	if q.Sort, q.Descending = feedmill.FeedSort(name), down; !slices.Contains(feedmill.FeedSorts, q.Sort) {
		c.fault(feedmill.Fault{Parameter: "sort", Detail: "sort must be one of " + joinWords(feedmill.FeedSorts) + ". Prefix it with - to reverse the order."})
	}
}

// placeText is a place as a cursor has it: with what the list goes by, because in
// another list it is no place.
func placeText(q feedmill.FeedSearch, p feedmill.FeedPlace) string {
	return sortText(q) + "\n" + string(p.ID) + "\n" + p.Value
}

func sortText(q feedmill.FeedSearch) string {
	if q.Descending {
		return "-" + string(q.Sort)
	}
	return string(q.Sort)
}

// feedCursor reads where the part before ended.
func (c *call) feedCursor(q *feedmill.FeedSearch) {
	text, given := c.query["cursor"]
	if !given {
		return
	}
	plain, err := base64.RawURLEncoding.Strict().DecodeString(text)
	parts := strings.SplitN(string(plain), "\n", 3)
	if err != nil || len(parts) != 3 || parts[0] != sortText(*q) || !feedmill.IsID(feedmill.PrefixDataFeed, parts[1]) || !validPlace(q.Sort, parts[2]) {
		c.fault(feedmill.Fault{Parameter: "cursor", Detail: noCursorOfList})
		return
	}
	q.After = &feedmill.FeedPlace{ID: feedmill.ID(parts[1]), Value: parts[2]}
}

// validPlace reports whether a list can have such a place.
func validPlace(sort feedmill.FeedSort, value string) (ok bool) {
	var err error
	switch sort {
	case feedmill.SortFeedUpdated:
		_, err = feedmill.TimeOfPlace(value)
	case feedmill.SortFeedRows, feedmill.SortFeedBytes:
		_, err = strconv.ParseInt(value, 10, 64)
	}
	return err == nil && utf8.ValidString(value) && !strings.ContainsRune(value, 0)
}
