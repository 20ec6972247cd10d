package sheet

import (
	"context"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/xml"
)

// xlsxBook is a workbook in Office Open XML, transitional or strict.
type xlsxBook struct {
	parts archive
	size  int64
	list  []feedmill.Sheet
	paths []string
	ranges
	// application is the program that saved the workbook, as far as it says so.
	application string
	exported    bool // Feedmill wrote it, and it is read as it was written
	from1904    bool
	// formats are the number formats of the cell formats.
	formats []numberFormat
	strings *stringTable
}

// relation is how a part names another.
type relation struct{ kind, target string }

// openXLSX opens a workbook in Office Open XML, or in the binary records that can stand in its place.
func openXLSX(ctx context.Context, data input.Source) (book, error) {
	parts, err := openArchive(data)
	if err != nil {
		return nil, err
	}
	b := &xlsxBook{parts: parts, size: data.Size(), ranges: make(ranges)}
	workbook := "xl/workbook.xml"
	if parts.has("xl/workbook.bin") {
		workbook = "xl/workbook.bin"
	}
	root, err := b.relations(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, r := range root {
		if strings.HasSuffix(r.kind, "/officeDocument") {
			workbook = r.target
		}
	}
	if !parts.has(workbook) {
		return nil, input.Refuse("invalid-workbook", "the data is a ZIP file but not a workbook; it has no %s", workbook)
	}
	others, err := b.relations(ctx, workbook)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(strings.ToLower(workbook), ".bin") {
		return openXLSB(ctx, xlsbBook{b}, workbook, others)
	}
	if err := b.readWorkbook(ctx, workbook, others); err != nil {
		return nil, err
	}
	for _, r := range others {
		switch {
		case strings.HasSuffix(r.kind, "/styles"):
			err = b.readStyles(ctx, r.target)
		case strings.HasSuffix(r.kind, "/sharedStrings"):
			b.strings, err = b.readStrings(ctx, r.target)
		}
		if err != nil {
			return nil, err
		}
	}
	return b, b.eachTable(ctx, b.readTable)
}

func (b *xlsxBook) sheets() []feedmill.Sheet { return b.list }

// relations are what a part names, by their ids.
func (b *xlsxBook) relations(ctx context.Context, part string) (map[string]relation, error) {
	name := "_rels/.rels"
	if at := strings.LastIndexByte(part, '/'); at >= 0 {
		name = part[:at] + "/_rels/" + part[at+1:] + ".rels"
	} else if part != "" {
		name = "_rels/" + part + ".rels"
	}
	found := make(map[string]relation)
	if !b.parts.has(name) {
		return found, nil
	}
	err := b.parts.read(ctx, name, maxSmall, func(r *xml.Reader) error {
		return elements(r, func(local string) error {
			if local == "Relationship" && string(attribute(r, "TargetMode")) != "External" {
				found[string(attribute(r, "Id"))] = relation{string(attribute(r, "Type")), resolve(part, string(attribute(r, "Target")))}
			}
			return nil
		})
	})
	return found, err
}

// readWorkbook reads the list of sheets. Those of charts and macros are none.
func (b *xlsxBook) readWorkbook(ctx context.Context, part string, others map[string]relation) error {
	var position []int // of each sheet of the workbook among the worksheets, or -1
	type name struct {
		name, scope, text string
	}
	var names []name
	err := b.parts.read(ctx, part, maxSmall, func(r *xml.Reader) error {
		return elements(r, func(local string) error {
			switch local {
			case "fileVersion":
				b.application = string(attribute(r, "appName"))
			case "workbookPr":
				// An extension of the workbook may have an element of this name, too.
				b.from1904 = b.from1904 || isTrue(attribute(r, "date1904"))
			case "sheet":
				to := others[string(relationID(r))]
				if !strings.HasSuffix(to.kind, "/worksheet") {
					position = append(position, -1)
					return nil
				}
				position = append(position, len(b.list))
				state := string(attribute(r, "state"))
				b.list = append(b.list, feedmill.Sheet{Index: len(b.list) + 1, Name: string(attribute(r, "name")), Hidden: state == "hidden" || state == "veryHidden"})
				b.paths = append(b.paths, to.target)
			case "definedName":
				n := name{name: string(attribute(r, "name")), scope: string(attribute(r, "localSheetId"))}
				text, err := appendText(nil, r)
				if err != nil {
					return err
				}
				n.text = string(text)
				names = append(names, n)
			}
			return nil
		})
	})
	if err == nil {
		err = checkSheets(b.list)
	}
	if err == nil && len(b.list) == 0 {
		err = input.Refuse("invalid-workbook", "the workbook has no worksheet")
	}
	for _, n := range names {
		if within, hasSheet, err := parseSheetRange(b.list, n.text); err == nil && hasSheet && !strings.HasPrefix(n.name, "_xlnm.") {
			b.add(n.name, within)
		}
	}
	return err
}

// relationID is the id by which a sheet names its part: the attribute id that has a namespace.
func relationID(r *xml.Reader) []byte {
	for _, a := range r.Attributes() {
		if a.Name.Local == "id" && a.Name.Space != "" {
			return a.Value
		}
	}
	return nil
}

// eachTable calls fn for the parts of the tables of all sheets.
func (b *xlsxBook) eachTable(ctx context.Context, fn func(ctx context.Context, sheet int, part string) error) error {
	for i, part := range b.paths {
		others, err := b.relations(ctx, part)
		if err != nil {
			return err
		}
		for _, r := range others {
			if strings.HasSuffix(r.kind, "/table") && b.parts.has(r.target) {
				if err := fn(ctx, i, r.target); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// readTable reads where a table is and what it is called.
func (b *xlsxBook) readTable(ctx context.Context, sheet int, part string) error {
	return b.parts.read(ctx, part, maxSmall, func(r *xml.Reader) error {
		return elements(r, func(local string) error {
			if within, err := parseRange(string(attribute(r, "ref"))); local == "table" && err == nil {
				within.sheet = sheet
				b.add(string(attribute(r, "displayName")), within)
			}
			return nil
		})
	})
}

// readStyles finds what the numbers of each cell format are.
func (b *xlsxBook) readStyles(ctx context.Context, part string) error {
	if !b.parts.has(part) {
		return nil
	}
	custom := make(map[int]numberFormat)
	inside := false
	return b.parts.read(ctx, part, maxSmall, func(r *xml.Reader) error {
		return elements(r, func(local string) error {
			switch local {
			case "numFmt":
				if id, err := strconv.Atoi(string(attribute(r, "numFmtId"))); err == nil && !inside {
					custom[id] = formatOf(string(attribute(r, "formatCode")))
				}
			case "cellStyleXfs", "dxfs", "cellStyles":
				inside = local == "dxfs"
				if local == "cellStyleXfs" {
					return r.Skip()
				}
			case "cellXfs":
				inside = false
			case "xf":
				id, err := strconv.Atoi(string(attribute(r, "numFmtId")))
				if err != nil {
					id = 0
				}
				format, known := custom[id]
				if !known {
					format = builtinFormat(id)
				}
				b.formats = append(b.formats, format)
			}
			return nil
		})
	})
}

func isTrue(text []byte) bool {
	return string(text) == "1" || string(text) == "true" || string(text) == "on"
}
