package json

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// TestJSONSuite reads the public suite of JSON parsing cases, where it is
// there. What the suite leaves open is decided in acceptedByChoice.
func TestJSONSuite(t *testing.T) {
	corpora := os.Getenv("FEEDMILL_CORPORA")
	if corpora == "" {
		corpora = "../../../../shared/corpora"
	}
	files, err := filepath.Glob(filepath.Join(corpora, "json-test-suite", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the suite is not there: FEEDMILL_CORPORA names the folder with json-test-suite in it")
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.HasPrefix(name, "y_") || acceptedByChoice[name]
			for _, options := range []Options{{}, {Path: "$"}, {Path: "$..x"}, {Path: "$.x[*]"}} {
				_, err := readJSON(t, Open, data, options)
				checkVerdict(t, err, want)
			}
		})
	}
}

// checkVerdict checks that data was accepted, or refused with a place.
func checkVerdict(t *testing.T, err error, want bool) {
	t.Helper()
	switch {
	case want && err != nil:
		t.Errorf("refused: %v", err)
	case want || errors.Is(err, input.ErrNoData):
	case err == nil:
		t.Error("accepted")
	default:
		if _, ok := errors.AsType[*feedmill.Error](err); !ok || !strings.Contains(err.Error(), "line ") {
			t.Errorf("refused without a place: %v", err)
		}
	}
}

// acceptedByChoice are the cases of the suite that may be accepted or refused
// and are accepted: numbers of any size, because their digits are kept, a byte
// order mark, UTF-16, and 500 arrays in each other. Everything else that is left open
// is text that is not Unicode, and is refused.
var acceptedByChoice = map[string]bool{
	"i_number_double_huge_neg_exp.json":       true,
	"i_number_huge_exp.json":                  true,
	"i_number_neg_int_huge_exp.json":          true,
	"i_number_pos_double_huge_exp.json":       true,
	"i_number_real_neg_overflow.json":         true,
	"i_number_real_pos_overflow.json":         true,
	"i_number_real_underflow.json":            true,
	"i_number_too_big_neg_int.json":           true,
	"i_number_too_big_pos_int.json":           true,
	"i_number_very_big_negative_int.json":     true,
	"i_string_UTF-16LE_with_BOM.json":         true,
	"i_string_utf16BE_no_BOM.json":            true,
	"i_string_utf16LE_no_BOM.json":            true,
	"i_structure_500_nested_arrays.json":      true,
	"i_structure_UTF-8_BOM_empty_object.json": true,
}
