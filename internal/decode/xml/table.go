package xml

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// invalidXML is the stable name of the problem that a document is no XML.
const invalidXML = "invalid-xml"

// Table is a document whose records are elements.
//
// An element of a record that has only text is a column of its name; elements in it flatten
// to a.b, its attributes are a.@name, and the text of an element that has attributes or
// elements, too, is a.#text. Text between elements is kept with theirs. Elements of one name that stand
// several times in one element anywhere in the records are JSON in all of them: an array of
// texts, or of objects with the same names. So is an element that has one of its own name in it.
// An empty element is null, and so is one that says xsi:nil; but <true/> and <false/> are what they are called.
//
// The records and the columns are known when the table is open.
type Table struct {
	columnar.PlainColumns
	// remembered says that the path was found before, and not set.
	remembered bool
	Document
	// plainLines says that it has no carriage returns.
	plainLines bool
	path       string
	emptyCells int64
	exploded   int
	tagByTag   bool

	survey  *survey
	shape   *shape
	records []*node
	blocks  []block
	readers sync.Pool
	// sheet is the sheet that is read where the document is a workbook.
	sheet    *sheet
	warnings []feedmill.Warning
	// around are the values around the records, in the columns behind those of the records.
	around input.ContextValues

	// What the first reading finds.
	whole bool
	rows  int64
}

// Options say where the records are.
type Options struct {
	// Path is the path of the records, such as /feed/entry or //row. Where it is empty they
	// are found.
	Path string
	// Explode is the path below the record to elements that become rows, with what else is in
	// the record repeated for each. A record without such elements is one row.
	Explode string
	// Remembered says that the path is where the records were found before.
	Remembered bool
	// Encoding is a name of the WHATWG; empty where the document says what it is. Charset
	// is one that was said by the way, and counts where the document says nothing and is
	// not UTF-8.
	Encoding, Charset string
	// Rules is the version of the rules that the records are found by, and Context says what becomes of the values around them.
	Rules   feedmill.Rules
	Context input.Context
	// Temp is the folder for a temporary file, which data takes that is not UTF-8; empty
	// is that of the system.
	Temp string

	// blockBytes is for tests that want many small blocks, and emptyCells for those that want a
	// lower limit.
	blockBytes, emptyCells int64
	// exploded is for tests that want fewer values of a record to be too many.
	exploded int
	// tagByTag is for tests that want nothing to be passed at once.
	tagByTag bool
}

// usualBlockBytes is about how much data is decoded at once.
const usualBlockBytes = 1 << 20

// Open reads a document and finds its records.
func Open(ctx context.Context, src input.Source, options Options) (*Table, error) {
	t := &Table{Document: newDocument(src, options), path: options.Path, remembered: options.Remembered, tagByTag: options.tagByTag, emptyCells: cmp.Or(options.emptyCells, input.MaxEmptyCells), exploded: cmp.Or(options.exploded, input.MaxExploded)}
	if err := t.open(ctx, options); err != nil {
		_ = t.Close() // what is lost with it is lost
		return nil, Refusal(err)
	}
	return t, nil
}

func (t *Table) open(ctx context.Context, options Options) error {
	var path recordPath
	var explode []pathStep
	var err error
	if options.Path != "" {
		if path, err = parsePath(options.Path); err != nil {
			return err
		}
	}
	if options.Explode != "" {
		if explode, err = parseExplode(options.Explode); err != nil {
			return err
		}
	}
	if err := t.decode(ctx, options.Encoding, options.Charset); err != nil {
		return err
	}
	xml := t.Reader(ctx)
	if t.survey, err = surveyDocument(xml, path, cmp.Or(options.blockBytes, usualBlockBytes), t.tagByTag); err != nil {
		return err
	}
	t.plainLines = !xml.Returns
	if path == nil && t.survey.isWorkbook() {
		return t.openSheet(ctx)
	}
	if path == nil {
		t.survey.locate()
	}
	t.records = t.survey.recordNodes()
	if root := t.survey.document.children[0].path(); t.remembered && !strings.HasPrefix(t.path+"/", root+"/") {
		return input.Refuse("records-moved", "the feed reads records at %s, but the root of the document is %s; set path to where the records are", t.path, root)
	}
	for _, n := range t.records {
		if n.largest > maxRecordBytes {
			return t.failAt(n.largestAt, "the record is longer than %d bytes, the maximum; set path to select smaller records", maxRecordBytes)
		}
	}
	if t.shape, err = newShape(t.records, explode); err != nil {
		return err
	}
	if path == nil {
		t.warnings = t.survey.others(t.records, options.Rules)
	}
	if t.shape.unexploded && len(t.records) > 0 {
		t.warnings = append(t.warnings, input.NothingExploded(options.Explode))
	}
	if err := t.lookAround(ctx, options.Context); err != nil {
		return err
	}
	t.cutBlocks()
	return nil
}

// Found is where the records are.
func (t *Table) Found() (f feedmill.Findings) {
	switch {
	case t.path != "" && t.remembered:
		f.Path = feedmill.Found(t.path, true)
	case t.path != "":
		f.Path = feedmill.Finding{Value: t.path, By: feedmill.BySet}
	case len(t.records) == 1:
		// Where there is but one record it could be something around it, or in it.
		f.Path = feedmill.Found(t.records[0].path(), t.records[0].repeats())
	}
	switch {
	case t.sheet != nil:
	case t.path == "":
		f.Candidates = t.survey.listCandidates(t.records)
	case !t.remembered:
		f.Candidates = t.besides()
	}
	f.Encoding = t.encoding
	return f
}

// maxBesides is how large a document may be that is read once more for the places that a path
// has not taken.
const maxBesides = 32 << 20

// besides are the places where the records may be besides the path that was set, which is
// first: one who has taken a path may want another.
func (t *Table) besides() []feedmill.RecordCandidate {
	taken := t.survey.listCandidates(t.records)
	taken = taken[:min(len(taken), len(t.records))]
	if t.src.Size() > maxBesides {
		return taken
	}
	xml := NewReader(io.NewSectionReader(t.src, 0, t.src.Size()))
	xml.AnyEncoding = t.transcoded
	whole, err := surveyDocument(xml, nil, usualBlockBytes, t.tagByTag)
	if err != nil { // what the path leads to was read, and that is what counts
		return taken
	}
	for _, c := range whole.listCandidates(nil) {
		if !slices.ContainsFunc(taken, func(o feedmill.RecordCandidate) bool { return o.Path == c.Path }) {
			taken = append(taken, c)
		}
	}
	return taken[:min(len(taken), feedmill.MaxCandidates)]
}

// failAt refuses the document for what is at a place in it.
func (t *Table) failAt(offset int64, format string, args ...any) error {
	at, err := input.PositionAt(t.src, offset, '\n')
	if err != nil {
		return err
	}
	return input.Refuse(invalidXML, "the XML is not valid at %v: %s", at, fmt.Sprintf(format, args...))
}

// Names are what the document calls the columns, in the order in which they first appear.
func (t *Table) Names() []string { return t.shape.names }

// Rows is how many records there are. It is known after the first reading.
func (t *Table) Rows() int64 { return t.rows }

// Warnings is what was noticed. It is complete after the first reading.
func (t *Table) Warnings() ([]feedmill.Warning, error) {
	if t.whole && t.rows == 0 {
		return append(t.warnings, feedmill.Warning{
			Code: feedmill.WarnNoRows, Count: 1, Detail: fmt.Sprintf("The path %s selects nothing, so no rows were imported. Check path against the data.", t.path),
		}), nil
	}
	return t.warnings, nil
}
