package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// shape is how rows are made of the records of a document where they are not rows
// already.
type shape struct {
	// columns are picked from the record; without keep, nothing else is.
	columns []picked
	keep    bool
	// names are found in the document, and values in the record: one for each.
	names, values []*jsonpath.Path
	// keyAs is a column for the name of the member that the record is.
	keyAs string
}

// picked is a column that is found at a path of the record.
type picked struct {
	name string
	path *jsonpath.Path
	// own is the member of the record that the path is, empty for a longer one.
	own string
	as  string // its type, empty for what is found
	// written is how the API writes its times, nil where that is found.
	written *timeFormat
}

// any reports whether the records are not rows as they are.
func (s *shape) any() bool {
	return len(s.columns) > 0 || !s.keep || len(s.values) > 0 || s.keyAs != ""
}

// reshape makes rows of a page, an object a line, and shows each record to see.
func (r Response) reshape(ctx context.Context, p feedmill.FetchedPage, see func(record *strictjson.Value)) ([]byte, error) {
	if p.Format != "json" && p.Format != "ndjson" {
		return nil, fail("wrong-content-type", nil, "The answer is %s; columns, names, values, keyAs and each.include are for JSON.", p.Format)
	}
	var path *jsonpath.Path
	if r.Path != "" {
		path, _ = jsonpath.Parse(r.Path)
	}
	doc, err := readDocument(ctx, p.Body, p.Body.Size())
	if err != nil {
		return nil, err
	}
	var names []string
	for _, path := range r.Shape.names {
		found, err := doc.texts(path)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	var out []byte
	number := 0
	err = doc.records(path, r.Shape.keyAs != "", func(key string, raw []byte) error {
		number++
		row, err := r.Shape.row(ctx, key, raw, names, see)
		if err != nil {
			return fail("column", nil, "Record %d of page %d: %s.", number, p.Number, err)
		}
		for _, c := range p.With {
			row.Set(c.Name, strictjson.Value{Kind: jsontext.Value(c.JSON).Kind(), Raw: c.JSON})
		}
		out = append(row.Append(out), '\n')
		return nil
	})
	return out, err
}

// row makes a row of a record.
func (s *shape) row(ctx context.Context, key string, raw []byte, names []string, see func(*strictjson.Value)) (strictjson.Value, error) {
	record := tolerant(raw)
	if see != nil {
		see(&record)
	}
	row := strictjson.Value{Kind: '{'}
	if s.keyAs != "" {
		row.Set(s.keyAs, strictjson.String(key))
	}
	var doc *jsonDocument
	if len(s.values) > 0 || len(s.columns) > 0 {
		var err error
		if doc, err = parseTree(ctx, raw); err != nil {
			return row, err
		}
	}
	for _, path := range s.values {
		nodes, err := doc.find(path)
		if err != nil {
			return row, err
		}
		for _, node := range nodes {
			at := len(row.Members)
			if s.keyAs != "" {
				at--
			}
			row.Set(nameAt(names, at), doc.value(node))
		}
	}
	var gone []string
	for _, c := range s.columns {
		value := strictjson.Value{Kind: 'n', Raw: []byte("null")}
		nodes, err := doc.find(c.path)
		if err != nil {
			return row, err
		}
		if len(nodes) > 0 {
			value = doc.value(nodes[0])
		}
		if value, err = c.value(value); err != nil {
			return row, fmt.Errorf("the column %q %w", c.name, err)
		}
		row.Set(c.name, value)
		gone = append(gone, c.own)
	}
	switch {
	case !s.keep, len(s.values) > 0:
	case record.Kind == '{':
		for _, m := range record.Members {
			if !slices.Contains(gone, m.Name) && row.Member(m.Name) == nil {
				row.Set(m.Name, m.Value)
			}
		}
	case len(s.columns) == 0:
		row.Set("value", record)
	}
	return row, nil
}

// nameAt is the name of a value among others, or one that says its place.
func nameAt(names []string, at int) string {
	if at >= len(names) || names[at] == "" {
		return fmt.Sprint("column_", at+1)
	}
	if before := slices.Index(names[:at], names[at]); before >= 0 {
		return fmt.Sprint(names[at], "_", at+1)
	}
	return names[at]
}

// typed is a value as one of a type. What does not fit is an error: nothing is
// rounded or left out.
func typed(v strictjson.Value, as string) (strictjson.Value, error) {
	text, isScalar := scalar(&v)
	number := func() bool {
		_, err := strconv.ParseFloat(text, 64)
		return err == nil && jsontext.Value(text).IsValid() && jsontext.Value(text).Kind() == '0'
	}
	switch {
	case as == "" || v.Kind == 'n' || as == "json":
		return v, nil
	case as == "text":
		if !isScalar {
			text = string(v.Append(nil))
		}
		return strictjson.String(text), nil
	case !isScalar:
		return v, fmt.Errorf("is %s, which is no %s", strictjson.KindName(v.Kind), as)
	case as == "boolean" && (text == "true" || text == "false"):
		return strictjson.Value{Kind: jsontext.Kind(text[0]), Raw: []byte(text)}, nil
	case as == "integer" && isNumber(text) && !strings.Contains(text, ".") && number(),
		(as == "decimal" || as == "number") && number():
		return strictjson.Value{Kind: '0', Raw: []byte(text)}, nil
	case as == "date" || as == "timestamp":
		if v := parseCursor(text); v.class == cursorTime {
			return strictjson.String(text), nil
		}
	}
	return v, fmt.Errorf("has the value %q, which is no %s", shorten(text), as)
}

// jsonDocument is a document of JSON in memory.
type jsonDocument struct {
	ctx   context.Context // of the one page that it is
	data  []byte
	tree  jsonpath.Tree
	lines bool
}

// readDocument reads a document.
func readDocument(ctx context.Context, src io.ReaderAt, size int64) (*jsonDocument, error) {
	if size > maxTree {
		return nil, fail("data-too-large", nil, "A page has more than %d bytes, which is too much to make other rows of; ask for smaller pages.", maxTree)
	}
	data := make([]byte, size)
	if n, err := src.ReadAt(data, 0); n < len(data) {
		return nil, err
	}
	return parseTree(ctx, bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
}

func parseTree(ctx context.Context, data []byte) (*jsonDocument, error) {
	doc := &jsonDocument{ctx: ctx, data: data}
	d := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err := fillTree(&doc.tree, d, 0); err != nil {
		return nil, &feedmill.Error{Kind: feedmill.ErrUnprocessable, Type: "invalid-json", Detail: "the answer is no JSON that could be read"}
	}
	_, err := d.ReadToken()
	doc.lines = !errors.Is(err, io.EOF)
	return doc, nil
}

// find is what a path leads to.
func (d *jsonDocument) find(path *jsonpath.Path) ([]jsonpath.Node, error) {
	return path.Select(jsonpath.NewWork(d.ctx, int64(len(d.data))), &d.tree)
}

// raw is the text of a node.
func (d *jsonDocument) raw(n jsonpath.Node) []byte {
	start, end := d.tree.Range(n)
	return d.data[start:end]
}

func (d *jsonDocument) value(n jsonpath.Node) strictjson.Value { return tolerant(d.raw(n)) }

// texts are the values of a path, as names.
func (d *jsonDocument) texts(path *jsonpath.Path) (texts []string, err error) {
	nodes, err := d.find(path)
	for _, n := range nodes {
		v := d.value(n)
		text, _ := scalar(&v)
		texts = append(texts, text)
	}
	return texts, err
}

// tolerant is a JSON text as a value. Of names that stand twice the last counts.
func tolerant(raw []byte) strictjson.Value {
	raw = bytes.TrimSpace(raw)
	kind := jsontext.Value(raw).Kind()
	v := strictjson.Value{Kind: kind, Raw: raw}
	if kind != '{' && kind != '[' {
		return v
	}
	d := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, _ = d.ReadToken()
	for kind == '[' && d.PeekKind() != ']' {
		inner, err := d.ReadValue()
		if err != nil {
			break
		}
		v.Items = append(v.Items, tolerant(bytes.Clone(inner)))
	}
	for kind == '{' && d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			break
		}
		text := name.String()
		inner, err := d.ReadValue()
		if err != nil {
			break
		}
		v.Set(text, tolerant(bytes.Clone(inner)))
	}
	return v
}

