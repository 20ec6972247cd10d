package database

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/feedmill/feedmill"
)

// SQLStyle is how a database reads SQL that a user wrote, as far as [SQLStyle.Check] has to know.
type SQLStyle struct {
	// Backslash says that a backslash escapes the next character of a text. With Strings, texts are in
	// double quotes, too, and names in backticks.
	Backslash, Strings bool
	// Hash says that # begins a comment, and Dollar that $$ or $tag$ quotes a text.
	Hash, Dollar bool
	// Returns says that a carriage return ends a comment that begins with two hyphens.
	Returns bool
	// Nested says that comments nest, and Brackets that names can be in brackets.
	Nested, Brackets bool
	// Conditional says that comments can contain statements that run, which are refused.
	Conditional bool
	// Parameters are the characters that begin a parameter.
	Parameters string
	// First are the words that a statement that reads can begin with.
	First []string
	// Denied are functions that have an effect beyond the rows that they return, in lower case. A name
	// that ends with * stands for all that begin so.
	Denied []string
}

// word is a name or a keyword of a statement. One that is called has an opening parenthesis after it.
type word struct {
	text           string // in lower case where it is not quoted
	at             int
	quoted, called bool
}

// Check returns the one statement that a user wrote, without a semicolon at its end. It refuses
// what cannot be part of another statement, and what is known to have an effect. The database
// checks the statement itself, too.
func (s SQLStyle) Check(sql string) (string, error) {
	if len(sql) > feedmill.MaxSQL {
		return "", WrongSQL(fmt.Sprintf("sql must have at most %d bytes; it has %d.", feedmill.MaxSQL, len(sql)), nil)
	}
	if !utf8.ValidString(sql) || strings.ContainsRune(sql, 0) {
		return "", WrongSQL("sql must be valid UTF-8 without the character U+0000.", nil)
	}
	r := sqlReader{SQLStyle: s, sql: sql, end: -1}
	if err := r.read(); err != nil {
		return "", err
	}
	if r.end >= 0 {
		sql = sql[:r.end]
	}
	return sql, r.refuse()
}

// sqlReader reads the tokens of a statement.
type sqlReader struct {
	SQLStyle
	sql   string
	at    int
	depth int
	// end is where the semicolon is that ends the statement, -1 if there is none.
	end   int
	words []word
	// any says that there was a token, and afterWord that the last one was a word.
	any, afterWord bool
}

// take adds a word.
func (r *sqlReader) take(w word) { r.words, r.afterWord = append(r.words, w), true }

// fault is a refusal with its position.
func (r *sqlReader) fault(at int, what string) error {
	return WrongSQL("sql "+what+" ("+SQLPosition(r.sql, utf8.RuneCountInString(r.sql[:at]))+").", nil)
}

// SQLPosition is a place in SQL, given as the number of characters before it.
func SQLPosition(sql string, before int) string {
	line, column := 1, 1
	for _, c := range sql {
		if before--; before < 0 {
			break
		}
		column++
		if c == '\n' {
			line, column = line+1, 1
		}
	}
	return fmt.Sprintf("line %d, column %d", line, column)
}

func (r *sqlReader) has(text string) bool { return strings.HasPrefix(r.sql[r.at:], text) }

func (r *sqlReader) read() error {
	for r.at < len(r.sql) {
		c, size := utf8.DecodeRuneInString(r.sql[r.at:])
		switch {
		case isSpace(c):
			r.at += size
		case isDisputed(c):
			return r.fault(r.at, fmt.Sprintf("must not contain the character U+%04X outside of texts and comments; use a space", c))
		case r.lineComment():
			r.line()
		case r.has("/*"):
			if err := r.comment(); err != nil {
				return err
			}
		default:
			if err := r.token(c, size); err != nil {
				return err
			}
		}
	}
	switch {
	case r.depth > 0:
		return r.fault(len(r.sql), "has an opening parenthesis without a closing one")
	case !r.any:
		return WrongSQL("sql must be a SELECT statement; it is empty.", nil)
	}
	return nil
}

