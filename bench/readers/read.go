package main

import (
	"bufio"
	"context"
	"encoding/json"
	stdxml "encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/xuri/excelize/v2"

	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/bench/internal/table"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/sheet"
	"github.com/feedmill/feedmill/internal/decode/xml"
)

// read is what the process does that reads a file: it says what that has needed.
func read(args []string) error {
	if len(args) != 2 {
		return errors.New("say how to read, and what")
	}
	var count int64
	var err error
	switch how, path := args[0], args[1]; how {
	case "excelize":
		count, err = readExcelize(path)
	case "xml":
		count, err = readFile(path, readXML)
	case "encoding/xml":
		count, err = readFile(path, readStdXML)
	default:
		count, err = readSheet(how, path)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(spent{Items: count, CPU: rig.OwnTime(), Peak: rig.OwnPeak()})
}

// readSheet reads a workbook as uploads do: to its end, and then all of its cells once more.
func readSheet(format, path string) (cells int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	t, err := sheet.Open(context.Background(), format, io.NewSectionReader(f, 0, info.Size()), sheet.Options{})
	if err != nil {
		return 0, err
	}
	err = t.Read(context.Background(), 0, t.Blocks(), func(c *columnar.Cells) error {
		for _, cell := range c.Cell {
			if cell.Kind() != columnar.CellMissing {
				cells++
			}
		}
		return nil
	})
	return cells, errors.Join(err, t.Close())
}

// readExcelize reads the rows of a workbook one by one, with raw values.
func readExcelize(path string) (cells int64, err error) {
	f, err := excelize.OpenFile(path, excelize.Options{RawCellValue: true})
	if err != nil {
		return 0, err
	}
	defer f.Close()
	rows, err := f.Rows("Data")
	if err != nil {
		return 0, err
	}
	for first := true; rows.Next(); first = false {
		columns, err := rows.Columns(excelize.Options{RawCellValue: true})
		if err != nil {
			return 0, err
		}
		if !first { // the names are no cells of the table
			cells += int64(len(columns))
		}
	}
	return cells, errors.Join(rows.Error(), rows.Close())
}

func readFile(path string, read func(io.Reader) (int64, error)) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return read(f)
}

func readXML(in io.Reader) (tokens int64, err error) {
	r := xml.NewReader(in)
	for {
		if _, err := r.Next(); err == io.EOF {
			return tokens, nil
		} else if err != nil {
			return tokens, err
		}
		tokens++
	}
}

func readStdXML(in io.Reader) (tokens int64, err error) {
	d := stdxml.NewDecoder(bufio.NewReaderSize(in, 1<<20))
	for {
		if _, err := d.Token(); err == io.EOF {
			return tokens, nil
		} else if err != nil {
			return tokens, err
		}
		tokens++
	}
}

// writeOrders makes a file of XML.
func writeOrders(path string, size int64) error {
	made, err := table.Elements.Write(path, table.Amount{Bytes: size})
	if err == nil && made.Rows == 0 {
		err = fmt.Errorf("%s has no rows", path)
	}
	return err
}
