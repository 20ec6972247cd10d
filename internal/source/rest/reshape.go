package rest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
	decodejson "github.com/feedmill/feedmill/internal/decode/json"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// shape is how rows are made of the records of a document where they are not rows
// already.
type shape struct {
	// columns are picked from the record; without keep, nothing else is.
	columns []picked
	keep    bool
	// names are found in the document, and values in the record: one for each.
	names, values []*jsonpath.Path
	// keyAs is a column for the name of the member that the record is.
	keyAs string
	// pairs is an array of the record whose elements become rows, nil for none.
	pairs *pairs
}

// picked is a column that is found at a path of the record.
type picked struct {
	at   string // its place in the definition
	name string
	path *jsonpath.Path
	// own is the member of the record that the path is, empty for a longer one.
	own string
	as  string // its type, empty for what is found
	// written is how the API writes its times, nil where that is found.
	written *timeFormat
	// nulls are texts that mean that there is no value.
	nulls []string
	// change is what the entry sets besides.
	change feedmill.ColumnChange
}

// any reports whether the records are not rows as they are.
func (s *shape) any() bool {
	return len(s.columns) > 0 || !s.keep || len(s.values) > 0 || s.keyAs != "" || s.pairs != nil
}

// looksIntoArrays reports whether the records are arrays that paths lead into. A table that is
// written as arrays is then left as it is.
func (s *shape) looksIntoArrays() bool {
	return len(s.values) > 0 || s.keyAs != "" || slices.ContainsFunc(s.columns, func(c picked) bool {
		if c.path == nil {
			return false
		}
		steps, ok := c.path.Steps()
		if !ok || len(steps) == 0 {
			return true
		}
		_, named := steps[0].Name()
		return !named
	})
}

// reshaper makes rows of the records of pages.
type reshaper struct {
	shape *shape
	rules feedmill.Rules
	// path is where the records are, empty where that is to be found.
	path string
	// see is shown the text of the member of a record that is called cursor.
	see    func(text []byte)
	cursor string
	// pages knows where the records are in all pages.
	pages *decodejson.Pages
	spool *input.Spool
	row   rowMaker
	// seen is how many records there were, and found in how many of them the path of
	// each column found something.
	seen   int64
	finds  []int64
	zipped map[string]int
	// groups are how many names each path of names has found in the page, unnamed is how
	// many records have more values than that, and replaced how many have members of
	// their own by the name of a column.
	groups   []int
	named    []string // on the last page that has names
	unnamed  int64
	replaced map[string]int64
	// deletes is how deletions are marked, nil where none are reported.
	deletes *deletes
}

// newReshaper makes rows of pages that are parts of a list, where list says so, with
// temporary files in a folder until it is closed.
func (r Response) newReshaper(list bool, folder string) (*reshaper, error) {
	out := &reshaper{shape: r.Shape, rules: r.Rules, path: r.Path, spool: input.NewSpool(folder)}
	options := decodejson.Options{Path: r.Path}
	if r.Path == "" || !r.Shape.looksIntoArrays() {
		options.Rules = r.Rules
	}
	var err error
	out.pages, err = decodejson.NewPages(options, list, out.spool)
	return out, err
}

// Close gives up the temporary files.
func (r *reshaper) Close() error { return r.spool.Close() }

// maxGrowth is how many times as long as its page the rows can be that are made of it,
// besides the room that there is for short ones: every row has its names, and what it
// has of its parent.
const (
	maxGrowth     = 16
	maxPairGrowth = 4 // times maxGrowth
	freeBytes     = 64 << 20
)

