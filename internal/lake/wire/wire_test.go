package wire

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

func TestFrames(t *testing.T) {
	var b bytes.Buffer
	bodies := []string{"", "a", string(make([]byte, 100_000))}
	for _, body := range bodies {
		if err := Write(&b, KindData, []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	whole := b.String()
	var buf []byte
	for _, body := range bodies {
		kind, got, err := Read(&b, buf)
		if err != nil || kind != KindData || string(got) != body {
			t.Errorf("%c, %d bytes, %v", kind, len(got), err)
		}
		buf = got
	}
	if _, _, err := Read(&b, nil); err != io.EOF {
		t.Errorf("after the last: %v", err)
	}
	for _, cut := range []int{1, 6, 10, len(whole) - 1} {
		r := bytes.NewReader([]byte(whole[:cut]))
		var err error
		for err == nil {
			_, _, err = Read(r, nil)
		}
		if want := io.ErrUnexpectedEOF; !errors.Is(err, want) {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("D\x01\x00\x00\x00a"))
	f.Add([]byte("D\xff\xff\xff\xffa"))
	f.Fuzz(func(t *testing.T, in []byte) {
		kind, body, err := Read(bytes.NewReader(in), nil)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, kind, body); err != nil || !bytes.HasPrefix(in, b.Bytes()) {
			t.Errorf("%q came back as %q, %v", in, b.Bytes(), err)
		}
	})
}
