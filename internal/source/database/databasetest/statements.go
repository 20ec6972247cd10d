package databasetest

import (
	"regexp"
	"strings"
)

var (
	literal   = regexp.MustCompile(`'(?:[^'\\]|'')*'`)
	selection = regexp.MustCompile(`^SELECT [^;]* FROM N(?:\.N)?(?: AS N(?: (?:LEFT )?JOIN N(?:\.N)? AS N ON [^;]*)+)?(?: (?:WHERE|GROUP BY|HAVING|ORDER BY|LIMIT) [^;]*)?$`)
	suspect   = regexp.MustCompile(`(?i)--|/\*|;|\b(?:DROP|DELETE|INSERT|UPDATE|CREATE|ALTER|INTO|SET|UNION|1=1)\b`)
)

// IsSelection reports whether a statement that a server has logged selects from one
// table or joined ones and does nothing else: once names and texts are taken out, quoted as the
// database has it, nothing of a query's own words is left.
func IsSelection(sql string, quotedName *regexp.Regexp) bool {
	for _, name := range quotedName.FindAllString(sql, -1) {
		if strings.Contains(name, "DROP") {
			return false // no column is called that, and an alias is not written
		}
	}
	plain := literal.ReplaceAllStringFunc(quotedName.ReplaceAllString(sql, "N"), func(text string) string {
		if suspect.MatchString(text) {
			return text
		}
		return "L"
	})
	return selection.MatchString(plain) && !suspect.MatchString(plain)
}
