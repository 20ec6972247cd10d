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
		Kind: feedmill.ErrUnavailable, Type: "files-elsewhere",
		Detail: "A file with rows of this feed is not in the data folder of this server. Where several replicas share a database, ask the one that made the feed; after a restore, put the folder of files back.",
	}, err)
}
