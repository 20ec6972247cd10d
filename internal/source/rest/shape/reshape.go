package shape

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
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// looksIntoArrays reports whether the records are arrays that paths lead into. A table that is
// written as arrays is then left as it is.
func looksIntoArrays(s *spec.Shape) bool {
	return len(s.Values) > 0 || s.KeyAs != "" || slices.ContainsFunc(s.Columns, func(c spec.PickedColumn) bool {
		if c.Path == nil {
			return false
		}
		steps, ok := c.Path.Steps()
		if !ok || len(steps) == 0 {
			return true
		}
		_, named := steps[0].Name()
		return !named
	})
}

// reshaper makes rows of the records of pages.
type reshaper struct {
	shape *spec.Shape
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
	claims map[string]int
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
func newReshaper(r spec.Response, list bool, folder string) (*reshaper, error) {
	out := &reshaper{shape: r.Shape, rules: r.Rules, path: r.Path, spool: input.NewSpool(folder)}
	options := decodejson.Options{Path: r.Path}
	if r.Path == "" || !looksIntoArrays(r.Shape) {
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
	if r.shape.Pairs != nil {
		limit *= maxPairGrowth // every point repeats the labels of its series
	}
	written := int64(0)
	write := func(line []byte) error {
		if written += int64(len(line)); written > limit {
			return spec.Fail("data-too-large", nil, "The rows of page %d are larger than %d bytes, because every row has long names or values from its parent. Request smaller pages, or use shorter column names.", p.Number, limit)
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
				return spec.Fail("column", nil, "Record %d of page %d: %s.", number, p.Number, err)
			}
			return write(line)
		}
		if r.shape.Pairs == nil {
			return each(raw)
		}
		err := eachPair(r.shape.Pairs, raw, each)
		if _, said := errors.AsType[*feedmill.SourceFailure](err); err != nil && !said && ctx.Err() == nil {
			err = spec.Fail("column", nil, "Record %d of page %d: %s.", number, p.Number, err)
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
	for _, path := range r.shape.Names {
		before := len(names)
		err := EachRecord(ctx, p, path.String(), r.spool, func(raw []byte) error {
			if len(names) == input.MaxColumns {
				return spec.Fail("column", nil, "Page %d has more than %d names, the maximum.", p.Number, input.MaxColumns)
			}
			text, _ := find.Scalar(find.ValueOf(raw))
			names = append(names, text)
			return nil
		})
		if err != nil {
			return nil, err
		}
		r.groups = append(r.groups, len(names)-before)
	}
	if len(r.groups) != len(r.shape.Values) {
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
	if r.shape.KeyAs == "" {
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
		if found, err := find.Values(ctx, p.Body, p.Body.Size(), path); err == nil && found[0].Kind == '[' {
			return spec.Fail("column", nil, "The value at %s is a list, but keyAs requires an object. Remove keyAs.", holder)
		}
	}
	return EachRecord(ctx, p, holder, r.spool, func(raw []byte) error {
		members, err := find.MembersOf(raw)
		for _, m := range members {
			if err := fn(m.Name, m.Raw); err != nil {
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

// EachRecord gives fn the records at a path of a page, or those that are found where it
// is empty.
func EachRecord(ctx context.Context, p feedmill.FetchedPage, path string, spool *input.Spool, fn func(raw []byte) error) error {
	if p.Format != "json" && p.Format != "ndjson" {
		return spec.Fail("wrong-content-type", nil, "The response is %s, but JSON is required.", p.Format)
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
	var members []find.RawMember
	if raw[0] == '{' {
		var err error
		if members, err = find.MembersOf(raw); err != nil {
			return nil, err
		}
	} else if !jsontext.Value(raw).IsValid(find.Lenient...) {
		return nil, find.ErrNoJSON
	}
	if r.see != nil {
		if text, ok := find.Scalar(find.ValueOf(find.Lookup(members, r.cursor))); ok {
			r.see([]byte(text))
		}
	}
	for _, c := range with {
		w.taken[c.Name] = true
	}
	if s.KeyAs != "" {
		w.set(s.KeyAs, find.Quote(key))
	}
	if len(s.Values) > 0 || len(s.Columns) > 0 {
		if err := r.found(ctx, raw, names); err != nil {
			return nil, err
		}
	}
	switch {
	case !s.Keep, len(s.Values) > 0:
	case raw[0] == '{':
		for _, m := range members {
			if !w.taken[m.Name] {
				w.add(m.Name, m.Raw)
			} else if replaces(s, m.Name) {
				r.note(m.Name)
			}
		}
	case len(s.Columns) == 0:
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
	record, err := find.ParseTree(ctx, raw)
	if err != nil {
		return err
	}
	defer record.Release()
	r.seen++
	r.claim()
	if err := r.nameValues(ctx, record, names); err != nil {
		return err
	}
	for i, c := range r.shape.Columns {
		nodes, err := record.Find(ctx, c.Path)
		if err != nil {
			return err
		}
		if len(nodes) > 0 {
			err = r.pick(i, record.Text(nodes[0]))
		} else if !w.taken[c.Name] {
			w.set(c.Name, []byte("null"))
		}
		if err != nil {
			return err
		}
		if c.Own != "" {
			w.taken[c.Own] = true
		}
	}
	return nil
}
