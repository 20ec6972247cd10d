package feedmill

import (
	"fmt"

	"github.com/feedmill/feedmill/internal/strictjson"
)

// Rules is the version of the reading and matching rules that a definition was
// created under. A definition keeps its version for life, so that a later
// release reads the same data in the same way; see docs/decisions/stored-definitions.md.
type Rules int

// The versions of the rules.
const (
	// RulesFirst applies to every definition that was stored before definitions
	// had a version.
	RulesFirst Rules = 1
	// RulesCurrent applies to new definitions that do not name a version.
	RulesCurrent Rules = 2
)

// Or returns r, or other where r is not set.
func (r Rules) Or(other Rules) Rules {
	if r == 0 {
		return other
	}
	return r
}

// Fault describes why r is not a version of the rules. It is empty if r is one.
func (r Rules) Fault() string {
	if r < RulesFirst || r > RulesCurrent {
		return fmt.Sprintf("rules must be between %d and %d.", RulesFirst, RulesCurrent)
	}
	return ""
}

// ReadRules reads the member rules of a definition. It returns 0 where the
// definition has none.
func ReadRules(o *strictjson.Object) Rules {
	f, ok := o.Given("rules")
	if !ok {
		return 0
	}
	n, ok := f.Integer(int(RulesFirst), int(RulesCurrent))
	if !ok {
		return 0
	}
	return Rules(n)
}
