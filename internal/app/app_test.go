package app

import (
	"log/slog"
	"testing"

	"github.com/feedmill/feedmill/internal/config"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestReplicasHearEachOther opens a store that can signal: what is put around it
// must not hide that, or replicas find by polling alone what others accepted.
func TestReplicasHearEachOther(t *testing.T) {
	t.Parallel()
	a, err := Open(t.Context(), &config.Config{Data: t.TempDir(), DatabaseURL: pgtest.New(t), VaultKey: "a key that all replicas of the test share"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if a.signals == nil {
		t.Error("the store of several replicas gives no signals")
	}
}
