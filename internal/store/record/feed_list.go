package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
)

// feedSorts are the columns that lists of feeds go by; each has an index that also
// has what lists are filtered by.
var feedSorts = map[feedmill.FeedSort]string{
	feedmill.SortFeedCreated: "id",
	feedmill.SortFeedName:    "search",
	feedmill.SortFeedUpdated: "updated_at",
	feedmill.SortFeedRows:    "row_count",
	feedmill.SortFeedBytes:   "byte_size",
}

// SearchFeeds finds a part of the feeds of a workspace. The feeds of the part are
// found by an index alone before they are read, because a record can be large.
func (s Store) SearchFeeds(ctx context.Context, workspace feedmill.ID, q feedmill.FeedSearch) (found feedmill.FeedsFound, err error) {
	w := feedWhere{args: []any{workspace}}
	w.contains(q.Text)
	few, many, err := s.fewFeeds(ctx, w, q)
	if err != nil {
		return feedmill.FeedsFound{}, err
	}
	if !many {
		found.ByState = few.byState
		w = feedWhere{args: []any{workspace}}
		w.oneOf(few.ids, fewOf(q))
	} else if q.CountStates || q.Text == "" {
		if found.ByState, err = s.feedStates(ctx, w, q.Text == ""); err != nil {
			return feedmill.FeedsFound{}, err
		}
	}
	w.states(q.States)
	if found.ByState != nil {
		found.Total = totalOf(found.ByState, q.States)
	} else if err := s.db.One(ctx, `SELECT count(*) FROM feeds WHERE workspace_id = ?1`+w.and, w.args, &found.Total); err != nil {
		return feedmill.FeedsFound{}, err
	}
	column, ok := feedSorts[q.Sort]
	if !ok {
		return feedmill.FeedsFound{}, fmt.Errorf("feeds by %q: %w", q.Sort, feedmill.ErrInvalid)
	}
	if err := s.after(&w, q, column); err != nil {
		return feedmill.FeedsFound{}, err
	}
	if found.Total == 0 {
		return found, nil
	}
	err = s.readFoundFeeds(ctx, w, q, column, many, &found)
	if err != nil && !errors.Is(err, errPartEnds) {
		return feedmill.FeedsFound{}, err
	}
	return found, nil
}

// readFoundFeeds reads the records of a part of the feeds. It returns errPartEnds where more
// were found than there is room for.
func (s Store) readFoundFeeds(ctx context.Context, w feedWhere, q feedmill.FeedSearch, column string, many bool, found *feedmill.FeedsFound) error {
	direction := ""
	if q.Descending {
		direction = " DESC"
	}
	order := ` ORDER BY ` + column + direction + `, id` + direction
	if column == "id" {
		order = ` ORDER BY id` + direction
	}
	part := `feeds WHERE workspace_id = ?1` + w.and
	if !many { // an engine that sees the order would rather go through all feeds in it
		part = `(SELECT id, search, updated_at, row_count, byte_size FROM ` + part + ` LIMIT ` + w.value(fewOf(q)) + `) few`
	}
	page := `SELECT id FROM ` + part + order + ` LIMIT ` + w.value(q.Limit+1)
	// The records are read one by one by the ids of the part: an engine that is free to
	// go by the order would rather read all feeds in it and keep those of the part.
	records := `SELECT f.search, ` + feedWithRefresh + ` FROM (` + page + `) part CROSS JOIN feeds f ` + lastRefresh +
		`WHERE f.workspace_id = ?1 AND f.id = part.id` + of("f", order)
	// The value that the list goes by is read as it is kept.
	var last string
	var before feedmill.Feed
	n := 0
	return s.db.Each(ctx, func(row Row) error {
		f, search, err := scanFoundFeed(row, s.d)
		if err != nil {
			return err
		}
		if n == q.Limit || q.Fits != nil && !q.Fits(f) {
			found.Next = placeOf(before, q.Sort, last)
			return errPartEnds
		}
		if q.Fits == nil {
			found.Feeds = append(found.Feeds, f)
		}
		before, last, n = f, search, n+1
		return nil
	}, records, w.args...)
}

// errPartEnds ends the reading of records of which no more are wanted.
var errPartEnds = errors.New("end of this part of the list")

// fewOf is how many feeds are few beside the part of them that is asked for.
func fewOf(q feedmill.FeedSearch) int { return 2 * q.Limit }

// feedsWithText are the feeds that a text was found in, and how many are in each state.
type feedsWithText struct {
	ids     []string
	byState map[feedmill.FeedState]int64
}

// fewFeeds finds the feeds with a text where they are not many. To look for a text is to go
// through the names of all feeds, which is then done once, and not again to count them and
// again to find those of the part. The first of many are found soon.
func (s Store) fewFeeds(ctx context.Context, w feedWhere, q feedmill.FeedSearch) (few feedsWithText, many bool, err error) {
	if q.Text == "" {
		return feedsWithText{}, true, nil
	}
	few.byState = make(map[feedmill.FeedState]int64)
	query := `SELECT id, state FROM feeds WHERE workspace_id = ?1` + w.and + ` LIMIT ` + w.value(fewOf(q)+1)
	err = s.db.Each(ctx, func(row Row) error {
		var id string
		var state feedmill.FeedState
		err := row.Scan(&id, &state)
		few.ids = append(few.ids, id)
		few.byState[state]++
		return err
	}, query, w.args...)
	return few, len(few.ids) > fewOf(q), err
}