// isSpace reports whether all databases skip a character between words.
func isSpace(c rune) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// isDisputed reports whether a character is a space to some databases and part of a name to others.
func isDisputed(c rune) bool {
	return !isSpace(c) && (unicode.IsSpace(c) || unicode.IsControl(c) || unicode.Is(unicode.Cf, c))
}

// lineComment reports whether a comment begins that goes up to the end of the line. Where # begins
// one, two hyphens do only before a space.
func (r *sqlReader) lineComment() bool {
	if !r.Hash {
		return r.has("--")
	}
	rest, hyphens := strings.CutPrefix(r.sql[r.at:], "--")
	return r.has("#") || hyphens && (rest == "" || rest[0] <= ' ')
}

// line skips the rest of a line. With Returns, a carriage return ends it, too.
func (r *sqlReader) line() {
	ends := "\n"
	if r.Returns {
		ends = "\n\r"
	}
	end := strings.IndexAny(r.sql[r.at:], ends)
	if end < 0 {
		end = len(r.sql) - r.at
	}
	r.at += end
}

// comment skips a comment.
func (r *sqlReader) comment() error {
	began := r.at
	if r.Conditional && (r.has("/*!") || r.has("/*M!") || r.has("/*+")) {
		return r.fault(began, "must not contain comments that the server runs")
	}
	depth := 0
	for r.at < len(r.sql) {
		switch {
		case r.has("/*") && (depth == 0 || r.Nested):
			depth++
			r.at += 2
		case r.has("*/"):
			depth--
			r.at += 2
			if depth == 0 {
				return nil
			}
		default:
			r.at++
		}
	}
	return r.fault(began, "has a comment without an end")
}

// token takes what is not a comment.
func (r *sqlReader) token(c rune, size int) error {
	at := r.at
	if r.end >= 0 {
		return r.fault(at, "must be one statement; there is text after the semicolon")
	}
	afterWord := r.afterWord
	r.any, r.afterWord = true, false
	switch {
	case c == ';':
		if r.depth > 0 || len(r.words) == 0 {
			return r.fault(at, "has a semicolon before the end of the statement")
		}
		r.end = at
		r.at++
	case c == '(':
		if afterWord {
			r.words[len(r.words)-1].called = true
		}
		r.depth++
		r.at++
	case c == ')':
		if r.depth--; r.depth < 0 {
			return r.fault(at, "has a closing parenthesis without an opening one")
		}
		r.at++
	case c == '\'':
		return r.quoted('\'', r.Backslash)
	case c == '"' && r.Strings:
		return r.quoted('"', r.Backslash)
	case c == '"':
		return r.name('"')
	case c == '`':
		return r.name('`')
	case c == '[' && r.Brackets:
		return r.name(']')
	case c == '$' && r.Dollar:
		return r.dollar()
	case strings.ContainsRune(r.Parameters, c):
		return r.fault(at, "must not contain parameters")
	case c >= '0' && c <= '9':
		for r.at < len(r.sql) && r.sql[r.at] < utf8.RuneSelf && isWord(rune(r.sql[r.at])) {
			r.at++
		}
	case isWord(c):
		return r.plainWord()
	default:
		r.at += size
	}
	return nil
}

// wordEnd is where the word ends that begins here.
func (r *sqlReader) wordEnd() int {
	for i, c := range r.sql[r.at:] {
		if c != '$' && !isWord(c) {
			return r.at + i
		}
	}
	return len(r.sql)
}

// isWord reports whether a character is part of names, as those beyond ASCII are.
func isWord(c rune) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf && !isDisputed(c)
}

