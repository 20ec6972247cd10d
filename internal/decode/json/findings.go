package json

import (
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// Found is where the records are.
func (j *Table) Found() (f feedmill.Findings) {
	f.Path = pathFinding(j.path, j.taken(), j.lines || j.nothing)
	switch {
	case j.explode != nil:
	case j.path != nil:
		f.Candidates = j.besides()
	default:
		f.Candidates = counted(j.candidates, j.rows)
	}
	if j.utf16 != "" {
		f.Encoding = feedmill.Found(string(j.utf16), true)
	}
	if j.encoding != "" {
		f.Encoding = feedmill.Finding{Value: string(j.encoding), By: feedmill.BySet}
		if j.charset {
			f.Encoding.By = feedmill.ByFound
		}
	}
	return f
}

// taken are the steps to the records in the data, whatever shape they have there.
func (j *Table) taken() []jsonpath.Step {
	if j.shaped != nil {
		return j.shaped
	}
	return j.steps
}

// pathFinding is where records are: at a path that was set, or where steps lead to.
// Lines are no document, and have none, and neither has null.
func pathFinding(set *jsonpath.Path, steps []jsonpath.Step, none bool) feedmill.Finding {
	switch {
	case set != nil:
		return feedmill.Finding{Value: set.String(), By: feedmill.BySet}
	case none:
		return feedmill.Finding{}
	}
	return feedmill.Found(jsonpath.Text(steps), true)
}

// Warnings is what was noticed. It is complete after the first reading.
func (j *Table) Warnings() ([]feedmill.Warning, error) {
	var out []feedmill.Warning
	if n := len(j.superseded); n > 0 {
		out = append(out, feedmill.Warning{
			Code: feedmill.WarnKeys, Count: int64(n),
			Detail: "Duplicate key on the path to the records; the last value was used. Remove the duplicates at the source.",
		})
	}
	out = append(out, j.notes...)
	if len(j.others) > 0 {
		const listed = 5
		out = append(out, feedmill.Warning{
			Code: feedmill.WarnRecords, Count: int64(len(j.others)),
			Detail: fmt.Sprintf("The records were read from %s. The document also has records at %s; set path to read them instead.", jsonpath.Text(j.taken()), strings.Join(j.others[:min(len(j.others), listed)], ", ")),
		})
	}
	out = append(out, j.context.Warnings(j.around)...)
	if way := explodedName(j.explode); j.whole && way != "" && j.Rows() > 0 && !slices.ContainsFunc(j.Names(), func(name string) bool { return name == way || strings.HasPrefix(name, way+".") }) {
		out = append(out, input.NothingExploded(way))
	}
	if j.whole && j.Rows() == 0 {
		detail := "The data has no records."
		if j.path != nil {
			detail = fmt.Sprintf("The path %s selects nothing, so no rows were imported. Check path against the data.", j.path)
		} else if len(j.steps) > 1 {
			detail = fmt.Sprintf("There are no records at %s, so no rows were imported. Set path=$ to read the whole document as one record.", jsonpath.Text(j.steps))
		}
		out = append(out, feedmill.Warning{Code: feedmill.WarnNoRows, Count: 1, Detail: detail})
	}
	return append(out, j.summary.warnings()...), nil
}
