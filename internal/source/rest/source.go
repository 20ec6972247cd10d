package rest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/fetch"
	"github.com/feedmill/feedmill/internal/source/rest/shape"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// Source is HTTP APIs as places that feeds have their data from. Goroutines may
// share it.
type Source struct{ fetcher *fetch.Fetcher }

// Options are what a source needs from the service.
type Options = fetch.Options

// NewSource makes the source.
func NewSource(o Options) *Source { return &Source{fetch.NewFetcher(o)} }

// Define checks the definition of a feed and its source.
func (s *Source) Define(body []byte) (feedmill.FeedDefinition, error) {
	d, err := spec.Parse(body, s.fetcher.Options.MaxBytes)
	if err := s.checkURLs(d, err); err != nil {
		return feedmill.FeedDefinition{}, err
	}
	return d.Split(), nil
}

// DefineStored splits a definition that was checked before. Only its URLs are checked
// again: the egress policy may have changed.
func (s *Source) DefineStored(body []byte) (feedmill.FeedDefinition, error) {
	d, err := spec.ParseStored(body)
	if err := s.checkURLs(d, err); err != nil {
		return feedmill.FeedDefinition{}, err
	}
	return d.Split(), nil
}

// DefineFeed checks the definition of one more feed of a source.
func (s *Source) DefineFeed(body, sourceSpec []byte) (feedmill.FeedDefinition, error) {
	return spec.DefineFeed(body, sourceSpec)
}

// Check accepts every definition: only its parents are in the workspace, and those are checked for
// all sources.
func (s *Source) Check(_ context.Context, _ feedmill.ID, def feedmill.FeedDefinition) (feedmill.FeedDefinition, error) {
	return def, nil
}

// Redefine changes a definition; see [spec.Merge].
func (s *Source) Redefine(feed feedmill.Feed, secrets, patch []byte) (feedmill.FeedDefinition, feedmill.FetchAgain, error) {
	d, err := spec.Merge(feed.Spec, secrets, patch, feed.Rules, s.fetcher.Options.MaxBytes)
	if err := s.checkURLs(d, err); err != nil {
		return feedmill.FeedDefinition{}, 0, err
	}
	change, err := spec.ParseDocument(patch)
	if err != nil {
		return feedmill.FeedDefinition{}, 0, err
	}
	again := feedmill.FetchAsPlanned
	if change.Member("auth") != nil || change.Member("tls") != nil {
		again = feedmill.FetchFailed
	}
	for _, name := range []string{"request", "response", "columns", "otherColumns", "pagination", "incremental", "each", "job", "deleted", "rules"} {
		if change.Member(name) != nil {
			again = feedmill.FetchAnew
		}
	}
	return d.Split(), again, nil
}

// Describe is the spec of a feed whose source has another one now.
func (s *Source) Describe(feedSpec, sourceSpec []byte) ([]byte, error) {
	return spec.Overlay(feedSpec, sourceSpec)
}

// Parents is the feed whose rows a definition is repeated for, where there is one.
func (s *Source) Parents(definition []byte) []feedmill.FeedParent {
	const place = "/each/in/feedId"
	if !bytes.Contains(definition, []byte(`"feedId"`)) {
		return nil // as most are
	}
	doc, err := spec.ParseDocument(definition)
	if err != nil {
		return nil
	}
	if v := doc.At(place); v != nil && v.Kind == '"' {
		return []feedmill.FeedParent{{ID: feedmill.ID(v.Text()), Pointer: place}}
	}
	return nil
}

// checkURLs refuses places that the egress policy is known to forbid, besides
// what is wrong already. A name is known only when it is resolved, with each
// request.
func (s *Source) checkURLs(d *spec.Definition, wrong error) error {
	refusal, listed := errors.AsType[*feedmill.Error](wrong)
	if wrong != nil && !listed {
		return wrong
	}
	var faults []feedmill.Fault
	for _, place := range d.URLs() {
		if isLocalName(place.URL.Hostname()) {
			continue
		}
		if err := s.fetcher.Options.CheckURL(place.URL); err != nil {
			faults = append(faults, feedmill.Fault{Pointer: place.Pointer, Detail: "url cannot be used: " + err.Error() + "."})
		}
	}
	switch {
	case len(faults) == 0:
		return wrong
	case !listed:
		return feedmill.Invalid("", faults...)
	}
	all := *refusal
	all.Faults = append(slices.Clone(refusal.Faults), faults...)
	return &all
}