// plainWord takes a name or a keyword, or the text that it is the prefix of.
func (r *sqlReader) plainWord() error {
	began := r.at
	end := r.wordEnd()
	text := strings.ToLower(r.sql[r.at:end])
	r.at = end
	if r.Dollar && text == "e" && r.has("'") {
		return r.quoted('\'', true)
	}
	if r.Dollar && text == "u" && r.has(`&"`) {
		return r.fault(began, `must not contain names with Unicode escapes (U&"…")`)
	}
	r.take(word{text: text, at: began})
	return nil
}

// quoted skips a text.
func (r *sqlReader) quoted(quote byte, backslash bool) error {
	began := r.at
	for r.at++; r.at < len(r.sql); r.at++ {
		switch c := r.sql[r.at]; {
		case c == '\\' && backslash:
			r.at++
		case c != quote:
		case r.at+1 < len(r.sql) && r.sql[r.at+1] == quote:
			r.at++
		default:
			r.at++
			return nil
		}
	}
	r.at = len(r.sql)
	return r.fault(began, "has a text without an end")
}

// name takes a quoted name.
func (r *sqlReader) name(quote byte) error {
	began := r.at
	for r.at++; r.at < len(r.sql); r.at++ {
		switch {
		case r.sql[r.at] != quote:
		case quote != ']' && r.at+1 < len(r.sql) && r.sql[r.at+1] == quote:
			r.at++
		default:
			r.at++
			text := strings.ReplaceAll(r.sql[began+1:r.at-1], string(quote)+string(quote), string(quote))
			r.take(word{text: text, at: began, quoted: true})
			return nil
		}
	}
	return r.fault(began, "has a quoted name without an end")
}

// dollar takes a text between dollars, or refuses a parameter.
func (r *sqlReader) dollar() error {
	began := r.at
	rest := r.sql[r.at+1:]
	end := strings.IndexByte(rest, '$')
	tag := ""
	if end >= 0 {
		tag = rest[:end]
	}
	isTag := end >= 0 && !strings.ContainsFunc(tag, func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }) &&
		(tag == "" || !unicode.IsDigit([]rune(tag)[0]))
	if !isTag {
		return r.fault(began, "must not contain parameters")
	}
	quote := "$" + tag + "$"
	r.at += len(quote)
	closing := strings.Index(r.sql[r.at:], quote)
	if closing < 0 {
		return r.fault(began, "has a text without an end")
	}
	r.at += closing + len(quote)
	return nil
}

// refuse refuses statements that do not read, locks and functions that have an effect.
func (r *sqlReader) refuse() error {
	if len(r.words) == 0 || r.words[0].quoted || !slices.Contains(r.First, r.words[0].text) {
		words := strings.Split(strings.ToUpper(strings.Join(r.First, " ")), " ")
		first := words[len(words)-1]
		if len(words) > 1 {
			first = strings.Join(words[:len(words)-1], ", ") + " or " + first
		}
		return WrongSQL("sql must be a statement that reads. Begin it with "+first+".", nil)
	}
	for i, w := range r.words {
		next := func(n int) string {
			if i+n < len(r.words) && !r.words[i+n].quoted {
				return r.words[i+n].text
			}
			return ""
		}
		switch {
		case w.called && r.denies(strings.ToLower(w.text)):
			return r.fault(w.at, "must not call "+feedmill.CutText(w.text, 100)+", which has effects outside the query or reads outside the tables")
		case w.quoted:
		case w.text == "for" && slices.Contains([]string{"update", "share"}, next(1)),
			w.text == "for" && next(1) == "no" && next(2) == "key",
			w.text == "for" && next(1) == "key" && next(2) == "share",
			w.text == "lock" && next(1) == "in" && next(2) == "share":
			return r.fault(w.at, "must not lock rows")
		case w.text == "into" && slices.Contains([]string{"outfile", "dumpfile"}, next(1)):
			return r.fault(w.at, "must not write files")
		}
	}
	return nil
}

func (s SQLStyle) denies(function string) bool {
	return slices.ContainsFunc(s.Denied, func(name string) bool {
		prefix, any := strings.CutSuffix(name, "*")
		return function == name || any && strings.HasPrefix(function, prefix)
	})
}
