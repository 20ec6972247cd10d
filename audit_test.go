package feedmill

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestActor(t *testing.T) {
	key := string(NewID(PrefixKey))
	for _, test := range []struct {
		principal Principal
		want      Actor
	}{
		{Principal{Subject: key, Name: "n"}, Actor{Key: ID(key), Name: "n"}},
		{Principal{Subject: "https://issuer|me", Name: "Me"}, Actor{Subject: "https://issuer|me", Name: "Me"}},
	} {
		if got := test.principal.Actor(); got != test.want {
			t.Errorf("%+v is the actor %+v, want %+v", test.principal, got, test.want)
		}
	}
}

// Who changes something in another workspace leaves an entry in both logs; there it
// was the operator, from nowhere.
func TestEntriesFor(t *testing.T) {
	e := AuditEntry{Workspace: "ws_1", Actor: Actor{Key: "key_1", Name: "n"}, Action: "key.create", Address: "127.0.0.1", RequestID: "r"}
	own := e.EntriesFor("ws_1", "key_2")
	if len(own) != 1 || own[0].Resource != "key_2" || own[0].Actor != e.Actor || !IsID(PrefixAudit, string(own[0].ID)) {
		t.Errorf("a change of one's own left %+v", own)
	}
	e.Resource = "key_3"
	both := e.EntriesFor("ws_2", "key_2")
	if len(both) != 2 || both[0].ID == both[1].ID {
		t.Fatalf("a change in another workspace left %+v", both)
	}
	both[0].ID, both[1].ID = "", ""
	want := []AuditEntry{e, {Workspace: "ws_2", Actor: Operator, Action: "key.create", Resource: "key_3"}}
	if diff := cmp.Diff(want, both); diff != "" {
		t.Errorf("a change in another workspace (-want +got):\n%s", diff)
	}
}

func TestAuditTravelsWithTheContext(t *testing.T) {
	e := &AuditEntry{Action: "key.create"}
	ctx := WithAudit(t.Context(), e)
	if AuditOf(t.Context()) != nil || AuditOf(ctx) != e || AuditOf(WithoutAudit(ctx)) != nil {
		t.Error("the entry does not travel with its context alone")
	}
}
