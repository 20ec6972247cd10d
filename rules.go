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
	// RulesOriginal applies to the definitions of a database that the first release
	// created and that no other release has opened before this one. No request can set it;
	// the API shows it as 0, which means in Go that no version is set.
	RulesOriginal Rules = -1
	// RulesFirst applies to every other definition that was stored before definitions
	// had a version.
	RulesFirst Rules = 1
	// RulesCurrent applies to new definitions that do not name a version.
	RulesCurrent Rules = 2
)

// Number is the version as the API shows it.
func (r Rules) Number() int { return max(0, int(r)) }

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
