package worker

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/klauspost/compress/flate"

	"github.com/feedmill/feedmill/internal/lake/wire"
)

// sheetRows is how many rows a sheet can have, the header included. Only tests make
// it less.
var sheetRows = 1 << 20

const (
	// sheetBytes is how many bytes of XML a sheet has at most: with more the
	// archive would need an extension that not every reader knows.
	sheetBytes = 4_000_000_000
	// measuredRows and measuredBytes bound the beginning of the rows that the
	// widths of the columns are taken from.
	measuredRows  = 100
	measuredBytes = 1 << 20
	// partBytes is how much XML is gathered before it is compressed.
	partBytes = 64 << 10
)

// xlsxRows writes rows as a workbook of Office Open XML (ECMA-376). Rows that
// do not fit on a sheet are on the next one, under the same header. The same rows
// always give the same bytes.
type xlsxRows struct {
	columns []sheetColumn
	out     bytes.Buffer
	zip     *zip.Writer
	// sheets are the names of the sheets so far, and part is the last of them,
	// nil while it is not begun in the archive.
	sheets []string
	part   io.Writer
	size   int64
	// row is how many rows the sheet has, and xml those of them that were not
	// compressed yet.
	row  int
	xml  []byte
	long longCells
}

func newXLSX(names []string, columns []*column, units []string) (*xlsxRows, error) {
	if len(columns) > wire.MaxSheetColumns {
		return nil, fmt.Errorf("write xlsx: a sheet cannot have %d columns", len(columns))
	}
	w := &xlsxRows{}
	w.zip = zip.NewWriter(&w.out)
	w.zip.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestSpeed)
	})
	units = append(units, make([]string, len(columns)-len(units))...)
	styles := stylesOf(columns, units)
	for i, c := range columns {
		w.columns = append(w.columns, newSheetColumn(i, names[i], c, styles, units[i]))
	}
	for _, p := range []packagePart{{"_rels/.rels", packageRelations}, {"xl/styles.xml", styles.sheet()}} {
		if err := w.put(p); err != nil {
			return nil, err
		}
	}
	w.nextSheet()
	return w, nil
}

func (w *xlsxRows) begin(dst []byte) []byte { return dst }

func (w *xlsxRows) append(dst []byte, n int) ([]byte, error) {
	for i := range n {
		if w.row == sheetRows || w.size+int64(len(w.xml)) > sheetBytes {
			if err := w.endSheet(); err != nil {
				return dst, err
			}
			w.nextSheet()
		}
		w.appendRow(i)
		if len(w.xml) >= partBytes && !w.measuring() {
			if err := w.compress(); err != nil {
				return dst, err
			}
		}
	}
	return w.drain(dst), nil
}

func (w *xlsxRows) end(dst []byte) ([]byte, error) {
	if err := w.endSheet(); err != nil {
		return dst, err
	}
	if err := w.putNotes(); err != nil {
		return dst, err
	}
	for _, p := range []packagePart{
		{"xl/workbook.xml", workbook(w.sheets)},
		{"xl/_rels/workbook.xml.rels", workbookRelations(len(w.sheets))},
		{"[Content_Types].xml", contentTypes(len(w.sheets))},
	} {
		if err := w.put(p); err != nil {
			return dst, err
		}
	}
	if err := w.zip.Close(); err != nil {
		return dst, fmt.Errorf("write xlsx: %w", err)
	}
	return w.drain(dst), nil
}

// drain appends what is ready to be sent.
func (w *xlsxRows) drain(dst []byte) []byte {
	dst = append(dst, w.out.Bytes()...)
	w.out.Reset()
	return dst
}

// nextSheet begins a sheet with the header.
func (w *xlsxRows) nextSheet() {
	name := "Data"
	if n := len(w.sheets); n > 0 {
		name += " " + strconv.Itoa(n+1)
	}
	w.sheets = append(w.sheets, name)
	w.part, w.size, w.row = nil, 0, 0
	w.beginRow()
	for i := range w.columns {
		c := &w.columns[i]
		w.xml = appendTextCell(c.begin(w.xml, w.row), styleHeader, []byte(c.name))
	}
	w.xml = append(w.xml, "</row>"...)
}

func (w *xlsxRows) beginRow() {
	w.row++
	w.xml = append(w.xml, `<row r="`...)
	w.xml = strconv.AppendInt(w.xml, int64(w.row), 10)
	w.xml = append(w.xml, `">`...)
}

func (w *xlsxRows) appendRow(i int) {
	w.beginRow()
	measuring := w.measuring()
	for k := range w.columns {
		c := &w.columns[k]
		if c.null(i) {
			continue
		}
		w.xml = c.begin(w.xml, w.row)
		width, length := 0, 0
		w.xml, width, length = c.appendCell(w.xml, i)
		if measuring {
			c.width = max(c.width, width)
		}
		if length > maxCellUnits {
			w.long.add(w.sheets[len(w.sheets)-1], c.letters, w.row, length)
		}
	}
	w.xml = append(w.xml, "</row>"...)
}

// measuring reports whether the widths of the columns are still being found:
// they stand before the rows, so until then no row is compressed.
func (w *xlsxRows) measuring() bool {
	return len(w.sheets) == 1 && w.part == nil && w.row <= measuredRows && len(w.xml) < measuredBytes
}

// compress writes the rows that were gathered.
func (w *xlsxRows) compress() error {
	if w.part == nil {
		part, err := w.create(sheetPath(len(w.sheets)))
		if err != nil {
			return err
		}
		w.part = part
		if _, err := w.part.Write(sheetHead(w.columns, len(w.sheets) == 1)); err != nil {
			return fmt.Errorf("write xlsx: %w", err)
		}
	}
	if _, err := w.part.Write(w.xml); err != nil {
		return fmt.Errorf("write xlsx: %w", err)
	}
	w.size += int64(len(w.xml))
	w.xml = w.xml[:0]
	return nil
}

func (w *xlsxRows) endSheet() error {
	w.xml = append(w.xml, sheetTail...)
	return w.compress()
}

// packagePart is a file of the archive.
type packagePart struct{ path, xml string }

func (w *xlsxRows) put(p packagePart) error {
	part, err := w.create(p.path)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(part, p.xml); err != nil {
		return fmt.Errorf("write xlsx: %w", err)
	}
	return nil
}

// archived is when all parts were last changed, as far as the archive says.
var archived = time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)

func (w *xlsxRows) create(path string) (io.Writer, error) {
	part, err := w.zip.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Deflate, Modified: archived})
	if err != nil {
		return nil, fmt.Errorf("write xlsx: %w", err)
	}
	return part, nil
}
