package shape

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// isNull reports whether a value of a column that is not text means that there is none.
func isNull(c *spec.PickedColumn, v *strictjson.Value) bool {
	return v.Kind == '"' && c.As != "" && c.As != "text" && c.As != "json" && slices.Contains(c.Nulls, v.Text())
}

// columnValue is a value of the column as one of its type.
func columnValue(c *spec.PickedColumn, raw []byte) ([]byte, error) {
	v := find.ValueOf(raw)
	if isNull(c, v) {
		return []byte("null"), nil
	}
	if c.Written == nil || v.Kind == 'n' {
		return typed(raw, c.As)
	}
	text, ok := find.Scalar(v)
	if ok {
		if at, ok := c.Written.ReadTime(text); ok && at.Year() >= 0 && at.Year() <= 9999 {
			if c.As == "date" {
				return find.Quote(at.Format(time.DateOnly)), nil
			}
			return find.Quote(at.Format("2006-01-02T15:04:05.999999Z07:00")), nil
		}
	}
	return nil, fmt.Errorf("has the value %q, which is not a %s in the format of the column", spec.Shorten(text), c.As)
}

// asScalar is a value that is one cell: objects and arrays are their text.
func asScalar(raw []byte) []byte {
	if _, ok := find.Scalar(find.ValueOf(raw)); ok {
		return raw
	}
	return find.Quote(string(find.OneLine(raw)))
}

// typed is a value as one of a type. What does not fit is an error: nothing is
// rounded or left out.
func typed(raw []byte, as string) ([]byte, error) {
	v := find.ValueOf(raw)
	text, isScalar := find.Scalar(v)
	switch {
	case as == "" || v.Kind == 'n' || as == "json":
		return raw, nil
	case as == "text":
		if !isScalar {
			text = string(find.OneLine(raw))
		}
		return find.Quote(text), nil
	case !isScalar:
		return nil, fmt.Errorf("is %s, not a %s", strictjson.KindName(v.Kind), as)
	case fits(text, as):
		return []byte(text), nil
	case as == "date" || as == "timestamp":
		if v := spec.ParseCursor(text); v.Class == spec.CursorTime {
			return find.Quote(timeText(text, &v, as)), nil
		}
	}
	return nil, fmt.Errorf("has the value %q, which is not a %s", spec.Shorten(text), as)
}

// fits reports whether a text is a value of a type that JSON has itself.
func fits(text, as string) bool {
	switch as {
	case "boolean":
		return text == "true" || text == "false"
	case "integer":
		return spec.IsNumber(text) && !strings.Contains(text, ".") && isJSONNumber(text)
	case "decimal", "number":
		return isJSONNumber(text)
	}
	return false
}

func isJSONNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil && jsontext.Value(text).IsValid() && jsontext.Value(text).Kind() == '0'
}

// timeText is a time as the table reads it.
func timeText(text string, v *spec.CursorValue, as string) string {
	switch {
	case v.Layout != spec.NetDate:
		return text
	case as == "date" && v.Time.Equal(v.Time.Truncate(spec.Day)):
		return v.Time.Format(time.DateOnly)
	}
	return v.Time.Format("2006-01-02T15:04:05.999Z07:00")
}
