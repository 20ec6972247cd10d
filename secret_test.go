package feedmill

import "testing"

// What is sealed opens under its record's name alone: these must not change.
func TestRecordsOfSecretsStay(t *testing.T) {
	for got, want := range map[string]string{
		Subscription{ID: "sub_1"}.SecretsRecord():                "sub/sub_1/secrets",
		Subscription{ID: "sub_1"}.HeadersRecord():                "sub/sub_1/headers",
		Source{ID: "ds_1"}.SecretsRecord():                       "ds_1",
		IdempotentResponse{Workspace: "ws_1", Key: "k"}.Record(): "once/ws_1/k",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
