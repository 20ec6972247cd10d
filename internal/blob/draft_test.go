package blob_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

func TestDraft(t *testing.T) {
	f, _ := open(t)
	if _, err := f.Begin("../a"); err == nil {
		t.Error("a name that leads out was taken")
	}
	d, err := f.Begin("a/b")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := io.WriteString(d, "hello, "); err != nil {
		t.Fatal(err)
	}
	part := make([]byte, 5)
	if _, err := d.ReadAt(part, 0); err != nil || string(part) != "hello" || d.Size() != 7 {
		t.Errorf("read %q of %d bytes, %v", part, d.Size(), err)
	}
	if got := names(t, f); len(got) != 0 {
		t.Errorf("there is %v before it is kept", got)
	}
	if _, err := io.WriteString(d, "world"); err != nil {
		t.Fatal(err)
	}
	if err := d.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.ReadAt(part, 7); err != nil || string(part) != "world" {
		t.Errorf("read %q after it was kept, %v", part, err)
	}
	d.Close()
	b, err := f.Open(t.Context(), "a/b")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if got, err := io.ReadAll(b); string(got) != "hello, world" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestDraftThatIsNotKept(t *testing.T) {
	f, _ := open(t)
	if err := put(f, "taken", "text"); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		name string
		keep bool
		ctx  context.Context
		want error
	}{
		{"given up", false, nil, nil},
		{"too late", true, ended, context.Canceled},
		{"taken", true, t.Context(), feedmill.ErrConflict},
	} {
		d, err := f.Begin(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(d, "other"); err != nil {
			t.Fatal(err)
		}
		if c.keep {
			if err := d.Keep(c.ctx); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		d.Close()
	}
	if got := names(t, f); len(got) != 1 {
		t.Errorf("kept %v", got)
	}
	if n, err := f.Sweep(t.Context(), time.Now().Add(time.Hour)); n != 0 || err != nil {
		t.Errorf("%d temporary files were left, %v", n, err)
	}
}
