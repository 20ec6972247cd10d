package lake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query/duckdb"
)

// lentName is what a worker calls a file, always the same.
func lentName(file string) string { return strings.ReplaceAll(file, "/", "-") }

// scan is what SQL selects the rows of a version from: the columns c0, c1 and so
// on, and nr, the number of the row in the version. Columns are named by their
// place, whatever the files call them: names that differ in their case alone are
// the same to SQL. Files all of whose rows are before a number are left out.
func (v *Version) scan(folder string, from int64) string {
	if v.source != "" {
		return v.source
	}
	end := int64(0)
	return v.scanSome(folder, func(file *feedmill.VersionFile) bool {
		end += file.Rows
		return end > from || end == v.Rows
	})
}

// scanSome is scan with those files alone that are wanted.
func (v *Version) scanSome(folder string, wanted func(*feedmill.VersionFile) bool) string {
	if len(v.Files) == 1 && v.Files[0].Columns == nil {
		return scanFile(folder, &v.Files[0], len(v.Columns))
	}
	var parts []string
	first := int64(0)
	for i := range v.Files {
		file := &v.Files[i]
		if wanted(file) {
			parts = append(parts, "SELECT "+v.selected(file, first)+" FROM "+scanFile(folder, file, len(v.physical(file))))
		}
		first += file.Rows
	}
	return "(" + strings.Join(parts, " UNION ALL ") + ") AS t(" + strings.Join(append(numbered("c", len(v.Columns)), "nr"), ", ") + ")"
}

// scans are what SQL selects the rows of a version from, one after the other: scan, or
// parts of it where rows are large. A worker holds what it has read of a statement and its
// client has not taken, whatever the size, so each statement is given little to read.
func (v *Version) scans(folder string, from int64) []string {
	var all []string
	for i, part := range v.parts {
		if part.end > from || i == len(v.parts)-1 {
			all = append(all, part.sql)
		}
	}
	if len(all) > 0 {
		return all
	}
	if v.source != "" || !v.isLarge() {
		return []string{v.scan(folder, from)}
	}
	first := int64(0)
	for i := range v.Files {
		file := &v.Files[i]
		sql := "(SELECT " + v.selected(file, first) + " FROM " + scanFile(folder, file, len(v.physical(file)))
		begin := int64(0)
		for _, end := range append(slices.Clone(file.Cuts), file.Rows) {
			if first+end > from || len(all) == 0 && first+end == v.Rows {
				all = append(all, fmt.Sprintf("%s WHERE nr >= %d AND nr < %d) AS t(%s)", sql, begin, end, strings.Join(append(numbered("c", len(v.Columns)), "nr"), ", ")))
			}
			begin = end
		}
		first += file.Rows
	}
	return all
}

// isLarge reports whether rows of the version are so large that they are read some at a time.
func (v *Version) isLarge() bool {
	return slices.ContainsFunc(v.Files, func(file feedmill.VersionFile) bool { return len(file.Cuts) > 0 })
}

// apart reports whether a row of the version can be larger than the memory of a worker.
func (v *Version) apart() bool {
	return slices.ContainsFunc(v.Files, func(file feedmill.VersionFile) bool { return file.LargestRow > 0 })
}

// uncut is the version for a statement that reads all of it in one go.
func (v *Version) uncut() *Version {
	whole := *v
	whole.Files = slices.Clone(v.Files)
	for i := range whole.Files {
		whole.Files[i].Cuts = nil
	}
	return &whole
}

// physical are the columns that a file of the version has.
func (v *Version) physical(file *feedmill.VersionFile) []feedmill.Column {
	if file.Columns == nil {
		return v.Columns
	}
	return file.Columns
}

func scanFile(folder string, file *feedmill.VersionFile, columns int) string {
	return "read_parquet(" + quote(folder+lentName(file.Name)) + ", file_row_number = true) AS t(" + strings.Join(append(numbered("c", columns), "nr"), ", ") + ")"
}

// selected are the columns of the version in a file, and the number of the row,
// where the first row of the file has one.
func (v *Version) selected(file *feedmill.VersionFile, first int64) string {
	has := v.physical(file)
	all := make([]string, 0, len(v.Columns)+1)
	for i := range v.Columns {
		at := slices.IndexFunc(has, func(c feedmill.Column) bool { return c.ID == v.Columns[i].ID })
		sql := "CAST(NULL AS " + duckdb.ColumnType(&v.Columns[i]) + ")"
		if at >= 0 {
			sql, _ = widened(&has[at], &v.Columns[i], fmt.Sprintf("c%d", at))
		}
		all = append(all, sql)
	}
	return strings.Join(append(all, fmt.Sprintf("nr + %d", first)), ", ")
}

// reads reports whether rows of a file with some columns can be read as rows with
// others as they lie: without any column too many, and with no other conversion
// than that of a number to one that may have more digits.
func reads(has, columns []feedmill.Column) bool {
	for i := range has {
		at := slices.IndexFunc(columns, func(c feedmill.Column) bool { return c.ID == has[i].ID })
		if at < 0 || !readsColumn(&has[i], &columns[at]) {
			return false
		}
	}
	return true
}

func readsColumn(has, as *feedmill.Column) bool {
	exact := has.Type == columnar.TypeInteger || has.Type == columnar.TypeDecimal
	_, lossless := widened(has, as, "")
	return lossless && (has.Type == as.Type || exact && as.Type == columnar.TypeDecimal)
}

// as is a file as one of a version with other columns, which must be able to read
// it.
func (v *Version) as(file feedmill.VersionFile, columns []feedmill.Column) feedmill.VersionFile {
	file.Columns = v.physical(&file)
	if sameLayout(file.Columns, columns) {
		file.Columns = nil
	}
	return file
}

// sameLayout reports whether columns are the same in a file, but for what is said of
// them.
func sameLayout(a, b []feedmill.Column) bool {
	return slices.EqualFunc(a, b, func(a, b feedmill.Column) bool {
		return a.ID == b.ID && a.Type == b.Type && a.Precision == b.Precision && a.Scale == b.Scale
	})
}
