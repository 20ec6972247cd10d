package refresh

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
)

// What can come of a run.
const (
	changedRun   = "changed"       // a feed has a new version
	unchangedRun = "unchanged"     // none has, and none had to
	failedRun    = "failed"        // for all feeds
	refusedRun   = "auth_required" // the same, because of the credential
	lostRun      = "lost"          // another has the source, or it was cancelled
	releasedRun  = "released"      // it was broken off by a shutdown
)

// counters are the engine's metrics.
type counters struct {
	runs     *prometheus.CounterVec
	panics   prometheus.Counter
	duration prometheus.Histogram
	lag      prometheus.Histogram
}

func newCounters(reg prometheus.Registerer, e *Engine) *counters {
	c := &counters{
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "feedmill_refresh_runs_total", Help: "Source runs, by outcome.",
		}, []string{"outcome"}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "feedmill_refresh_panics_total", Help: "Source runs that ended in a panic.",
		}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "feedmill_refresh_duration_seconds", Help: "Duration of source runs.", Buckets: prometheus.ExponentialBuckets(0.01, 4, 12),
		}),
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "feedmill_refresh_lag_seconds", Help: "Time from when a source was due until its run started.", Buckets: prometheus.ExponentialBuckets(0.01, 4, 12),
		}),
	}
	reg.MustRegister(c.runs, c.panics, c.duration, c.lag,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "feedmill_refresh_running", Help: "Source runs in progress."}, func() float64 {
			e.mu.Lock()
			defer e.mu.Unlock()
			return float64(len(e.under))
		}))
	return c
}

// ended counts a run.
func (c *counters) ended(outcome string, took time.Duration) {
	c.runs.WithLabelValues(outcome).Inc()
	c.duration.Observe(took.Seconds())
}

// outcomeOf says what a committed result is, for the metrics. A run has failed
// only if no feed succeeded.
func outcomeOf(outcomes []feedmill.FeedOutcome) string {
	outcome := failedRun
	for _, o := range outcomes {
		switch {
		case o.Version != nil:
			return changedRun
		case o.Error == nil:
			outcome = unchangedRun
		case o.AuthRequired && outcome == failedRun:
			outcome = refusedRun
		}
	}
	return outcome
}
