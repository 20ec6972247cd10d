package feedmill

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// DefinitionKind is the kind of an object that configuration files define.
type DefinitionKind string

// The kinds of objects in configuration files.
const (
	DefinedConnection   DefinitionKind = "Connection"
	DefinedSQLView      DefinitionKind = "SQLView"
	DefinedFeed         DefinitionKind = "Feed"
	DefinedSubscription DefinitionKind = "Subscription"
)

// DefinitionKinds lists the kinds in the order in which objects depend on each other.
var DefinitionKinds = []DefinitionKind{DefinedConnection, DefinedSQLView, DefinedFeed, DefinedSubscription}

// Prefix returns the prefix of the ids of a kind.
func (k DefinitionKind) Prefix() string {
	switch k {
	case DefinedConnection:
		return PrefixConnection
	case DefinedSQLView:
		return PrefixSQLView
	case DefinedFeed:
		return PrefixDataFeed
	case DefinedSubscription:
		return PrefixSubscription
	}
	return ""
}

// DefinitionKindOf returns the kind of the object with an id, empty if it has none.
func DefinitionKindOf(id string) DefinitionKind {
	for _, k := range DefinitionKinds {
		if IsID(k.Prefix(), id) {
			return k
		}
	}
	return ""
}

// Handle is the name under which configuration files know an object.
type Handle struct {
	Workspace ID
	Kind      DefinitionKind
	Object    ID
	// Name is unique for the kind in the workspace.
	Name string
	// Set names the set of files that manages the object; it is empty if none does.
	Set string
	// Secrets is the sealed digest of the secrets that were last applied. It is nil if none were,
	// or if the object was changed in another way since.
	Secrets []byte
}

// SecretsRecord is the record of a handle's digest of secrets.
func (h Handle) SecretsRecord() string {
	return "handle/" + string(h.Workspace) + "/" + string(h.Kind) + "/" + h.Name
}

const (
	// MaxHandle is the maximum number of characters of a handle or the name of a set.
	MaxHandle = 100
	// ApplyLease is how long an apply holds the configuration of a workspace without renewing it.
	ApplyLease = 30 * time.Second
)

// WrongHandle returns what is wrong with a handle or the name of a set, empty if it is valid.
func WrongHandle(text string) string {
	valid := len(text) >= 1 && len(text) <= MaxHandle
	for i, r := range text {
		letter := 'a' <= r && r <= 'z' || '0' <= r && r <= '9'
		valid = valid && (letter || i > 0 && strings.ContainsRune("-_.", r))
	}
	if valid {
		return ""
	}
	return fmt.Sprintf("must have 1 to %d characters: lowercase letters, digits, hyphens, underscores and dots, starting with a letter or digit", MaxHandle)
}

// NewHandleName returns a handle for an object with a label that is not taken yet.
func NewHandleName(label string, kind DefinitionKind, taken func(string) bool) string {
	var b strings.Builder
	for _, r := range strings.ToLower(label) {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= MaxHandle-12 { // which leaves room for a number
			break
		}
	}
	base := strings.Trim(b.String(), "-")
	if base == "" {
		base = strings.ToLower(string(kind))
	}
	name := base
	for n := 2; taken(name); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name
}

type handleKey struct{}

// WithHandle has the object that is created or changed under the context get the handle, in
// the transaction of the change.
func WithHandle(ctx context.Context, h *Handle) context.Context {
	return context.WithValue(ctx, handleKey{}, h)
}

// HandleOf returns the handle that a change writes, nil if it writes none.
func HandleOf(ctx context.Context) *Handle {
	h, _ := ctx.Value(handleKey{}).(*Handle)
	return h
}
