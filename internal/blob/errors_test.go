package blob

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/feedmill/feedmill"
)

func TestFullDeviceHasNoRoom(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	if _, err := (&draft{folder: new(Folder), file: full}).Write([]byte("x")); !errors.Is(err, feedmill.ErrNoRoom) {
		t.Error(err)
	}
}

func TestClassify(t *testing.T) {
	other := errors.New("other")
	for _, test := range []struct{ err, want error }{
		{nil, nil},
		{fs.ErrNotExist, feedmill.ErrNotFound},
		{fs.ErrExist, feedmill.ErrConflict},
		{other, other},
	} {
		if got := classify(test.err); !errors.Is(got, test.want) {
			t.Errorf("%v became %v", test.err, got)
		}
	}
	if errors.Is(classify(other), feedmill.ErrUnavailable) {
		t.Error("any error is one of the disk")
	}
}
