package xml

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// Plist is a property list of Apple's, as JSON: a dict is an object, whose names are what its keys say, and an array is an
// array. As XML it would be a list of keys beside lists of values, in which nobody finds out what belongs to what.
type Plist struct {
	// JSON is the property list; nil where the document is none.
	JSON input.Source
	Document
}

// OpenPlist writes a property list as JSON. Of the options the encodings and the folder count.
func OpenPlist(ctx context.Context, src input.Source, options Options) (*Plist, error) {
	p := &Plist{Document: newDocument(src, options)}
	err := p.open(ctx, options)
	if err != nil {
		_ = p.Close() // what is lost with it is lost
		return nil, Refusal(err)
	}
	return p, nil
}

func (p *Plist) open(ctx context.Context, options Options) error {
	if named, err := p.mentions("plist"); !named || err != nil {
		return err
	}
	if err := p.decode(ctx, options.Encoding, options.Charset); err != nil {
		return err
	}
	w := &plistWriter{xml: p.Reader(ctx)}
	w.xml.DropBlank = true
	if kind, err := w.xml.Next(); err != nil || kind != StartElement || w.xml.Name().Local != "plist" || w.xml.Name().Space != "" {
		return err
	}
	var err error
	p.JSON, err = p.spool.Write(func(to io.Writer) error {
		w.to = bufio.NewWriterSize(to, 64<<10)
		if err := w.write(); err != nil {
			return err
		}
		return w.to.Flush()
	})
	return err
}

// plistWriter writes a property list as JSON.
type plistWriter struct {
	xml  *Reader
	to   *bufio.Writer
	text []byte
	// open are the elements that are open, from the plist on.
	open []plistOpen
}

// plistOpen is an element that is open: which, how many values it has so far, and whether a key was read
// whose value is to come.
type plistOpen struct {
	name   string
	values int
	keyed  bool
}

// write writes what follows the tag of the root.
func (w *plistWriter) write() error {
	w.open = []plistOpen{{name: "plist"}}
	for {
		kind, err := w.xml.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch kind {
		case StartElement:
			err = w.begin(w.xml.Name().Local)
		case EndElement:
			err = w.end()
		case Text:
			if !isBlank(w.xml.Text()) {
				err = w.fault("unexpected text in the property list")
			}
		}
		if err != nil {
			return err
		}
	}
}

// begin reads an element whose tag was read, and all of it where it has no others in it.
func (w *plistWriter) begin(name string) error {
	top := &w.open[len(w.open)-1]
	switch {
	case top.name == "dict" && !top.keyed && name != "key":
		return w.fault("a value in a dict has no key before it")
	case name == "key" && (top.name != "dict" || top.keyed):
		return w.fault("expected a value, found a key")
	case top.name == "plist" && top.values > 0:
		return w.fault("a property list must have one value")
	}
	if top.values > 0 && !top.keyed {
		w.to.WriteByte(',')
	}
	if name == "key" {
		top.keyed = true
		text, err := w.read()
		if err != nil {
			return err
		}
		w.text, _ = jsontext.AppendQuote(w.text[:0], text)
		w.to.Write(append(w.text, ':'))
		return nil
	}
	top.values++
	top.keyed = false
	switch name {
	case "dict", "array":
		w.open = append(w.open, plistOpen{name: name})
		return w.to.WriteByte(opening(name))
	case "true", "false", "string", "integer", "real", "date", "data":
		text, err := w.read()
		if err != nil {
			return err
		}
		_, err = w.to.Write(w.value(name, text))
		return err
	}
	return w.fault(fmt.Sprintf("%s is not an element of a property list; set a path such as /plist/dict to read the document as plain XML", excerpt(name)))
}

func opening(name string) byte {
	if name == "dict" {
		return '{'
	}
	return '['
}

// end ends an element.
func (w *plistWriter) end() error {
	top := w.open[len(w.open)-1]
	w.open = w.open[:len(w.open)-1]
	switch {
	case top.keyed:
		return w.fault("the last key of a dict has no value")
	case top.name == "plist" && top.values == 0:
		_, err := w.to.WriteString("null")
		return err
	case top.name == "plist":
		return nil
	}
	return w.to.WriteByte(opening(top.name) + 2) // as } is to { and ] to [
}

// read reads the text of an element that has no others in it, up to its end.
func (w *plistWriter) read() ([]byte, error) {
	if text, ok := w.xml.TextOnly(); ok {
		return text, nil
	}
	var all []byte
	for {
		kind, err := w.xml.Next()
		switch {
		case err != nil:
			return nil, err
		case kind == StartElement:
			return nil, w.fault("unexpected element in the property list; expected text")
		case kind == EndElement:
			return all, nil
		}
		if all = append(all, w.xml.Text()...); len(all) > maxFieldBytes {
			return nil, w.fault(fmt.Sprintf("the text is longer than %d bytes, the maximum for a cell", maxFieldBytes))
		}
	}
}

// value is a value as JSON. A number that JSON cannot say, such as 0x1F or nan, is a text.
func (w *plistWriter) value(name string, text []byte) []byte {
	switch name {
	case "true", "false":
		return append(w.text[:0], name...)
	case "integer", "real":
		text = trimBlank(text)
		if number := jsontext.Value(text); len(text) > 0 && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') && number.IsValid() {
			return text
		}
	case "data":
		text = slices.DeleteFunc(slices.Clone(text), func(c byte) bool { return classOf[c]&spaceByte != 0 })
	case "date":
		text = trimBlank(text)
	}
	w.text, _ = jsontext.AppendQuote(w.text[:0], text)
	return w.text
}

func (w *plistWriter) fault(detail string) error { return w.xml.Fault(detail) }
