package feed

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// plainNumber and plainDate are numbers and dates beyond doubt. One that begins with a zero
// is a code.
var (
	plainNumber = regexp.MustCompile(`^[+-]?(0|[1-9][0-9]*)([.,][0-9]+)?$`)
	plainDate   = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}[/.][0-9]{1,2}[/.][0-9]{4})\b`)
)

// Columns of public files that are mostly numbers or dates have their type, or a warning
// that says why not.
func TestCorporaAreNotTextInSilence(t *testing.T) {
	corpora := cmp.Or(os.Getenv("FEEDMILL_CORPORA"), "../../../shared/corpora")
	var files []string
	for _, pattern := range []string{"readxl/sheets/*.xls", "readxl/sheets/*.xlsx", "csv-spectrum/csvs/*.csv"} {
		found, err := filepath.Glob(filepath.Join(corpora, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Skip("the files are not there: FEEDMILL_CORPORA names the folder with readxl and csv-spectrum in it")
	}
	values, texts := 0, 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := officeCase{format: strings.TrimPrefix(filepath.Ext(file), "."), data: string(data), rules: feedmill.RulesCurrent}
		columns, _, warnings, err := c.read(t)
		if err != nil || len(columns) == 0 {
			continue // refusals have tests of their own
		}
		rows, err := c.texts(t)
		if err != nil {
			t.Errorf("%s is read, but not as text: %v", filepath.Base(file), err)
			continue
		}
		for i, column := range columns {
			name, isText := strings.CutSuffix(column, ":text")
			switch like, all := likeValues(rows, i); {
			case all == 0:
			case !isText:
				values++
			case like*10 >= all*7:
				values++
				texts++
				if !slices.ContainsFunc(warnings, func(w string) bool { return strings.HasSuffix(w, " "+name) }) {
					t.Errorf("%s: %d of %d values of %q are numbers or dates, and nobody says why it is text", filepath.Base(file), like, all, name)
				}
			}
		}
	}
	t.Logf("%d columns of values, %d of them text with a warning", values, texts)
}

// likeValues counts the texts of a column, and those that are numbers or dates.
func likeValues(rows [][]string, column int) (like, all int) {
	for _, row := range rows {
		if column >= len(row) || row[column] == "" {
			continue
		}
		all++
		if plainNumber.MatchString(row[column]) || plainDate.MatchString(row[column]) {
			like++
		}
	}
	return like, all
}
