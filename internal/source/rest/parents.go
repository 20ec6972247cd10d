package rest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// maxParents is how many parents one fetch may go through.
const maxParents = 1_000_000

// each is what the request is repeated for.
type each struct {
	as string
	// One of feed, values and list is set: the rows of a feed, a list, or what a
	// request of its own brings.
	feed   feedmill.ID
	values []strictjson.Value
	list   *parentList
	// include are the columns of a parent that its records get.
	include []string
	// uses are all that is needed of a parent; the empty name is the value itself.
	uses []string
}

// parentList is a request whose records are parents.
type parentList struct {
	spec *Spec
	path *jsonpath.Path
}

// parent is one that the request is made for.
type parent struct {
	// key tells it from others, in this fetch and in the next.
	key string
	// texts are what its tokens stand for.
	texts map[string]string
	// with are the columns that its records get.
	with []feedmill.PageColumn
}

// parents are all that the request is repeated for.
func (r *run) parents(ctx context.Context) (all []parent, err error) {
	e := r.spec.each
	add := func(row *strictjson.Value) error {
		p, err := e.parent(row, len(all)+1)
		if err != nil {
			return err
		}
		if all = append(all, p); len(all) > maxParents {
			return fail("too-many-pages", nil, "each.in has more than %d rows, the maximum.", maxParents)
		}
		return nil
	}
	switch {
	case e.feed != "":
		err = r.feedParents(ctx, add)
	case e.list != nil:
		err = r.listParents(ctx, add)
	default:
		for i := range e.values {
			if err := add(&e.values[i]); err != nil {
				return nil, err
			}
		}
	}
	return all, err
}

// parent makes a parent of a row.
func (e *each) parent(row *strictjson.Value, number int) (p parent, err error) {
	p.texts = make(map[string]string)
	hash := sha256.New()
	for _, name := range e.uses {
		v := member(row, name)
		if v == nil || v.Kind == 'n' {
			return p, fail("each", nil, "Row %d of each.in has no value for %q, which the request or include requires.", number, name)
		}
		text, ok := scalar(v)
		if !ok && !slices.Contains(e.include, name) {
			return p, fail("each", nil, "In row %d of each.in, %q is not a string, number or boolean.", number, name)
		}
		token := e.as
		if name != "" {
			token += "." + name
		}
		p.texts[token] = text
		raw := v.Append(nil)
		_, _ = fmt.Fprintf(hash, "%d:%s", len(raw), raw)
		if slices.Contains(e.include, name) {
			p.with = append(p.with, feedmill.PageColumn{Name: token, JSON: raw})
		}
	}
	p.key = base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:9])
	return p, nil
}

// member is the value of a name, which may lead through objects; the empty one is
// the row itself.
func member(row *strictjson.Value, name string) *strictjson.Value {
	if name == "" {
		return row
	}
	if v := row.Member(name); v != nil {
		return v
	}
	for at, rest, found := strings.Cut(name, "."); found; at, rest, found = strings.Cut(name, ".") {
		v := row.Member(at)
		if v == nil {
			return nil
		}
		row, name = v, rest
		if v := row.Member(name); v != nil {
			return v
		}
	}
	return nil
}

// feedParents reads the rows of a feed, as it stands.
func (r *run) feedParents(ctx context.Context, add func(*strictjson.Value) error) error {
	if r.f.options.Rows == nil {
		return errors.New("there are no feeds to read")
	}
	rows, version, err := r.f.options.Rows(ctx, r.job.Workspace, r.spec.each.feed, r.spec.each.uses)
	if errors.Is(err, feedmill.ErrNotFound) {
		return fail("each", err, "The feed %s in each.in does not exist or has no data yet.", r.spec.each.feed)
	}
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok && errors.Is(err, feedmill.ErrInvalid) {
		detail := refusal.Detail
		if len(refusal.Faults) > 0 {
			detail = refusal.Faults[0].Detail
		}
		return fail("each", err, "The rows of the feed %s in each.in do not have the columns that the request or include requires. %s", r.spec.each.feed, upperFirst(detail))
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	r.upstream = version
	lines := bufio.NewReaderSize(rows, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 1 {
			row, err := parseDocument(line)
			if err != nil {
				return err
			}
			if err := add(&row); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// listParents asks for the parents.
func (r *run) listParents(ctx context.Context, add func(*strictjson.Value) error) error {
	list := r.spec.each.list
	spec := *list.spec
	spec.maxAttempts, spec.rate, spec.zone, spec.tls = r.spec.maxAttempts, r.spec.rate, r.spec.zone, r.spec.tls
	if sameOrigin(spec.request.origin, r.spec.request.origin) {
		spec.auth = r.spec.auth // It is not shown to anybody else.
	}
	inner := *r
	inner.spec, inner.signer, inner.from, inner.stage, inner.lanes = &spec, signerOf(spec.auth), position{}, nil, [maxParallel]*lane{}
	inner.result, inner.requests = Result{}, 0
	inner.sink = parentSink{list.path, filepath.Dir(r.job.Spool.Name()), add}
	// How the records of the children are counted and read says nothing of the parents.
	inner.job.Count, inner.job.Format, inner.job.Entry, inner.job.FileColumn, inner.job.Encoding = nil, "", "", "", ""
	l := &lane{file: r.job.Spool} // the pages of parents are not staged
	turn := make(chan struct{})
	close(turn)
	s := &sequence{run: &inner, at: r.at, lane: l, turn: turn}
	err := s.pages(ctx)
	r.requests += inner.requests
	r.result.Bytes += inner.result.Bytes
	return err
}

// parentSink makes parents of the records of pages.
type parentSink struct {
	path   *jsonpath.Path
	folder string // for temporary files
	add    func(*strictjson.Value) error
}

// Page takes one page.
func (p parentSink) Page(ctx context.Context, page feedmill.FetchedPage) (rows []int64, err error) {
	records := int64(0)
	path := ""
	if p.path != nil {
		path = p.path.String()
	}
	spool := input.NewSpool(p.folder)
	defer func() { err = errors.Join(err, spool.Close()) }()
	err = eachRecord(ctx, page, path, spool, func(raw []byte) error {
		v, err := parseDocument(raw)
		if err != nil {
			return err
		}
		records++
		return p.add(&v)
	})
	return []int64{records}, err
}