// page makes rows of a page, an object a line.
func (r *reshaper) page(ctx context.Context, p feedmill.FetchedPage, out io.Writer) error {
	names, err := r.names(ctx, p)
	if err != nil {
		return err
	}
	limit := maxGrowth*p.Body.Size() + freeBytes
	if r.shape.pairs != nil {
		limit *= maxPairGrowth // every point repeats the labels of its series
	}
	written := int64(0)
	write := func(line []byte) error {
		if written += int64(len(line)); written > limit {
			return fail("data-too-large", nil, "The rows of page %d are larger than %d bytes, because every row has long names or values from its parent. Request smaller pages, or use shorter column names.", p.Number, limit)
		}
		_, err := out.Write(line)
		return err
	}
	number := 0
	err = r.records(ctx, p, func(key string, raw []byte) error {
		number++
		each := func(raw []byte) error {
			line, err := r.rowOf(ctx, key, raw, names, p.With)
			if err != nil {
				return fail("column", nil, "Record %d of page %d: %s.", number, p.Number, err)
			}
			return write(line)
		}
		if r.shape.pairs == nil {
			return each(raw)
		}
		err := r.shape.pairs.each(raw, each)
		if _, said := errors.AsType[*feedmill.SourceFailure](err); err != nil && !said && ctx.Err() == nil {
			err = fail("column", nil, "Record %d of page %d: %s.", number, p.Number, err)
		}
		return err
	})
	if err == nil || errors.Is(err, input.ErrNoData) {
		err = r.listed(ctx, p, names, write)
	}
	if errors.Is(err, input.ErrNoData) {
		return nil
	}
	return err
}

// rowOf makes a row of a record: one with its values, or one that marks a deletion.
func (r *reshaper) rowOf(ctx context.Context, key string, raw []byte, names []string, with []feedmill.PageColumn) ([]byte, error) {
	if r.deletes == nil {
		return r.line(ctx, key, raw, names, with)
	}
	deleted, err := r.deletes.isDeleted(ctx, raw)
	switch {
	case err != nil:
		return nil, err
	case !deleted:
		return r.line(ctx, key, raw, names, with)
	case r.deletes.drop:
		return nil, nil
	}
	return r.deletion(ctx, key, raw, names, with)
}

// names are what the columns of a page are called, where it says so. A page that says
// nothing of it has those of the page before: some sources name them on the first page
// only.
func (r *reshaper) names(ctx context.Context, p feedmill.FetchedPage) ([]string, error) {
	before := slices.Clone(r.groups)
	names, err := r.namesIn(ctx, p)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 && !p.First && r.rules > feedmill.RulesFirst {
		r.groups = before
		return r.named, nil
	}
	r.named = uniqueNames(names)
	return r.named, nil
}

// namesIn are the names that a page has itself.
func (r *reshaper) namesIn(ctx context.Context, p feedmill.FetchedPage) (names []string, err error) {
	r.groups = r.groups[:0]
	for _, path := range r.shape.names {
		before := len(names)
		err := eachRecord(ctx, p, path.String(), r.spool, func(raw []byte) error {
			if len(names) == input.MaxColumns {
				return fail("column", nil, "Page %d has more than %d names, the maximum.", p.Number, input.MaxColumns)
			}
			text, _ := scalar(valueOf(raw))
			names = append(names, text)
			return nil
		})
		if err != nil {
			return nil, err
		}
		r.groups = append(r.groups, len(names)-before)
	}
	if len(r.groups) != len(r.shape.values) {
		r.groups = []int{len(names)} // All values go to all names.
	}
	return names, nil
}

// uniqueNames are names none of which is blank or stands twice.
func uniqueNames(names []string) []string {
	used := make(map[string]bool, len(names))
	for i, name := range names {
		if name == "" {
			name = "column_" + strconv.Itoa(i+1)
		}
		free := name
		for n := 2; used[free]; n++ {
			free = name + "_" + strconv.Itoa(n)
		}
		used[free] = true
		names[i] = free
	}
	return names
}

