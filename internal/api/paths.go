package api

import (
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
)

// pathWords are the segments that the paths of the API consist of, but for the
// parameters.
type pathWords map[string]bool

func (p pathWords) add(path string) {
	for word := range strings.SplitSeq(path, "/") {
		if !strings.HasPrefix(word, "{") {
			p[word] = true
		}
	}
}

// idPrefixes are those of the ids that stand in paths.
var idPrefixes = []string{
	feedmill.PrefixWorkspace, feedmill.PrefixKey, feedmill.PrefixDataFeed, feedmill.PrefixRefresh, feedmill.PrefixSubscription,
	feedmill.PrefixEvent, feedmill.PrefixDelivery, feedmill.PrefixAttempt, feedmill.PrefixReplay, feedmill.PrefixLink, feedmill.PrefixConnection,
	feedmill.PrefixPortalLink,
}

// logged is a path as the log may have it: of known words and ids. Anything
// else can be a secret, because some clients will take a key for its id, and a
// key that an operator chose can be any text.
func (p pathWords) logged(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		prefix, _, _ := strings.Cut(segment, "_")
		if _, err := strconv.ParseUint(segment, 10, 31); err == nil {
			continue // the number of a version
		}
		if !p[segment] && !(slices.Contains(idPrefixes, prefix) && feedmill.IsID(prefix, segment)) {
			segments[i] = "***"
		}
	}
	return strings.Join(segments, "/")
}
