package sqlite_test

import (
	"testing"

	"github.com/feedmill/feedmill/internal/store/sqlitetest"
	"github.com/feedmill/feedmill/internal/store/storetest"
)

// BenchmarkFanout accepts events that very many subscriptions listen to.
func BenchmarkFanout(b *testing.B) { storetest.FanoutCost(b, sqlitetest.New(b)) }
