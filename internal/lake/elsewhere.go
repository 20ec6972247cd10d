package lake

import (
	"errors"
	"fmt"

	"github.com/feedmill/feedmill"
)

// Elsewhere is the error of a file that a record names and that is not here. That
// there is no such feed would be untrue: its files are in the folder of another
// replica, or were taken away.
func Elsewhere(err error) error {
	if !errors.Is(err, feedmill.ErrNotFound) {
		return err
	}
	return fmt.Errorf("%w (%v)", &feedmill.Error{
		Kind: feedmill.ErrUnavailable, Type: "files-elsewhere", RetryAfter: -1, Title: "The files of this feed are elsewhere",
		Detail: "A file with rows of this feed is not in the data folder of this server. If several replicas share a database, send the request to the replica that stores the feed. After a restore, restore the folder of files too.",
	}, err)
}
