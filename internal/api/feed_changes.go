package api

import (
	"errors"
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
)

// changeParameters are the query parameters that say which changes are wanted.
var changeParameters = append([]string{"from", "to"}, slices.DeleteFunc(slices.Clone(rowParameters), func(name string) bool { return name == "version" })...)

// readChanges answers the rows in which two versions of a feed differ.
func (s *Server) readChanges(c *call) (answer, error) {
	if _, given := c.query["from"]; !given {
		c.fault(feedmill.Fault{Parameter: "from", Detail: "from is required: set it to the number of the version that you have."})
	}
	from, to := c.versionNumber("from"), c.versionNumber("to")
	return s.answerRows(c, func() (feedmill.Feed, feedmill.FeedVersion, error) {
		f, err := s.feed(c)
		if err != nil {
			return f, feedmill.FeedVersion{}, err
		}
		if to == 0 {
			to = f.Version
		}
		before, err := s.comparedVersion(c, f, "from", from)
		if err != nil {
			return f, before, err
		}
		after, err := s.comparedVersion(c, f, "to", to)
		if err != nil {
			return f, after, err
		}
		changes, err := s.Feeds.Changes(c.ctx(), before, after)
		return f, changes, err
	})
}

// comparedVersion finds a version to compare. Of one that was there the client learns that
// it is gone: it has to read all rows anew.
func (s *Server) comparedVersion(c *call, f feedmill.Feed, parameter string, number int64) (feedmill.FeedVersion, error) {
	v, err := s.versionOf(c, f, number)
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok && refusal.Type == "no-version" && number <= f.Version {
		err = &feedmill.Error{
			Kind: feedmill.ErrGone, Type: "version-gone", Detail: fmt.Sprintf("Version %d is no longer stored. Read all rows of version %d, and continue from there.", number, f.Version),
			Faults: []feedmill.Fault{{Parameter: parameter, Detail: "The version is no longer stored."}},
		}
	}
	return v, err
}