// eachRecord gives fn the records of a document.
func eachRecord(ctx context.Context, src io.ReaderAt, size int64, path *jsonpath.Path, fn func(raw []byte) error) error {
	doc, err := readDocument(ctx, src, size)
	if err != nil {
		return err
	}
	return doc.records(path, false, func(_ string, raw []byte) error { return fn(raw) })
}

// records gives fn the records: what the path leads to, or else the elements of the
// root array or of the first array of objects in the root, or else the root. With
// keyed they are members of objects, and their names are given, too.
func (d *jsonDocument) records(path *jsonpath.Path, keyed bool, fn func(key string, raw []byte) error) error {
	if d.lines {
		return d.eachLine(fn)
	}
	if path == nil || keyed {
		return d.members(path, keyed, fn)
	}
	nodes, err := d.find(path)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if err := fn("", d.raw(n)); err != nil {
			return err
		}
	}
	return nil
}

// eachLine gives fn values that follow each other.
func (d *jsonDocument) eachLine(fn func(key string, raw []byte) error) error {
	decoder := jsontext.NewDecoder(bytes.NewReader(d.data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		raw, err := decoder.ReadValue()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &feedmill.Error{Kind: feedmill.ErrUnprocessable, Type: "invalid-json", Detail: "the answer is no JSON that could be read"}
		}
		if err := fn("", bytes.Clone(raw)); err != nil {
			return err
		}
	}
}

