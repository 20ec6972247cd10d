package expression

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/decls"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/pattern"
)

const (
	// maxText bounds the text that one call makes, in bytes, and maxParts the elements
	// of the list that it makes.
	maxText  = 1 << 20
	maxParts = 10_000
)

var (
	errLongText   = fmt.Errorf("the text would have more than %d bytes", maxText)
	errLargeValue = errors.New("a list or map is too large")
	errManyParts  = fmt.Errorf("the list would have more than %d elements", maxParts)
)

// boundedFunctions replaces the functions whose work is not in proportion to their
// arguments. CEL charges for a call after it was made, which is too late for them.
func boundedFunctions() cel.EnvOption {
	str, num := cel.StringType, cel.IntType
	texts := func(types ...*cel.Type) []*cel.Type { return types }
	member := func(id string, args []*cel.Type, result *cel.Type, f func(args ...ref.Val) ref.Val) cel.FunctionOpt {
		return cel.MemberOverload(id, args, result, cel.FunctionBinding(f))
	}
	options := []cel.EnvOption{
		cel.Function("matches",
			cel.Overload("matches", texts(str, str), cel.BoolType), cel.MemberOverload("matches_string", texts(str, str), cel.BoolType),
			decls.SingletonBinaryBinding(matches)),
		cel.Function("indexOf",
			member("string_index_of_string", texts(str, str), num, indexOf), member("string_index_of_string_int", texts(str, str, num), num, indexOf)),
		cel.Function("lastIndexOf",
			member("string_last_index_of_string", texts(str, str), num, lastIndexOf), member("string_last_index_of_string_int", texts(str, str, num), num, lastIndexOf)),
		cel.Function("replace",
			member("string_replace_string_string", texts(str, str, str), str, replace), member("string_replace_string_string_int", texts(str, str, str, num), str, replace)),
		cel.Function("split",
			member("string_split_string", texts(str, str), cel.ListType(str), split), member("string_split_string_int", texts(str, str, num), cel.ListType(str), split)),
		cel.Function("join",
			member("list_join", texts(cel.ListType(str)), str, join), member("list_join_string", texts(cel.ListType(str), str), str, join)),
	}
	return func(e *cel.Env) (*cel.Env, error) {
		var err error
		for _, option := range options {
			if e, err = option(e); err != nil {
				return nil, err
			}
		}
		return e, nil
	}
}

// text returns an argument whose type CEL has checked.
func text(v ref.Val) string { return string(v.(types.String)) }

// number returns an optional last argument.
func number(args []ref.Val, at int, missing int64) int64 {
	if len(args) <= at {
		return missing
	}
	return int64(args[at].(types.Int))
}

// patterns are compiled regular expressions.
var patterns = struct {
	sync.Mutex
	known map[string]compiled
}{known: make(map[string]compiled)}

type compiled struct {
	*regexp.Regexp
	size int
	err  error
}

// maxPatterns bounds how many of them are kept.
const maxPatterns = 1000

func compilePattern(of string) compiled {
	patterns.Lock()
	c, ok := patterns.known[of]
	patterns.Unlock()
	if ok {
		return c
	}
	if c.size, c.err = pattern.Size(of); c.err == nil {
		c.Regexp, c.err = regexp.Compile(of)
	}
	if len(of) > pattern.MaxBytes {
		return c // it is not worth its memory
	}
	patterns.Lock()
	defer patterns.Unlock()
	if len(patterns.known) >= maxPatterns {
		clear(patterns.known)
	}
	patterns.known[of] = c
	return c
}

// matchSteps is about how many steps a match takes.
func matchSteps(text string, c compiled) int { return (len(text) + 1) * (c.size + 1) }

// stepsPerUnit is how many steps of a match are one cost unit.
const stepsPerUnit = 40

func matches(str, of ref.Val) ref.Val {
	s, ok := str.(types.String)
	p, both := of.(types.String)
	if !ok || !both {
		return types.MaybeNoSuchOverloadErr(str)
	}
	c := compilePattern(string(p))
	if c.err != nil {
		return types.WrapErr(fmt.Errorf("matches: the pattern is not valid: %w", c.err))
	}
	if matchSteps(string(s), c) > stepsPerUnit*feedmill.MaxExpressionCost {
		return types.WrapErr(errors.New("matches: the text is too long for the pattern"))
	}
	return types.Bool(c.MatchString(string(s)))
}

// matchesCost charges for a match by its steps.
func matchesCost(args []ref.Val, _ ref.Val) *uint64 {
	units := uint64(1)
	s, ok := args[0].(types.String)
	p, both := args[1].(types.String)
	if ok && both {
		if c := compilePattern(string(p)); c.err == nil {
			units += uint64(matchSteps(string(s), c) / stepsPerUnit)
		}
	}
	return &units
}

// offset is the byte at which a character begins.
func offset(s string, character int64) (int, bool) {
	at := 0
	for ; character > 0 && at < len(s); character-- {
		_, n := utf8.DecodeRuneInString(s[at:])
		at += n
	}
	return at, character == 0
}

func indexOf(args ...ref.Val) ref.Val {
	s, from := text(args[0]), number(args, 2, 0)
	at, ok := offset(s, from)
	if !ok {
		return types.NewErr("indexOf: the index %d is out of range", from)
	}
	found := strings.Index(s[at:], text(args[1]))
	if found < 0 {
		return types.Int(-1)
	}
	return types.Int(from + int64(utf8.RuneCountInString(s[at:at+found])))
}

func lastIndexOf(args ...ref.Val) ref.Val {
	s, part := text(args[0]), text(args[1])
	until := len(s)
	if len(args) > 2 {
		at, ok := offset(s, number(args, 2, 0))
		if !ok {
			return types.NewErr("lastIndexOf: the index %d is out of range", number(args, 2, 0))
		}
		until = min(at+len(part), len(s)) // an occurrence may begin at the index
	}
	found := strings.LastIndex(s[:until], part)
	if found < 0 {
		return types.Int(-1)
	}
	return types.Int(utf8.RuneCountInString(s[:found]))
}

func replace(args ...ref.Val) ref.Val {
	s, old, with, most := text(args[0]), text(args[1]), text(args[2]), number(args, 3, -1)
	n := int64(strings.Count(s, old))
	if most >= 0 {
		n = min(n, most)
	}
	if int64(len(s))+n*int64(len(with)-len(old)) > maxText {
		return types.WrapErr(errLongText)
	}
	return types.String(strings.Replace(s, old, with, int(n)))
}

func split(args ...ref.Val) ref.Val {
	s, separator, most := text(args[0]), text(args[1]), number(args, 2, -1)
	n := int64(strings.Count(s, separator)) + 1
	if most >= 0 {
		n = min(n, most)
	}
	if n > maxParts {
		return types.WrapErr(errManyParts)
	}
	return types.DefaultTypeAdapter.NativeToValue(strings.SplitN(s, separator, int(max(min(most, math.MaxInt32), -1))))
}

func join(args ...ref.Val) ref.Val {
	separator := ""
	if len(args) > 1 {
		separator = text(args[1])
	}
	var b strings.Builder
	first := true
	for i := args[0].(traits.Lister).Iterator(); i.HasNext() == types.True; first = false {
		part, ok := i.Next().(types.String)
		if !ok {
			return types.NewErr("join: all elements of the list must be strings")
		}
		if b.Len()+len(separator)+len(part) > maxText {
			return types.WrapErr(errLongText)
		}
		if !first {
			b.WriteString(separator)
		}
		b.WriteString(string(part))
	}
	return types.String(b.String())
}
