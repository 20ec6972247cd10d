// Package book makes the workbooks that the benchmarks read: the same table in every
// format, with the same cells every time.
package book

import (
	"archive/zip"
	"bufio"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
)

// Columns is how many columns the table has: numbers, texts that cells share, dates, percentages and
// truth values.
const Columns = 10

// cell is a cell of the table. Its style is an index into those that all workbooks have.
type cell struct {
	kind   kind
	number float64
	// text is the index of a shared text.
	text int
}

type kind int

// The kinds of cells, which are their styles, too.
const (
	number kind = iota
	date
	percent
	boolean
	text
)

// row is a row of the table.
func row(i int) [Columns]cell {
	n := func(k kind, value float64) cell { return cell{kind: k, number: value} }
	s := func(index int) cell { return cell{kind: text, text: index} }
	return [Columns]cell{
		n(number, float64(i)), s(i * 7919 % distinct), s(i % 50), n(number, float64(i*31%1_000_000)/100), n(number, float64(i%50)),
		n(boolean, float64(i%2)), n(date, float64(45000+i%700)), s(i * 104_729 % distinct), n(percent, float64(i%1000)/1000), n(number, float64(i*17%100_000)/8),
	}
}

// distinct is how many texts there are, and shared is one of them.
const distinct = 20_000

func shared(i int) string { return "customer " + strconv.Itoa(i) + " of Łódź & Köln" }

// headerNames are in the first row.
var headerNames = [Columns]string{"id", "customer", "group", "amount", "quantity", "paid", "day", "reference", "share", "weight"}

// MaxRows is how many rows a sheet has room for, without the names.
const MaxRows = 1<<20 - 1

// Formats has how each format is written: a table of so many rows.
var Formats = map[string]func(out *bufio.Writer, rows int) error{"xlsx": writeXLSX, "xlsb": writeXLSB, "ods": writeODS, "xls": writeXLS}

// Write makes a workbook of a format.
func Write(path, format string, rows int) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriterSize(f, 1<<20)
	return errors.Join(Formats[format](out, rows), out.Flush())
}

// parts writes the parts of a zip file in order.
type parts struct {
	zip *zip.Writer
	out *bufio.Writer
}

func newParts(out io.Writer) *parts {
	z := zip.NewWriter(out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	return &parts{zip: z, out: bufio.NewWriter(nil)}
}

// part writes a part by fn.
func (p *parts) part(name string, fn func(*bufio.Writer)) error {
	w, err := p.zip.Create(name)
	if err != nil {
		return err
	}
	p.out.Reset(w)
	fn(p.out)
	return p.out.Flush()
}

// all writes parts whose texts are known, and then those that are written by functions.
func (p *parts) all(known [][2]string, written map[string]func(*bufio.Writer)) error {
	for _, part := range known {
		if err := p.part(part[0], func(w *bufio.Writer) { w.WriteString(part[1]) }); err != nil {
			return err
		}
	}
	for name, fn := range written {
		if err := p.part(name, fn); err != nil {
			return err
		}
	}
	return p.zip.Close()
}

const (
	relationships = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	relationType  = `http://schemas.openxmlformats.org/officeDocument/2006/relationships/`
)

// packageParts are the parts by which the others are found, which have one ending.
func packageParts(ending string) [][2]string {
	relation := func(id, kind, target string) string {
		return fmt.Sprintf(`<Relationship Id="%s" Type="%s%s" Target="%s"/>`, id, relationType, kind, target)
	}
	return [][2]string{
		{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Default Extension="xml" ContentType="application/xml"/><Default Extension="bin" ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/>` +
			`<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>`},
		{"_rels/.rels", relationships + relation("r1", "officeDocument", "xl/workbook"+ending) + `</Relationships>`},
		{"xl/_rels/workbook" + ending + ".rels", relationships + relation("r1", "worksheet", "worksheets/sheet1"+ending) + relation("r2", "styles", "styles"+ending) +
			relation("r3", "sharedStrings", "sharedStrings"+ending) + `</Relationships>`},
	}
}
