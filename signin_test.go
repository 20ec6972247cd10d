package feedmill

import (
	"testing"
	"time"
)

func TestSessionEnds(t *testing.T) {
	made := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for seen, want := range map[time.Duration]time.Duration{
		0: 2 * time.Hour, 5 * time.Hour: 7 * time.Hour, 10 * time.Hour: 12 * time.Hour, 11 * time.Hour: 12 * time.Hour,
	} {
		if got := (Session{CreatedAt: made, SeenAt: made.Add(seen)}).Ends().Sub(made); got != want {
			t.Errorf("last seen after %v it ends after %v, want %v", seen, got, want)
		}
	}
}

func TestSignInOffering(t *testing.T) {
	o := SignInOffering{
		Views: []ServiceView{{Name: "a"}, {Name: "b", Kind: "table"}}, View: "b",
		Settings: []ConnectorSetting{{Name: "account"}, {Name: "region"}}, Config: ConnectionConfig{"account": "1"},
	}
	if got := o.ChosenView(); got.Kind != "table" || !o.Lacks() {
		t.Errorf("%+v, lacks %v", got, o.Lacks())
	}
	o.View, o.Config = "c", ConnectionConfig{"account": "1", "region": "eu"}
	if got := o.ChosenView(); got.Name != "" || o.Lacks() {
		t.Errorf("%+v, lacks %v", got, o.Lacks())
	}
}
