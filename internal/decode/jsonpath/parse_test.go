package jsonpath

import (
	"errors"
	"strings"
	"testing"
)

func TestParseRefuses(t *testing.T) {
	for _, test := range []struct {
		path   string
		offset int
		detail string
	}{
		{"", 0, "a path must start with $"},
		{"a", 0, "a path must start with $"},
		{" $", 0, "a path must start with $"},
		{"$ ", 1, "expected . or [ or the end of the path, found a space"},
		{"$.a ", 3, "found a space"},
		{"$a", 1, "found 'a'"},
		{"$.", 2, "expected a name or * after the dot, found the end of the path"},
		{"$. a", 2, "found a space"},
		{"$.1", 2, "write names with special characters as ['a name']"},
		{"$.a-b", 3, "found '-'"},
		{"$.['a']", 2, "after the dot, found '['"},
		{"$..", 3, "after the two dots"},
		{"$...a", 3, "after the two dots"},
		{"$.. a", 3, "found a space"},
		{"$['a'", 5, "expected , or ] after a selector, found the end"},
		{"$['a'.b]", 5, "found '.'"},
		{"$[]", 2, "expected a quoted name"},
		{"$[a]", 2, "expected a quoted name"},
		{"$[1,]", 4, "expected a quoted name"},
		{"$['a]", 2, "the closing quote is missing"},
		{"$['\x00']", 3, "a control character"},
		{`$['\x']`, 3, "the escape is not valid"},
		{`$['\"']`, 3, "the escape is not valid"},
		{`$["\'"]`, 3, "the escape is not valid"},
		{`$['\`, 3, "the escape is not valid"},
		{`$['\u12']`, 3, "four hexadecimal digits"},
		{`$['\u+123']`, 3, "four hexadecimal digits"},
		{`$['\u12`, 3, "four hexadecimal digits"},
		{`$['\uD800']`, 3, "half of a surrogate pair"},
		{`$['\uDC00']`, 3, "half of a surrogate pair"},
		{`$['\uD800\u0041']`, 3, "half of a surrogate pair"},
		{"$.a\xff", 3, "not valid UTF-8"},
		{"$[01]", 2, "must not start with 0"},
		{"$[-0]", 2, "-0 is not valid"},
		{"$[-]", 3, "expected a digit"},
		{"$[1.0]", 3, "expected , or ]"},
		{"$[9007199254740992]", 2, "must be between"},
		{"$[-9007199254740992]", 2, "must be between"},
		{"$[99999999999999999999]", 2, "must be between"},
		{"$[1:2:3:4]", 7, "expected , or ]"},
		{"$[0:01]", 4, "must not start with 0"},
		{"$[?]", 3, "expected a path that starts with @ or $"},
		{"$[?@.a==]", 8, "expected a path that starts with @ or $"},
		{"$[?1]", 3, "compare the literal"},
		{"$[?'a']", 3, "compare the literal"},
		{"$[?true]", 3, "compare the literal"},
		{"$[?@.a=1]", 6, "expected , or ]"},
		{"$[?@.a==abc]", 8, "put text in quotes"},
		{"$[?@.a==True]", 8, "expected a path"},
		{"$[?@.a==01]", 8, "must not start with 0"},
		{"$[?@.a==1.]", 10, "a digit after the decimal point"},
		{"$[?@.a==1e]", 10, "a digit in the exponent"},
		{"$[?@.a==-]", 9, "expected a digit"},
		{"$[?@.*==1]", 3, "more than one value"},
		{"$[?1==@..a]", 6, "more than one value"},
		{"$[?1==@[0,1]]", 6, "more than one value"},
		{"$[?@[0:1]==1]", 3, "more than one value"},
		{"$[?!@.a==1]", 4, "in parentheses"},
		{"$[?(@.a]", 7, "expected )"},
		{"$[?(@.a)==1]", 8, "expected , or ]"},
		{"$[?@.a && ]", 10, "expected a path"},
		{"$[?@.a & @.b]", 7, "expected , or ]"},
		{"$[?@.a==1==1]", 9, "expected , or ]"},
		{"$[?nope(@.a)]", 3, "use length, count, match, search or value"},
		{"$[?length(@.a)]", 3, "compare it with"},
		{"$[?length()==1]", 10, "length requires one argument"},
		{"$[?length(@.a,@.b)==1]", 13, "length requires one argument"},
		{"$[?length(@.*)==1]", 10, "more than one value"},
		{"$[?length (@)==1]", 3, "put text in quotes"},
		{"$[?count(1)==1]", 9, "must be a path"},
		{"$[?count(@.a)]", 3, "compare it with"},
		{"$[?value(@.a)]", 3, "compare it with"},
		{"$[?match(@.a)]", 12, "expected ,"},
		{"$[?match(@.a,)]", 13, "match requires 2 arguments"},
		{"$[?match(@.a,'a')==true]", 3, "returns true or false"},
		{"$[?1==match(@.a,'a')]", 6, "returns true or false"},
		{"$[?length(match(@.a,'a'))==1]", 10, "returns true or false"},
		{"$[?match(@,'(')]", 11, "the pattern is not valid"},
		{`$[?match(@,'\\d')]`, 11, `the escape \d is not supported`},
		{`$[?match(@,'\\')]`, 11, `a \ at the end escapes nothing`},
		{`$[?match(@,'\\pL')]`, 11, "category in braces"},
		{`$[?match(@,'a*?')]`, 11, "quantifier"},
		{`$[?match(@,'(?i)a')]`, 11, "(?"},
		{`$[?match(@,'[]')]`, 11, "empty brackets"},
		{`$[?match(@,'[[:alpha:]]')]`, 11, `[ inside brackets`},
		{"$.☺.", 4, "after the dot"},
		{"$[?" + strings.Repeat("(", 100) + "@" + strings.Repeat(")", 100) + "]", 67, "more than 64"},
		{"$[?" + strings.Repeat("@[?", 100), 99, "more than 64"},
	} {
		_, err := Parse(test.path)
		syntax, ok := errors.AsType[*SyntaxError](err)
		if !ok {
			t.Errorf("%q: error %v, want a syntax error", test.path, err)
			continue
		}
		if syntax.Offset != test.offset || !strings.Contains(syntax.Detail, test.detail) {
			t.Errorf("%q: at %d %q, want %d %q", test.path, syntax.Offset, syntax.Detail, test.offset, test.detail)
		}
	}
}

func TestSyntaxErrorSaysWhere(t *testing.T) {
	_, err := Parse("$.a.")
	const want = "the path is not valid at character 5: expected a name or * after the dot, found the end of the path; write names with special characters as ['a name']"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, path := range []string{"$", "$.a[*]", "$..['a',1,::2]", "$[?@.a<1&&!(match(@.b,'c|[d]'))||count($..*)==-1e1]", `$["\u0041"]`} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			syntax, ok := errors.AsType[*SyntaxError](err)
			if !ok || syntax.Offset < 0 || syntax.Offset > len(text) {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		if _, err := p.Select(NewWork(t.Context(), 0), readTree(t, store)); err != nil && !errors.Is(err, ErrTooMuchWork) {
			t.Fatal(err)
		}
		p.Steps()
	})
}
