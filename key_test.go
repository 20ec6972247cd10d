package feedmill

import (
	"encoding/hex"
	"slices"
	"testing"
)

func TestHashKey(t *testing.T) {
	// The vector is of FIPS 180.
	hash := HashKey("abc")
	if got, want := hex.EncodeToString(hash[:]), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; got != want {
		t.Errorf("the hash is %s, want %s", got, want)
	}
	if !hash.Equal(HashKey("abc")) || hash.Equal(HashKey("abd")) || hash.Equal(KeyHash{}) {
		t.Error("a key is equal to another, or not to itself")
	}
}

func TestScopesSurviveTheirText(t *testing.T) {
	for text, want := range map[string][]Scope{
		"":                    {},
		"api:read":            {ScopeRead},
		"admin api:write x:y": {ScopeAdmin, ScopeWrite, "x:y"},
	} {
		got := SplitScopes(text)
		if !slices.Equal(got, want) || JoinScopes(got) != text {
			t.Errorf("%q is split into %q and joined to %q", text, got, JoinScopes(got))
		}
	}
	if got := SplitScopes("  api:read \t admin\n"); !slices.Equal(got, []Scope{ScopeRead, ScopeAdmin}) {
		t.Errorf("with more space: %q", got)
	}
}

func TestPrincipalHasItsScopesAlone(t *testing.T) {
	p := Principal{Scopes: []Scope{ScopeRead, ScopeAdmin}}
	for scope, want := range map[Scope]bool{ScopeRead: true, ScopeAdmin: true, ScopeWrite: false, ScopePublish: false} {
		if p.Has(scope) != want {
			t.Errorf("%s: %v", scope, !want)
		}
	}
}
