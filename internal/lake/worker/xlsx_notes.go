package worker

import "fmt"

// maxNotes is how many cells are named that could not hold their text.
const maxNotes = 100

// longCells are the cells whose text was cut.
type longCells struct {
	notes []string
	count int
}

func (l *longCells) add(sheet, letters string, row, length int) {
	l.count++
	if len(l.notes) < maxNotes {
		l.notes = append(l.notes, fmt.Sprintf("'%s'!%s%d: the text has %d characters; only its beginning fits into the cell.", sheet, letters, row, length))
	}
}

// putNotes adds a sheet that names the cells whose text was cut, if there are any.
func (w *xlsxRows) putNotes() error {
	if w.long.count == 0 {
		return nil
	}
	notes := w.long.notes
	if more := w.long.count - len(notes); more > 0 {
		notes = append(notes, fmt.Sprintf("And %d more.", more))
	}
	column := newSheetColumn(0, fmt.Sprintf("A cell can have at most %d characters", maxCellUnits), &column{kind: kindText}, numberStyles{}, "")
	column.width = len(notes[0])
	xml := sheetHead([]sheetColumn{column}, false)
	for i, text := range append([]string{column.name}, notes...) {
		style := stylePlain
		if i == 0 {
			style = styleHeader
		}
		xml = fmt.Appendf(xml, `<row r="%d">`, i+1)
		xml = appendTextCell(column.begin(xml, i+1), style, []byte(text))
		xml = append(xml, "</row>"...)
	}
	w.sheets = append(w.sheets, "Notes")
	return w.put(packagePart{sheetPath(len(w.sheets)), string(xml) + sheetTail})
}
