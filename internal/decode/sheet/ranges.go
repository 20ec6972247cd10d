package sheet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// ranges are the areas of a workbook that have a name, by their names in small letters.
type ranges map[string]namedRange

type namedRange struct {
	name string
	area
}

func (r ranges) add(name string, within area) {
	r[strings.ToLower(name)] = namedRange{name, within}
}

func (r ranges) named(name string) (area, bool) {
	found, ok := r[strings.ToLower(name)]
	return found.area, ok
}

// rangeNames are the names in order.
func (r ranges) rangeNames() (names []string) {
	for _, one := range r {
		names = append(names, one.name)
	}
	slices.Sort(names)
	return names
}

// listed is the first of some names, and how many more there are.
func listed(names []string) string {
	const most = 100
	if more := len(names) - most; more > 0 {
		names = append(names[:most:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// area is a rectangle of cells of a sheet, all counted from 0 and with the last ones in it.
type area struct {
	sheet                                      int
	firstRow, lastRow, firstColumn, lastColumn int
}

// maxRow and maxColumn are the last that a sheet can have.
const (
	maxRow    = 1<<20 - 1
	maxColumn = 1<<14 - 1
)

var everything = area{lastRow: maxRow, lastColumn: maxColumn}

// parseSheetRange reads a range that may have the name of its sheet before it, such as 'My sheet'!$B$3:$H$200, and reports
// whether it has.
func parseSheetRange(sheets []feedmill.Sheet, text string) (within area, hasSheet bool, err error) {
	at := strings.LastIndexByte(text, '!')
	within, err = parseRange(text[at+1:])
	if at < 0 || err != nil {
		return within, false, err
	}
	name := text[:at]
	if len(name) > 1 && name[0] == '\'' {
		name = strings.ReplaceAll(strings.Trim(name, "'"), "''", "'")
	}
	for i, s := range sheets {
		if strings.EqualFold(s.Name, name) {
			within.sheet = i
			return within, true, nil
		}
	}
	return area{}, false, fmt.Errorf("the workbook has no sheet %q", name)
}

// parseRange reads B3:H200, also with dollar signs, with one cell alone, with columns (B:H) and with rows (3:200).
func parseRange(text string) (area, error) {
	from, to, two := strings.Cut(strings.ReplaceAll(text, "$", ""), ":")
	if !two {
		to = from
	}
	a := everything
	var ok [2]bool
	switch {
	case two && strings.Trim(from+to, "0123456789") == "":
		a.firstRow, _, ok[0] = parseReference([]byte("A" + from))
		a.lastRow, _, ok[1] = parseReference([]byte("A" + to))
	case two && !strings.ContainsAny(from+to, "0123456789"):
		_, a.firstColumn, ok[0] = parseReference([]byte(from + "1"))
		_, a.lastColumn, ok[1] = parseReference([]byte(to + "1"))
	default:
		a.firstRow, a.firstColumn, ok[0] = parseReference([]byte(from))
		a.lastRow, a.lastColumn, ok[1] = parseReference([]byte(to))
	}
	if !ok[0] || !ok[1] || a.lastRow < a.firstRow || a.lastColumn < a.firstColumn {
		return area{}, fmt.Errorf("%q is not a range of cells", text)
	}
	return a, nil
}
