package xml

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/feedmill/feedmill"
)

// pathStep is a name on the way to the records.
type pathStep struct {
	// prefix is empty where any will do, and local is * where any name will.
	prefix, local string
	// below says that elements may stand between this one and the one before it.
	below bool
}

// recordPath says which elements are records: /feed/entry, //row, /data/*/item.
type recordPath []pathStep

// maxSteps is how many steps a path can have.
const maxSteps = 60

// CheckPath says what is wrong with a path of records.
func CheckPath(text string) error {
	_, err := parsePath(text)
	return err
}

// CheckExplode says what is wrong with a path below a record.
func CheckExplode(text string) error {
	_, err := parseExplode(text)
	return err
}

// parsePath reads the parameter path.
func parsePath(text string) (recordPath, error) {
	const form = "path must consist of element names, such as /feed/entry or //row; a name can be * and can have a prefix"
	if text == "" || text[0] != '/' {
		return nil, invalidParameter("path", "%s: %q does not start with /", form, text)
	}
	var path recordPath
	for rest := text; rest != ""; {
		step := pathStep{}
		rest = rest[1:]
		if strings.HasPrefix(rest, "/") {
			step.below = true
			rest = rest[1:]
		}
		name := rest
		if end := strings.IndexByte(rest, '/'); end >= 0 {
			name = rest[:end]
		}
		rest = rest[len(name):]
		var ok bool
		if step.prefix, step.local, ok = parseName(name); !ok {
			return nil, invalidParameter("path", "%s: %q is not a valid name", form, name)
		}
		path = append(path, step)
	}
	if len(path) > maxSteps {
		return nil, invalidParameter("path", "path has more than %d steps, the maximum", maxSteps)
	}
	return path, nil
}

// parseExplode reads the parameter explode, which leads from the record down.
func parseExplode(text string) ([]pathStep, error) {
	var steps []pathStep
	for name := range strings.SplitSeq(text, "/") {
		prefix, local, ok := parseName(name)
		if !ok || local == "*" {
			return nil, invalidParameter("explode", "explode must consist of element names from the record down, such as lines/line: %q is not a valid name", name)
		}
		steps = append(steps, pathStep{prefix: prefix, local: local})
	}
	return steps, nil
}

// parseName takes a name apart that may have a prefix.
func parseName(text string) (prefix, local string, ok bool) {
	if text == "*" {
		return "", "*", true
	}
	prefix, local, prefixed := strings.Cut(text, ":")
	if !prefixed {
		prefix, local = "", text
	}
	return prefix, local, isNCName(local) && (!prefixed || isNCName(prefix))
}

// isNCName reports whether a text is a name without a colon.
func isNCName(text string) bool {
	for i, c := range text {
		if i == 0 && !isNameStart(c) || !isNameChar(c) || c == utf8.RuneError {
			return false
		}
	}
	return text != ""
}

// matches reports whether the step is to an element of a name.
func (s pathStep) matches(prefix, local string) bool {
	return (s.local == "*" || s.local == local) && (s.prefix == "" || s.prefix == prefix)
}

// next is how far the path leads to an element of a name, from how far it leads to the one around
// it: a set of the numbers of steps that were taken.
func (p recordPath) next(around uint64, prefix, local string) (taken uint64) {
	for i, step := range p {
		if around&(1<<i) == 0 {
			continue
		}
		if step.below {
			taken |= 1 << i
		}
		if step.matches(prefix, local) {
			taken |= 1 << (i + 1)
		}
	}
	return taken
}

// complete reports whether all steps were taken.
func (p recordPath) complete(taken uint64) bool { return taken&(1<<len(p)) != 0 }

// invalidParameter is the refusal of a parameter of the request.
func invalidParameter(name, format string, args ...any) error {
	detail := fmt.Sprintf(format, args...)
	return feedmill.Invalid(detail, feedmill.Fault{Parameter: name, Detail: detail})
}