// members gives fn the records of a document whose path is not given, or the members
// of objects with their names.
func (d *jsonDocument) members(path *jsonpath.Path, keyed bool, fn func(key string, raw []byte) error) error {
	root := tolerant(d.data)
	if keyed {
		holders := []strictjson.Value{root}
		if holder := holderOf(path); holder != nil {
			nodes, err := d.find(holder)
			if err != nil {
				return err
			}
			holders = nil
			for _, n := range nodes {
				holders = append(holders, d.value(n))
			}
		}
		for _, holder := range holders {
			for _, m := range holder.Members {
				if err := fn(m.Name, m.Value.Append(nil)); err != nil {
					return err
				}
			}
		}
		return nil
	}
	list := root.Raw
	if root.Kind == '{' {
		list = nil
		for _, m := range root.Members {
			if m.Value.Kind == '[' && (list == nil || bytes.HasPrefix(bytes.TrimSpace(m.Value.Raw[1:]), []byte("{"))) {
				if list = m.Value.Raw; bytes.HasPrefix(bytes.TrimSpace(list[1:]), []byte("{")) {
					break
				}
			}
		}
	}
	if list == nil || root.Kind != '{' && root.Kind != '[' {
		return fn("", d.data)
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(list), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, _ = decoder.ReadToken()
	for decoder.PeekKind() != ']' {
		raw, err := decoder.ReadValue()
		if err != nil {
			return err
		}
		if err := fn("", bytes.Clone(raw)); err != nil {
			return err
		}
	}
	return nil
}

// holderOf is the path to the object whose members a path selects, nil for the root.
func holderOf(path *jsonpath.Path) *jsonpath.Path {
	if path == nil {
		return nil
	}
	text := strings.TrimSuffix(strings.TrimSuffix(path.String(), "[*]"), ".*")
	holder, err := jsonpath.Parse(text)
	if err != nil || text == "$" {
		return nil
	}
	return holder
}