// of puts an alias before the columns of an order.
func of(alias, order string) string {
	order = strings.Replace(order, ` ORDER BY `, ` ORDER BY `+alias+`.`, 1)
	return strings.Replace(order, `, id`, `, `+alias+`.id`, 1)
}

func scanFoundFeed(row Row, k Kinds) (f feedmill.Feed, search string, err error) {
	f, err = scanFeed(behind{row, &search}, k)
	return f, search, err
}

// behind is a row whose first column is read apart.
type behind struct {
	Row
	first *string
}

// Scan reads all columns.
func (b behind) Scan(into ...any) error { return b.Row.Scan(append([]any{b.first}, into...)...) }

func placeOf(f feedmill.Feed, sort feedmill.FeedSort, search string) *feedmill.FeedPlace {
	p := feedmill.FeedPlace{ID: f.ID}
	switch sort {
	case feedmill.SortFeedName:
		p.Value = search
	case feedmill.SortFeedUpdated:
		p.Value = feedmill.PlaceTime(f.UpdatedAt)
	case feedmill.SortFeedRows:
		p.Value = strconv.FormatInt(f.RowCount, 10)
	case feedmill.SortFeedBytes:
		p.Value = strconv.FormatInt(f.ByteSize, 10)
	}
	return &p
}

// feedStates counts feeds by their states. The numbers of all feeds of a workspace are kept,
// because to count very many takes longer than to list a part of them.
func (s Store) feedStates(ctx context.Context, w feedWhere, all bool) (map[feedmill.FeedState]int64, error) {
	query := `SELECT state, count(*) FROM feeds WHERE workspace_id = ?1` + w.and + ` GROUP BY state`
	if all {
		query = `SELECT state, CAST(sum(feeds) AS bigint) FROM feed_counts WHERE workspace_id = ?1 GROUP BY state HAVING sum(feeds) <> 0`
	}
	counts := make(map[feedmill.FeedState]int64)
	err := s.db.Each(ctx, func(row Row) error {
		var state feedmill.FeedState
		var n int64
		err := row.Scan(&state, &n)
		counts[state] = n
		return err
	}, query, w.args...)
	return counts, err
}

// totalOf adds up the states that a list has, all where none are named.
func totalOf(counts map[feedmill.FeedState]int64, states []feedmill.FeedState) (total int64) {
	for state, n := range counts {
		if len(states) == 0 || slices.Contains(states, state) {
			total += n
		}
	}
	return total
}

// feedWhere gathers what a list of feeds is held to.
type feedWhere struct {
	and  string
	args []any
}

// value is the place of one more value.
func (w *feedWhere) value(v any) string {
	w.args = append(w.args, v)
	return "?" + strconv.Itoa(len(w.args))
}

var likeLiterally = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

func (w *feedWhere) contains(text string) {
	if text != "" {
		w.and += ` AND search LIKE ` + w.value("%"+likeLiterally.Replace(strings.ToLower(text))+"%") + ` ESCAPE '\'`
	}
}

// oneOf holds a list to some feeds. The statement has room for more, so that there are few
// statements.
func (w *feedWhere) oneOf(ids []string, room int) {
	if len(ids) <= 10 && room > 10 {
		room = 10
	}
	places := make([]string, room)
	for i := range places {
		id := "" // which no feed has
		if i < len(ids) {
			id = ids[i]
		}
		places[i] = w.value(id)
	}
	w.and += ` AND id IN (` + strings.Join(places, ", ") + `)`
}

func (w *feedWhere) states(states []feedmill.FeedState) {
	var places []string
	for _, state := range states {
		places = append(places, w.value(string(state)))
	}
	if len(places) > 0 {
		w.and += ` AND state IN (` + strings.Join(places, ", ") + `)`
	}
}

// after leaves out what the parts before had.
func (s Store) after(w *feedWhere, q feedmill.FeedSearch, column string) error {
	if q.After == nil {
		return nil
	}
	is := ` > `
	if q.Descending {
		is = ` < `
	}
	if column == "id" {
		w.and += ` AND id` + is + w.value(q.After.ID)
		return nil
	}
	var value any = q.After.Value
	switch q.Sort {
	case feedmill.SortFeedUpdated:
		at, err := feedmill.TimeOfPlace(q.After.Value)
		if err != nil {
			return fmt.Errorf("%w: %w", feedmill.ErrInvalid, err)
		}
		value = s.time(at)
	case feedmill.SortFeedRows, feedmill.SortFeedBytes:
		n, err := strconv.ParseInt(q.After.Value, 10, 64)
		if err != nil {
			return fmt.Errorf("%w: %w", feedmill.ErrInvalid, err)
		}
		value = n
	}
	w.and += ` AND (` + column + `, id)` + is + `(` + w.value(value) + `, ` + w.value(q.After.ID) + `)`
	return nil
}
