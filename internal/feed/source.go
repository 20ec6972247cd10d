package feed

import (
	"context"

	"github.com/feedmill/feedmill"
)

// Source is a kind of places that data is fetched from, such as REST APIs. What
// is wrong with a definition is a [*feedmill.Error] with pointers into it.
type Source interface {
	// Define checks the definition of a feed and its source, and splits it into
	// what is kept where. With an error there is a spec where the definition can be
	// checked further, so that all of its faults are listed.
	Define(body []byte) (feedmill.FeedDefinition, error)
	// DefineStored splits a definition that was checked before, such as one that a
	// manifest leads to, without checking it again.
	DefineStored(body []byte) (feedmill.FeedDefinition, error)
	// DefineFeed checks the definition of one more feed of a source.
	DefineFeed(body, sourceSpec []byte) (feedmill.FeedDefinition, error)
	// Check inspects what a definition names in its workspace, and completes it by that. What
	// is wrong is a [*feedmill.Error] with pointers into its spec.
	Check(ctx context.Context, workspace feedmill.ID, def feedmill.FeedDefinition) (feedmill.FeedDefinition, error)
	// Redefine changes the definition of a feed and its source: members of the
	// patch replace the old ones. An error is as Define's. The rules stay unless the patch sets them.
	Redefine(feed feedmill.Feed, secrets, patch []byte) (feedmill.FeedDefinition, feedmill.FetchAgain, error)
	// Describe is the spec of a feed whose source has another one now.
	Describe(feedSpec, sourceSpec []byte) ([]byte, error)
	// Parents are the feeds whose rows a definition is built from.
	Parents(spec []byte) []feedmill.FeedParent
	// Upstream are the versions of the parents that a feed at a position was built from, as
	// far as they are known. Positions of the first releases have no ids.
	Upstream(position []byte) []feedmill.UpstreamVersion
	// Fetch brings the data that the feeds do not have. The error is a
	// [*feedmill.SourceFailure] where the source is at fault, what the sink
	// failed with, what ctx ended with, or a fault of the service itself.
	Fetch(ctx context.Context, f feedmill.Fetch, sink feedmill.FetchSink) (feedmill.Fetched, error)
}

// check completes a definition by what it names in a workspace. refusal is the error that the
// definition was read with: one that can be checked further gets the other faults.
func check(ctx context.Context, s Source, workspace feedmill.ID, def feedmill.FeedDefinition, refusal error) (feedmill.FeedDefinition, error) {
	if refusal != nil && def.Spec == nil {
		return def, refusal
	}
	def, err := s.Check(ctx, workspace, def)
	return def, feedmill.WithFaults(refusal, err)
}
