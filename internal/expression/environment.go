package expression

import (
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/ext"
	"cel.dev/cel-go/interpreter"

	"github.com/feedmill/feedmill"
)

const (
	// maxNesting bounds the depth of an expression, and maxNodes its parts after macros
	// are expanded.
	maxNesting = 60
	maxNodes   = 5000
)

// environment is what expressions can use. It is created with the first expression.
var environment = sync.OnceValue(func() *cel.Env {
	registry, err := types.NewRegistry()
	if err != nil {
		panic(err)
	}
	provider := eventProvider{registry}
	e, err := cel.NewCustomEnv(
		cel.StdLib(cel.StdLibSubset(env.NewLibrarySubset().AddExcludedFunctions(env.NewFunction("matches")))),
		cel.CustomTypeProvider(provider),
		cel.CustomTypeAdapter(provider),
		cel.OptionalTypes(),
		cel.CrossTypeNumericComparisons(true),
		cel.DefaultUTCTimeZone(true),
		cel.ParserExpressionSizeLimit(feedmill.MaxExpressionBytes),
		cel.ParserRecursionLimit(maxNesting),
		cel.ExpressionNodeLimit(maxNodes),
		ext.Strings(ext.StringsVersion(5)),
		ext.Math(),
		ext.Lists(ext.ListsVersion(0)),
		boundedFunctions(),
		cel.Variable("event", cel.ObjectType(eventTypeName)),
	)
	if err != nil {
		panic(err) // the options are ours
	}
	return e
})

// programOptions limit every evaluation.
var programOptions = []cel.ProgramOption{
	cel.CostLimit(feedmill.MaxExpressionCost),
	cel.CostTrackerOptions(cost.OverloadTracker("matches", matchesCost), cost.OverloadTracker("matches_string", matchesCost)),
	cel.InterruptCheckFrequency(1),
	cel.CustomDecoratorV2(boundNodes),
}

// boundNodes limits what every call and every literal does. CEL itself checks the limit of
// time only in comprehensions, and charges one unit for a call with dynamic arguments.
func boundNodes(node interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	switch node := node.(type) {
	case interpreter.InterpretableCall:
		return boundedCall{node}, nil
	case interpreter.InterpretableConstructor:
		if len(node.InitVals()) > 0 {
			return boundedLiteral{node}, nil
		}
	}
	return node, nil
}

type boundedCall struct{ interpreter.InterpretableCall }

// Exec evaluates the call unless the evaluation was interrupted.
func (c boundedCall) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	if frame.CheckInterrupt() {
		return types.WrapErr(interpreter.InterruptError{})
	}
	return bounded(c.InterpretableCall.Exec(frame))
}

type boundedLiteral struct {
	interpreter.InterpretableConstructor
}

// Exec evaluates a list or a map that the expression contains.
func (l boundedLiteral) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return bounded(l.InterpretableConstructor.Exec(frame))
}

// sizes measures values: one unit for each part, and for every 10 bytes of text.
var sizes = types.NewSizeCalculator(types.SizeCalculatorMaxDepth(1000), types.SizeCalculatorMaxTraversal(maxUnits))

const maxUnits = 100_000

// bounded returns an error in place of a value that is too large. A short expression can
// refer to the same value so often that it cannot be compared or written in any time.
func bounded(v ref.Val) ref.Val {
	switch v := v.(type) {
	case types.String:
		if len(v) > maxText {
			return types.WrapErr(errLongText)
		}
	case types.Bytes:
		if len(v) > maxText {
			return types.WrapErr(errLongText)
		}
	case traits.Lister, traits.Mapper, *types.Optional:
		if size := sizes.ApproximateAggregateSize(v); size.LimitExceeded || size.Size > 2*maxUnits {
			return types.WrapErr(errLargeValue)
		}
	}
	return v
}
