package layout

import (
	"strings"
	"unicode"
)

// maxFooter is how many rows can stand after the table.
const maxFooter = 20

// Footer finds the rows after the last row of data, in the last rows of a table with
// so many columns: those of which nothing or only the first cell is filled, and that
// are no data by what stands in it. It is the first of them, and the number of rows
// where there are none.
func Footer(rows []Row, columns int) (first int) {
	if columns < 2 {
		return len(rows)
	}
	end := len(rows)
	defer func() {
		// What stands before the first note is not of the footer.
		for first < len(rows) && first > 0 && (rows[first].Blank || rows[first].filled() == 0) {
			first++
		}
	}()
	for end > 0 && len(rows)-end < maxFooter {
		i := end - 1
		r := &rows[i]
		switch {
		case r.Blank, r.filled() == 0:
		case r.filled() > 1 && !(len(r.Cells) < columns && apart(rows, i)):
			return end
		case r.cell(0) == "" || !isNote(rows, i, columns):
			return end
		}
		end--
	}
	if end == 0 {
		return len(rows)
	}
	return end
}

// apart reports whether an empty line stands between a row and the table, with
// nothing but rows like it between.
func apart(rows []Row, i int) bool {
	for j := i - 1; j >= 0; j-- {
		if rows[j].Blank {
			return true
		}
		if len(rows[j].Cells) > len(rows[i].Cells) {
			return false
		}
	}
	return false
}

// isNote reports whether the first cell of a row is a note, and no value like those
// above it.
func isNote(rows []Row, i, columns int) bool {
	text := rows[i].cell(0)
	if apart(rows, i) {
		return len(rows[i].Cells) < columns || rows[i].filled() == 1
	}
	typed, all, alone, words := 0, 0, 0, 0
	for j := range i {
		r := &rows[j]
		if r.Blank || r.filled() == 0 {
			continue
		}
		if r.filled() == 1 && r.cell(0) != "" && !looksLikeNote(r.cell(0)) {
			alone++
			continue
		}
		if cell := r.cell(0); cell != "" && r.filled() > 1 {
			all++
			words = max(words, len(strings.Fields(cell)))
			if LooksTyped(cell) {
				typed++
			}
		}
	}
	if all == 0 || alone > 0 {
		return false
	}
	if LooksTyped(text) {
		return false
	}
	if typed*2 > all {
		return true
	}
	return looksLikeNote(text) || len(strings.Fields(text)) >= max(4, 2*words)
}

// looksLikeNote reports whether a text is a remark by its first characters.
func looksLikeNote(text string) bool {
	if colon := strings.IndexByte(text, ':'); colon > 0 && colon < len(text)-1 && (text[colon+1] == ' ' || len(strings.Fields(text)) > 1) {
		return true
	}
	if strings.HasSuffix(text, ":") || len(text) > 2 && strings.Trim(text, "_-=*.~") == "" {
		return true
	}
	first, _, _ := strings.Cut(strings.ToLower(text), " ")
	first = strings.TrimRightFunc(first, unicode.IsPunct)
	switch first {
	case "source", "sources", "note", "notes", "generated", "exported", "created", "printed", "report", "quelle", "hinweis", "stand", "anmerkung", "nota", "note(s)",
		"fuente", "fonte", "bron", "copyright", "©", "disclaimer", "confidential", "footnote", "*", "**":
		return true
	}
	return strings.HasPrefix(text, "* ") || strings.HasPrefix(text, "** ") || strings.HasPrefix(text, "(c)") || strings.HasPrefix(text, "©") || strings.HasPrefix(text, "*)") || strings.HasPrefix(text, "# ") || strings.HasPrefix(text, "--- ")
}