// records gives fn the records of a page: where the path leads to, or where they are
// found as in any JSON. With keyAs they are the members of objects, whose names are
// given, too.
func (r *reshaper) records(ctx context.Context, p feedmill.FetchedPage, fn func(key string, raw []byte) error) error {
	if r.shape.keyAs == "" {
		return r.pages.Records(ctx, p.Body, p.Format == "ndjson", func(raw []byte) error { return fn("", raw) })
	}
	holder := holderOf(r.path)
	if holder == "" && p.Format == "json" {
		var err error
		if holder, err = decodejson.KeyedPath(ctx, p.Body); err != nil {
			return err
		}
	}
	if path, err := jsonpath.Parse(holder); err == nil && p.Format == "json" {
		if found, err := find(ctx, p.Body, p.Body.Size(), path); err == nil && found[0].kind == '[' {
			return fail("column", nil, "The value at %s is a list, but keyAs requires an object. Remove keyAs.", holder)
		}
	}
	return eachRecord(ctx, p, holder, r.spool, func(raw []byte) error {
		members, err := membersOf(raw)
		for _, m := range members {
			if err := fn(m.name, m.raw); err != nil {
				return err
			}
		}
		return err
	})
}

// holderOf is the path to the object whose members a path selects.
func holderOf(path string) string {
	text := []byte(path)
	for _, all := range []string{"[*]", ".*"} {
		text = bytes.TrimSuffix(text, []byte(all))
	}
	return string(text)
}

// eachRecord gives fn the records at a path of a page, or those that are found where it
// is empty.
func eachRecord(ctx context.Context, p feedmill.FetchedPage, path string, spool *input.Spool, fn func(raw []byte) error) error {
	if p.Format != "json" && p.Format != "ndjson" {
		return fail("wrong-content-type", nil, "The response is %s, but JSON is required.", p.Format)
	}
	pages, err := decodejson.NewPages(decodejson.Options{Path: path}, true, spool)
	if err != nil {
		return err
	}
	return pages.Records(ctx, p.Body, p.Format == "ndjson", fn)
}

// line makes a row of a record. It is good until the next one.
func (r *reshaper) line(ctx context.Context, key string, raw []byte, names []string, with []feedmill.PageColumn) ([]byte, error) {
	w, s := &r.row, r.shape
	w.reset()
	var members []rawMember
	if raw[0] == '{' {
		var err error
		if members, err = membersOf(raw); err != nil {
			return nil, err
		}
	} else if !jsontext.Value(raw).IsValid(lenient...) {
		return nil, errNoJSON
	}
	if r.see != nil {
		if text, ok := scalar(valueOf(lookup(members, r.cursor))); ok {
			r.see([]byte(text))
		}
	}
	for _, c := range with {
		w.taken[c.Name] = true
	}
	if s.keyAs != "" {
		w.set(s.keyAs, quote(key))
	}
	if len(s.values) > 0 || len(s.columns) > 0 {
		if err := r.found(ctx, raw, names); err != nil {
			return nil, err
		}
	}
	switch {
	case !s.keep, len(s.values) > 0:
	case raw[0] == '{':
		for _, m := range members {
			if !w.taken[m.name] {
				w.add(m.name, m.raw)
			} else if s.replaces(m.name) {
				r.note(m.name)
			}
		}
	case len(s.columns) == 0:
		w.add("value", raw)
	}
	for _, c := range with {
		w.add(c.Name, c.JSON)
	}
	return w.end(), nil
}

// found adds what the paths of the shape find in a record.
func (r *reshaper) found(ctx context.Context, raw []byte, names []string) error {
	w := &r.row
	record, err := parseTree(ctx, raw)
	if err != nil {
		return err
	}
	defer record.giveBack()
	r.seen++
	r.claim()
	if err := r.zip(ctx, record, names); err != nil {
		return err
	}
	for i, c := range r.shape.columns {
		nodes, err := record.find(ctx, c.path)
		if err != nil {
			return err
		}
		if len(nodes) > 0 {
			err = r.pick(i, record.text(nodes[0]))
		} else if !w.taken[c.name] {
			w.set(c.name, []byte("null"))
		}
		if err != nil {
			return err
		}
		if c.own != "" {
			w.taken[c.own] = true
		}
	}
	return nil
}
