package fetch

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
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/shape"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// maxParents is how many parents one fetch may go through.
const maxParents = 1_000_000

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
	e := r.spec.Each
	add := func(row *strictjson.Value) error {
		p, err := parentOf(e, row, len(all)+1)
		if err != nil {
			return err
		}
		if all = append(all, p); len(all) > maxParents {
			return spec.Fail("too-many-pages", nil, "each.in has more than %d rows, the maximum.", maxParents)
		}
		return nil
	}
	switch {
	case e.Feed != "":
		err = r.feedParents(ctx, add)
	case e.List != nil:
		err = r.listParents(ctx, add)
	default:
		for i := range e.Values {
			if err := add(&e.Values[i]); err != nil {
				return nil, err
			}
		}
	}
	return all, err
}

// parentOf makes a parent of a row.
func parentOf(e *spec.Each, row *strictjson.Value, number int) (p parent, err error) {
	p.texts = make(map[string]string)
	hash := sha256.New()
	for _, name := range e.Uses {
		v := member(row, name)
		if v == nil || v.Kind == 'n' {
			return p, spec.Fail("each", nil, "Row %d of each.in has no value for %q, which the request or include requires.", number, name)
		}
		text, ok := find.Scalar(v)
		if !ok && !slices.Contains(e.Include, name) {
			return p, spec.Fail("each", nil, "In row %d of each.in, %q is not a string, number or boolean.", number, name)
		}
		token := e.As
		if name != "" {
			token += "." + name
		}
		p.texts[token] = text
		raw := v.Append(nil)
		_, _ = fmt.Fprintf(hash, "%d:%s", len(raw), raw)
		if slices.Contains(e.Include, name) {
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
	if r.f.Options.Rows == nil {
		return errors.New("there are no feeds to read")
	}
	rows, version, err := r.f.Options.Rows(ctx, r.job.Workspace, r.spec.Each.Feed, r.spec.Each.Uses)
	if errors.Is(err, feedmill.ErrNotFound) {
		return spec.Fail("each", err, "The feed %s in each.in does not exist or has no data yet.", r.spec.Each.Feed)
	}
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok && errors.Is(err, feedmill.ErrInvalid) {
		detail := refusal.Detail
		if len(refusal.Faults) > 0 {
			detail = refusal.Faults[0].Detail
		}
		return spec.Fail("each", err, "The rows of the feed %s in each.in do not have the columns that the request or include requires. %s", r.spec.Each.Feed, spec.UpperFirst(detail))
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
			row, err := spec.ParseDocument(line)
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
	list := r.spec.Each.List
	parentSpec := *list.Spec
	parentSpec.MaxAttempts, parentSpec.Rate, parentSpec.Zone, parentSpec.TLS = r.spec.MaxAttempts, r.spec.Rate, r.spec.Zone, r.spec.TLS
	if spec.SameOrigin(parentSpec.Request.Origin, r.spec.Request.Origin) {
		parentSpec.Auth = r.spec.Auth // It is not shown to anybody else.
	}
	inner := *r
	inner.spec, inner.signer, inner.from, inner.stage, inner.lanes = &parentSpec, signerOf(parentSpec.Auth), Position{}, nil, [maxParallel]*lane{}
	inner.result, inner.requests = Result{}, 0
	inner.sink = parentSink{list.Path, filepath.Dir(r.job.Spool.Name()), add}
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
	err = shape.EachRecord(ctx, page, path, spool, func(raw []byte) error {
		v, err := spec.ParseDocument(raw)
		if err != nil {
			return err
		}
		records++
		return p.add(&v)
	})
	return []int64{records}, err
}
