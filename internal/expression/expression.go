// Package expression compiles and evaluates the CEL expressions of subscriptions: filters,
// which decide whether a subscription gets an event, and transformations, which make the
// body of its deliveries.
//
// An expression sees one variable, event, the public payload. It has no clock, no random
// numbers and no input or output, so the same expression and the same event always give the
// same result. Its cost, its time and its output are limited (see [feedmill.MaxExpressionCost]
// and the constants next to it).
package expression

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

// maxPrograms bounds each of the two halves of the cache of compiled expressions.
const maxPrograms = 500

// Engine compiles and evaluates expressions. It is safe for concurrent use.
type Engine struct {
	// slots limits the evaluations that run concurrently, and shares them by workspace.
	slots *share.Slots

	mu         sync.Mutex
	young, old map[source]*program
}

// New returns an engine.
func New() *Engine {
	n := runtime.GOMAXPROCS(0) + 1
	return &Engine{slots: share.NewSlots(n, n, 1<<20)}
}

// source is an expression and what it is used for.
type source struct {
	text      string
	transform bool
}

// noun is what users call the expression.
func (s source) noun() string {
	if s.transform {
		return "transform"
	}
	return "filter"
}

// program is a compiled expression, or why it does not compile.
type program struct {
	cel.Program
	err error
}

// CheckFilter returns an error if a text is not a valid filter.
func (e *Engine) CheckFilter(text string) error { return e.program(source{text: text}).err }

// CheckTransform returns an error if a text is not a valid transformation.
func (e *Engine) CheckTransform(text string) error {
	return e.program(source{text: text, transform: true}).err
}

// program returns the compiled expression from the cache, or compiles it.
func (e *Engine) program(s source) *program {
	e.mu.Lock()
	p, ok := e.young[s]
	if !ok {
		p, ok = e.old[s]
	}
	e.mu.Unlock()
	if !ok { // several goroutines may compile it; any of the results will do
		p = new(program)
		p.Program, p.err = compile(s)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.young[s]; known {
		return p
	}
	if e.young == nil || len(e.young) >= maxPrograms {
		e.young, e.old = make(map[source]*program), e.young
	}
	e.young[s] = p
	return p
}

// compile parses, checks and plans an expression.
func compile(s source) (cel.Program, error) {
	if strings.TrimSpace(s.text) == "" {
		return nil, fmt.Errorf("%s must not be empty; omit it, or set it to null", s.noun())
	}
	if len(s.text) > feedmill.MaxExpressionBytes {
		return nil, fmt.Errorf("%s must have at most %d bytes; it has %d", s.noun(), feedmill.MaxExpressionBytes, len(s.text))
	}
	if strings.Contains(s.text, "\x00") {
		return nil, fmt.Errorf("%s must not contain the character U+0000", s.noun())
	}
	env := environment()
	ast, issues := env.Compile(s.text)
	if found := issues.Errors(); len(found) > 0 {
		first := found[0]
		return nil, fmt.Errorf("%s is not valid CEL at line %d, column %d: %s", s.noun(),
			max(first.Location.Line(), 1), first.Location.Column()+1, firstLine(first.Message))
	}
	if err := checkResult(s, ast.OutputType()); err != nil {
		return nil, err
	}
	program, err := env.Program(ast, programOptions...)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be evaluated: %s", s.noun(), firstLine(err.Error()))
	}
	return program, nil
}

// firstLine is the beginning of a message, which may quote the expression in later lines.
func firstLine(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	return strings.TrimSuffix(strings.ToValidUTF8(text[:min(len(text), 300)], ""), ".")
}

// checkResult refuses an expression whose type can never be right.
func checkResult(s source, got *cel.Type) error {
	kind := got.Kind()
	switch {
	case kind == types.DynKind || kind == types.TypeParamKind || kind == types.ErrorKind:
		return nil
	case !s.transform && kind != types.BoolKind:
		return fmt.Errorf("filter must return a boolean; it returns %s", typeName(got))
	case s.transform && kind != types.MapKind && kind != types.ListKind && kind != types.StringKind && got.TypeName() != eventTypeName:
		return fmt.Errorf("transform must return a map, a list or a string; it returns %s", typeName(got))
	}
	return nil
}