// isLocalName reports whether a host is a name for this machine, which the
// policy knows without resolving it.
func isLocalName(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// Fetch asks for all pages that the feeds do not have the data of.
func (s *Source) Fetch(ctx context.Context, f feedmill.Fetch, sink feedmill.FetchSink) (feedmill.Fetched, error) {
	definition, err := spec.Restore(f.Spec, f.Secrets, f.Rules)
	if err != nil {
		return feedmill.Fetched{}, spec.DefinitionFailure(err)
	}
	if f.Enough > 0 {
		definition.Pagination.MaxBytes = min(definition.Pagination.MaxBytes, s.fetcher.Options.MaxBytes)
	}
	if f.Once {
		definition.MaxAttempts = 1
	}
	job := fetch.Job{Spec: definition, Source: f.Source, Workspace: f.Workspace, Now: f.Now, Spool: f.Spool, Take: f.Take, Trace: f.Trace, Secrets: f.Secrets, KeepSecrets: f.KeepSecrets, Renew: f.Renew}
	var cursor spec.Cursor
	job.Notes = new(fetch.Notes)
	job.Cursor, job.Stage, job.Close, job.Progress = &cursor, f.Stage, f.Close, f.Progress
	full, err := fetch.FullDue(definition, f)
	if err != nil {
		return feedmill.Fetched{}, err
	}
	positions, err := readFeeds(&job, f, sink)
	if err != nil {
		return feedmill.Fetched{}, err
	}
	if job.Position, err = fetch.Earliest(positions...); err != nil {
		return feedmill.Fetched{}, err
	}
	if full && job.Position != nil {
		p, err := fetch.ParsePosition(job.Position)
		if err != nil {
			return feedmill.Fetched{}, err
		}
		job.Position = p.FromStart().Text()
	}
	job.Count, job.CompareRows, job.HadRows = shape.Counting(definition, f), anyCompared(f.Feeds), hadRows(f.Feeds)
	job.Fingerprint = fingerprint(f, full)
	result, err := s.fetcher.Fetch(ctx, job, sink)
	if err != nil {
		return feedmill.Fetched{}, err
	}
	if column, ok := definition.CursorColumn(); ok && result.Records > 0 && cursor.Newest() == "" && !result.SawCursor {
		if f.Stage != "" {
			_ = os.RemoveAll(f.Stage) // else the same records would come again; what is left is swept
		}
		return feedmill.Fetched{}, spec.Fail("no-cursor", nil,
			"None of the %d records has a value at incremental.cursorPath, the column %q, so the next refresh would store all rows again. Correct the path.", result.Records, column)
	}
	before := positions
	if positions, err = advance(definition, before, result.Position, cursor.Newest(), full, f.Now); err != nil {
		return feedmill.Fetched{}, err
	}
	fetched := feedmill.Fetched{NotModified: result.NotModified, Positions: positions, Warnings: job.Notes.Warnings(), Full: full, Partial: cmp.Or(result.Partial, job.Notes.Partial())}
	if definition.Incremental != nil && definition.Incremental.Step > 0 {
		fetched.Again, err = fetch.MarkRows(definition, f.Feeds, positions, before, result.WindowRows)
		return fetched, err
	}
	if definition.Incremental != nil {
		// What is at the cursor or after it comes again, and what is new is not
		// the same as anything that is there: it has another cursor.
		fetched.Again = slices.Repeat([]feedmill.FetchedAgain{{Kept: feedmill.All, Came: feedmill.All}}, len(positions))
	}
	return fetched, nil
}

// readFeeds tells the sink how the pages are read for each feed, and returns the positions of the feeds.
func readFeeds(j *fetch.Job, f feedmill.Fetch, sink feedmill.FetchSink) (positions [][]byte, err error) {
	for i, feed := range f.Feeds {
		response, err := spec.ResponseOf(feed.Spec, feed.Rules)
		if err != nil {
			return nil, spec.DefinitionFailure(err)
		}
		r, err := shape.Reading(j.Spec, response, j.Cursor, f, feed, &j.Notes.Lacking)
		if err == nil {
			r.Notes = j.Notes.Beside(r.Notes)
			err = sink.Read(feed.ID, r)
		}
		if err != nil {
			return nil, err
		}
		j.NoPath = j.NoPath || feed.Version == 0 && response.Path == ""
		j.NumericCursor = j.NumericCursor || j.Spec.HasNumericCursor(feed)
		if i == 0 {
			j.Entry, j.FileColumn, j.Format, j.Encoding = response.Entry, response.FileColumn, r.Format, r.Encoding
		}
		positions = append(positions, feed.Position)
	}
	return positions, nil
}

// advance moves the positions of feeds to where a fetch ended.
func advance(s *spec.Spec, before [][]byte, end []byte, newest string, full bool, at time.Time) (positions [][]byte, err error) {
	positions = make([][]byte, len(before))
	for i := range before {
		if positions[i], err = fetch.Advance(end, before[i], newest); err != nil {
			return nil, err
		}
		if positions[i], err = fetch.NoteFull(s, positions[i], before[i], full, at); err != nil {
			return nil, err
		}
	}
	return positions, nil
}

// fingerprint is the fingerprint of a fetch: what is staged of one fetch is not used for another.
func fingerprint(f feedmill.Fetch, full bool) string {
	print := sha256.New()
	_, _ = fmt.Fprintf(print, "%s\n", f.Spec)
	if full {
		_, _ = fmt.Fprintln(print, "full") // what is staged of an incremental fetch lacks records
	}
	for _, feed := range f.Feeds {
		// A position can come again, where somebody restores a version or has all
		// fetched anew. The number of the version does not.
		_, _ = fmt.Fprintf(print, "%s\n%d\n%s\n%s\n", feed.ID, feed.Version, feed.Spec, feed.Position)
	}
	return hex.EncodeToString(print.Sum(nil)[:16])
}

// anyCompared reports whether one of the feeds knows rows that come again by their
// values alone.
func anyCompared(feeds []feedmill.Feed) bool {
	return slices.ContainsFunc(feeds, func(f feedmill.Feed) bool { return spec.ComparesRows(f.Mode, f.Key) })
}

// hadRows reports whether a feed of a fetch has rows already.
func hadRows(feeds []feedmill.Feed) bool {
	return slices.ContainsFunc(feeds, func(f feedmill.Feed) bool { return f.RowCount > 0 })
}

// Upstream is the version of the feed that a feed at a position was built from, where it is
// known.
func (s *Source) Upstream(text []byte) []feedmill.UpstreamVersion {
	p, err := fetch.ParsePosition(text)
	if err != nil || p.Upstream == 0 {
		return nil
	}
	return []feedmill.UpstreamVersion{{ID: p.UpstreamID, Version: p.Upstream}}
}
