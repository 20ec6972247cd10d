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
		{"", 0, "a path begins with $"},
		{"a", 0, "a path begins with $"},
		{" $", 0, "a path begins with $"},
		{"$ ", 1, "expected . or [ or the end of the path, found a blank"},
		{"$.a ", 3, "found a blank"},
		{"$a", 1, "found 'a'"},
		{"$.", 2, "expected a name or * after the dot, found the end of the path"},
		{"$. a", 2, "found a blank"},
		{"$.1", 2, "a name with other characters is written ['a name']"},
		{"$.a-b", 3, "found '-'"},
		{"$.['a']", 2, "after the dot, found '['"},
		{"$..", 3, "after the two dots"},
		{"$...a", 3, "after the two dots"},
		{"$.. a", 3, "found a blank"},
		{"$['a'", 5, "expected , or ] after a selector, found the end"},
		{"$['a'.b]", 5, "found '.'"},
		{"$[]", 2, "expected a quoted name"},
		{"$[a]", 2, "expected a quoted name"},
		{"$[1,]", 4, "expected a quoted name"},
		{"$['a]", 2, "the quote is not closed"},
		{"$['\x00']", 3, "a control character"},
		{`$['\x']`, 3, "no such escape"},
		{`$['\"']`, 3, "no such escape"},
		{`$["\'"]`, 3, "no such escape"},
		{`$['\`, 3, "no such escape"},
		{`$['\u12']`, 3, "four hexadecimal digits"},
		{`$['\u+123']`, 3, "four hexadecimal digits"},
		{`$['\u12`, 3, "four hexadecimal digits"},
		{`$['\uD800']`, 3, "half of a surrogate pair"},
		{`$['\uDC00']`, 3, "half of a surrogate pair"},
		{`$['\uD800\u0041']`, 3, "half of a surrogate pair"},
		{"$.a\xff", 3, "not valid UTF-8"},
		{"$[01]", 2, "begins with no zero"},
		{"$[-0]", 2, "-0 is none"},
		{"$[-]", 3, "expected a digit"},
		{"$[1.0]", 3, "expected , or ]"},
		{"$[9007199254740992]", 2, "larger than"},
		{"$[-9007199254740992]", 2, "larger than"},
		{"$[99999999999999999999]", 2, "larger than"},
		{"$[1:2:3:4]", 7, "expected , or ]"},
		{"$[0:01]", 4, "begins with no zero"},
		{"$[?]", 3, "expected a path that begins with @ or $"},
		{"$[?@.a==]", 8, "expected a path that begins with @ or $"},
		{"$[?1]", 3, "a literal has to be compared"},
		{"$[?'a']", 3, "a literal has to be compared"},
		{"$[?true]", 3, "a literal has to be compared"},
		{"$[?@.a=1]", 6, "expected , or ]"},
		{"$[?@.a==abc]", 8, "a text is written in quotes"},
		{"$[?@.a==True]", 8, "expected a path"},
		{"$[?@.a==01]", 8, "begins with no zero"},
		{"$[?@.a==1.]", 10, "a digit after the point"},
		{"$[?@.a==1e]", 10, "a digit in the exponent"},
		{"$[?@.a==-]", 9, "expected a digit"},
		{"$[?@.*==1]", 3, "more than one value"},
		{"$[?1==@..a]", 6, "more than one value"},
		{"$[?1==@[0,1]]", 6, "more than one value"},
		{"$[?@[0:1]==1]", 3, "more than one value"},
		{"$[?!@.a==1]", 4, "needs parentheses"},
		{"$[?(@.a]", 7, "expected )"},
		{"$[?(@.a)==1]", 8, "expected , or ]"},
		{"$[?@.a && ]", 10, "expected a path"},
		{"$[?@.a & @.b]", 7, "expected , or ]"},
		{"$[?@.a==1==1]", 9, "expected , or ]"},
		{"$[?nope(@.a)]", 3, "there are length, count, match, search and value"},
		{"$[?length(@.a)]", 3, "has to be compared"},
		{"$[?length()==1]", 10, "length takes one argument"},
		{"$[?length(@.a,@.b)==1]", 13, "length takes one argument"},
		{"$[?length(@.*)==1]", 10, "more than one value"},
		{"$[?length (@)==1]", 3, "a text is written in quotes"},
		{"$[?count(1)==1]", 9, "takes a path"},
		{"$[?count(@.a)]", 3, "has to be compared"},
		{"$[?value(@.a)]", 3, "has to be compared"},
		{"$[?match(@.a)]", 12, "expected ,"},
		{"$[?match(@.a,)]", 13, "match takes 2 arguments"},
		{"$[?match(@.a,'a')==true]", 3, "true or false by itself"},
		{"$[?1==match(@.a,'a')]", 6, "true or false by itself"},
		{"$[?length(match(@.a,'a'))==1]", 10, "true or false by itself"},
		{"$[?match(@,'(')]", 11, "the pattern cannot be read"},
		{`$[?match(@,'\\d')]`, 11, `there is no escape \d`},
		{`$[?match(@,'\\')]`, 11, `a \ at the end`},
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
	const want = "the path is wrong at character 5: expected a name or * after the dot, found the end of the path; a name with other characters is written ['a name']"
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