func typeName(t *cel.Type) string { return t.String() }

// errTooSlow is the error of an evaluation that used more than [feedmill.MaxExpressionTime].
var errTooSlow = fmt.Errorf("the evaluation took longer than %s", feedmill.MaxExpressionTime)

// maxWait is how long an evaluation may wait for a processor in total.
const maxWait = 64 * feedmill.MaxExpressionTime

// eval evaluates a program. The limit of time is on the processor time of the evaluation: a
// busy machine must not change which events match. An evaluation that was interrupted
// before it had used that time is repeated with more patience.
func eval(p cel.Program, event *eventValue) (ref.Val, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for patience := feedmill.MaxExpressionTime; ; patience *= 2 {
		began := threadTime()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		out, _, err := p.ContextEval(ctx, map[string]any{"event": event})
		cancel()
		switch {
		case err == nil:
			return out, nil
		case !errors.Is(err, interpreter.InterruptError{}):
			return nil, explain(err)
		case threadTime()-began >= feedmill.MaxExpressionTime || patience >= maxWait:
			return nil, errTooSlow
		}
	}
}

// explain words the error of an evaluation for users.
func explain(err error) error {
	var canceled interpreter.EvalCancelledError
	if errors.As(err, &canceled) && canceled.Cause == interpreter.CostLimitExceeded {
		return fmt.Errorf("the evaluation needs more than %d cost units", feedmill.MaxExpressionCost)
	}
	return errors.New(firstLine(err.Error()))
}

// Open returns a function that evaluates filters against the event of a payload. The event
// is parsed once, when the first filter needs it. The function is for one goroutine.
func (e *Engine) Open(payload []byte) feedmill.EventFilter {
	var event *eventValue
	var broken error
	known := make(map[string]feedmill.FilterVerdict)
	return func(filter string) feedmill.FilterVerdict {
		if v, ok := known[filter]; ok {
			return v
		}
		if event == nil && broken == nil {
			event, broken = parseEvent(payload)
		}
		v := feedmill.FilterVerdict{Key: feedmill.FilterKey(filter)}
		matches, err := false, broken
		if err == nil {
			matches, err = e.matches(filter, event)
		}
		if v.Matches = matches; err != nil {
			v.Error = err.Error()
		}
		known[filter] = v
		return v
	}
}

func (e *Engine) matches(filter string, event *eventValue) (bool, error) {
	p := e.program(source{text: filter})
	if p.err != nil {
		return false, p.err
	}
	out, err := eval(p.Program, event)
	if err != nil {
		return false, err
	}
	matches, ok := out.(types.Bool)
	if !ok {
		return false, fmt.Errorf("filter must return a boolean; it returned %s", out.Type().TypeName())
	}
	return bool(matches), nil
}

// Try takes a slot to evaluate filters in for the workspace of ctx, if one is free.
func (e *Engine) Try(ctx context.Context) (release func(), ok bool) { return e.slots.Try(ctx) }

// Body returns what is sent for the payload of an event. It waits for a slot of the
// workspace.
func (e *Engine) Body(ctx context.Context, workspace feedmill.ID, shape feedmill.Shape, payload []byte) (feedmill.Body, error) {
	release, err := e.slots.Take(share.InBackground(ctx, string(workspace)))
	if err != nil {
		return feedmill.Body{}, err
	}
	defer release()
	event, err := parseEvent(payload)
	if err != nil {
		return feedmill.Body{}, transformFailed(err)
	}
	if shape.Preset != "" {
		return preset(shape.Preset, event)
	}
	p := e.program(source{text: shape.Transform, transform: true})
	if p.err != nil {
		return feedmill.Body{}, transformFailed(p.err)
	}
	out, err := eval(p.Program, event)
	if err != nil {
		return feedmill.Body{}, transformFailed(err)
	}
	body, err := render(out)
	if err != nil {
		return feedmill.Body{}, transformFailed(err)
	}
	return body, nil
}

// transformFailed is the refusal of an event that cannot be transformed. Its detail is the
// reason of the delivery.
func transformFailed(err error) error {
	return &feedmill.Error{Kind: feedmill.ErrUnprocessable, Detail: feedmill.TransformFailedReason + err.Error()}
}
