package xml

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// Document is the text of a document, in UTF-8.
type Document struct {
	src   input.Source
	spool *input.Spool
	// transcoded says that the data was not UTF-8.
	transcoded bool
	// encoding is the one that was set, or that the document declares, where it is not UTF-8.
	encoding feedmill.Finding
}

func newDocument(src input.Source, options Options) Document {
	return Document{src: src, spool: input.NewSpool(options.Temp)}
}

// OpenDocument transcodes a document where it is not UTF-8. Of the options the encodings and the folder apply.
func OpenDocument(ctx context.Context, src input.Source, options Options) (*Document, error) {
	d := newDocument(src, options)
	if err := d.decode(ctx, options.Encoding, options.Charset); err != nil {
		_ = d.Close() // what is lost with it is lost
		return nil, Refusal(err)
	}
	return &d, nil
}

// Reader returns a reader from the beginning of the document.
func (d *Document) Reader(ctx context.Context) *Reader {
	r := NewReader(input.NewContextReader(ctx, io.NewSectionReader(d.src, 0, d.src.Size())))
	r.AnyEncoding = d.transcoded
	return r
}

// Encoding is the encoding of the document where it is not UTF-8.
func (d *Document) Encoding() feedmill.Finding { return d.encoding }

// Close removes the temporary file where there is one.
func (d *Document) Close() error { return d.spool.Close() }

// mentions reports whether the head of the document has a word, in UTF-8 or UTF-16, before the document is decoded.
func (d *Document) mentions(word string) (bool, error) {
	head := make([]byte, min(d.src.Size(), HeadBytes))
	if err := input.ReadFull(d.src, head, 0); err != nil {
		return false, fmt.Errorf("read the head of the XML: %w", err)
	}
	return bytes.Contains(bytes.ReplaceAll(head, []byte{0}, nil), []byte(word)), nil
}

// Refusal is an error as the client sees it.
func Refusal(err error) error {
	if fault, ok := errors.AsType[*Fault](err); ok {
		at := input.Position{Line: fault.Line, Column: fault.Column, Offset: fault.Offset}
		return input.Refuse(invalidXML, "the XML is not valid at %v: %s", at, fault.Detail)
	}
	return err
}

// decode makes the data UTF-8. An encoding that is set takes precedence over the one that the document declares, and that over one that was said.
func (d *Document) decode(ctx context.Context, set, said string) error {
	head := make([]byte, min(d.src.Size(), HeadBytes))
	if err := input.ReadFull(d.src, head, 0); err != nil {
		return fmt.Errorf("read the head of the XML: %w", err)
	}
	if int64(len(head)) == d.src.Size() && len(bytes.Trim(bytes.TrimPrefix(head, utf8Mark), " \t\r\n")) == 0 {
		return input.ErrNoData
	}
	encoding, err := FindEncoding(head)
	if known, ok := input.EncodingNamed(set); ok && !strings.HasPrefix(encoding.Name, "utf-16") {
		encoding.Name, err, d.transcoded, d.encoding = string(known), nil, true, feedmill.Finding{Value: string(known), By: feedmill.BySet}
	}
	if err != nil {
		return err
	}
	if known, ok := input.EncodingNamed(said); ok && set == "" && encoding == (Encoding{Name: string(input.UTF8)}) && known != input.UTF8 {
		valid, err := input.IsUTF8(ctx, d.src)
		if err != nil {
			return fmt.Errorf("survey the XML: %w", err)
		}
		if !valid {
			encoding.Name = string(known)
		}
	}
	if encoding.Name == string(input.UTF8) {
		return nil
	}
	body := io.NewSectionReader(d.src, int64(encoding.Mark), d.src.Size()-int64(encoding.Mark))
	known, ok := input.EncodingNamed(encoding.Name)
	if !ok {
		return input.Refuse("unknown-encoding", "the document declares the encoding %s, which is not supported; write it in UTF-8", excerpt(encoding.Declared))
	}
	if known == input.UTF8 {
		return nil
	}
	d.transcoded = true
	if d.encoding.Value == "" {
		d.encoding = feedmill.Found(string(known), true)
	}
	d.src, err = input.Transcode(ctx, body, known, int64(encoding.Mark), d.spool)
	return err
}
