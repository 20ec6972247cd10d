package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/feedmill/feedmill"
)

// columnID is the id of the column that comes after so many others.
func columnID(i int) string { return "c" + strconv.Itoa(i+1) }

// Name gives columns that have types already their ids and names, made of what
// the data calls them. It warns of names that are not as in the data.
func Name(columns []feedmill.Column) ([]feedmill.Column, []feedmill.Warning) {
	named, source := slices.Clone(columns), make([]string, len(columns))
	for i, c := range columns {
		source[i] = c.SourceName
	}
	names, warnings := columnNames(source)
	for i := range named {
		named[i].ID, named[i].Name = columnID(i), names[i]
	}
	return named, warnings
}

// columnNames makes names of what the data calls the columns: none is blank, none
// is there twice, and none is longer than [feedmill.MaxColumnName]. Names that differ only in
// their letters being small or large are the same, as they are in most databases.
func columnNames(source []string) (names []string, warnings []feedmill.Warning) {
	taken := make(map[string]bool, len(source))
	for _, name := range source {
		taken[strings.ToLower(strings.TrimSpace(name))] = true
	}
	used := make(map[string]bool, len(source))
	renamed := feedmill.Warning{Code: feedmill.WarnHeader}
	for i, original := range source {
		name := strings.TrimSpace(strings.ToValidUTF8(original, "\ufffd"))
		for len(name) > feedmill.MaxColumnName {
			_, size := utf8.DecodeLastRuneInString(name)
			name = name[:len(name)-size]
		}
		made := name == ""
		if made {
			name = "column_" + strconv.Itoa(i+1)
		}
		free := name
		for n := 2; used[strings.ToLower(free)] || (made || free != name) && taken[strings.ToLower(free)]; n++ {
			free = name + "_" + strconv.Itoa(n)
		}
		used[strings.ToLower(free)] = true
		names = append(names, free)
		if free != strings.TrimSpace(original) {
			renamed.Count++
			if renamed.Column == "" {
				renamed.Column = free
				renamed.Detail = fmt.Sprintf("Column %d was renamed from %q because names must be non-empty, unique and at most 256 bytes long. Set another name in columns.", i+1, sample([]byte(original)))
			}
		}
	}
	if renamed.Count > 0 {
		warnings = append(warnings, renamed)
	}
	return names, warnings
}
