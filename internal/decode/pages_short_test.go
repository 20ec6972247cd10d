package decode

import (
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// A short page is walked through once and then read; it gives the same rows and
// refusals as the same document does when it is opened by itself.
func TestShortPagesAreDocuments(t *testing.T) {
	for _, doc := range []string{
		`{"data":[{"id":1},{"id":2}],"next":"x"}`,
		`{"data":[{"id":1},{"id":2}],"data":[{"id":3}]}`,
		`{"data":[{"id":1},{"id":nonsense}],"data":[{"id":3}]}`,
		`{"data":[{"id":1}],"data":[]}`,
		`{"data":[{"id":1}],"data":7}`,
		`{"data": [ {"id":1} , 2 , "three" , null , [4] ] }`,
		`{"data":[]}`,
		`{"more":[{"id":1}]}`,
		`{"data":{"a":{"id":1},"b":{"id":2}}}`,
		`{"data":[{"id":1}]}{"data":[{"id":2}]}`,
		`{"data":[{"id":1},{"id":2}}`,
		`{"data":[{"id":1},{"id":2}],"next":tru}`,
		`{"data":[{"id":1} {"id":2}]}`,
		`{"data":[{"id":1},{"id":2}]`,
		`{"data":[{"id":1},]}`,
	} {
		for _, path := range []string{"$.data[*]", "$.data.*", "$.*[*]", "$.data[1]", "$.data[?@.id > 1]", "$"} {
			alone, errAlone := readAlone(t, path, doc)
			got, err := readPages(t, "json", Options{Path: path}, doc)
			if (err == nil) != (errAlone == nil) {
				t.Errorf("%s in %s: %v, and alone %v", path, doc, err, errAlone)
				continue
			}
			if err != nil {
				if want := "page 1: " + errAlone.Error(); err.Error() != want {
					t.Errorf("%s in %s: %q, want %q", path, doc, err, want)
				}
				continue
			}
			if !slices.Equal(got.rows, alone) {
				t.Errorf("%s in %s: %q, and alone %q", path, doc, got.rows, alone)
			}
		}
	}
}

// readAlone reads a document that is no page.
func readAlone(t *testing.T, path, doc string) (rows []string, err error) {
	t.Helper()
	j, err := Open(t.Context(), "json", strings.NewReader(doc), Options{Path: path, Temp: t.TempDir()})
	if err != nil {
		return nil, err
	}
	defer j.Close()
	if err := j.Each(t.Context(), 1, func(*columnar.Cells) error { return nil }); err != nil {
		return nil, err
	}
	err = j.Each(t.Context(), 1, func(cells *columnar.Cells) error {
		for row := range cells.Rows {
			texts := make([]string, cells.Columns)
			for column := range texts {
				texts[column] = decodetest.CellText(cells, cells.At(row, column))
			}
			rows = append(rows, strings.Join(texts, " "))
		}
		return nil
	})
	return rows, err
}
