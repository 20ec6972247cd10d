package subscribe

import (
	"fmt"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// deliveryFields are the fields of delivery that a request gives.
type deliveryFields struct {
	timeout      *time.Duration
	rate         *rateLimit
	concurrency  *int
	ordered      *bool
	retries      *feedmill.RetrySchedule
	disableAfter *time.Duration
	batch        *feedmill.Batch
}

// rateLimit is how many requests may be made in a time; of none, any number.
type rateLimit struct {
	requests int
	per      time.Duration
}

// Bounds of what a client may ask for.
const (
	minTimeout      = 100 * time.Millisecond
	maxRateRequests = 1_000_000
	minRatePer      = 100 * time.Millisecond
	maxRatePer      = 24 * time.Hour
)

// readDelivery reads what is not up to the kind of the destination.
func readDelivery(d *strictjson.Object) (f deliveryFields) {
	all := defaultDelivery()
	if v, ok := d.Get("timeout"); ok {
		f.timeout = all.timeout
		if v.Kind != 'n' {
			*f.timeout, _ = strictjson.Parse(v, feedmill.DurationBetween(minTimeout, feedmill.MaxTimeout))
		}
	}
	if v, ok := d.Get("rateLimit"); ok {
		f.rate = all.rate
		if v.Kind != 'n' {
			*f.rate = readRateLimit(v)
		}
	}
	if v, ok := d.Get("concurrency"); ok {
		f.concurrency = all.concurrency
		if v.Kind != 'n' {
			*f.concurrency, _ = v.Integer(1, feedmill.MaxConcurrency)
		}
	}
	if v, ok := d.Get("ordered"); ok {
		f.ordered = all.ordered
		if v.Kind != 'n' {
			*f.ordered, _ = v.Boolean()
		}
	}
	if v, ok := d.Get("retrySchedule"); ok {
		f.retries = all.retries
		if v.Kind != 'n' {
			*f.retries = readRetries(v)
		}
	}
	if v, ok := d.Get("disableAfter"); ok {
		f.disableAfter = all.disableAfter
		if v.Kind != 'n' {
			*f.disableAfter, _ = strictjson.Parse(v, parseDisableAfter)
		}
	}
	if v, ok := d.Get("batch"); ok {
		f.batch = all.batch
		if v.Kind != 'n' {
			*f.batch = readBatch(v)
		}
	}
	d.RefuseUnknown()
	return f
}

// defaultDelivery gives every field its default.
func defaultDelivery() deliveryFields {
	timeout, concurrency := feedmill.DefaultTimeout, feedmill.DefaultConcurrency
	return deliveryFields{
		timeout: &timeout, rate: new(rateLimit), concurrency: &concurrency, ordered: new(bool),
		retries: new(feedmill.RetrySchedule), disableAfter: new(time.Duration), batch: new(feedmill.Batch),
	}
}

// readRetries reads the waits between attempts.
func readRetries(v strictjson.Field) (waits feedmill.RetrySchedule) {
	if v.Kind != '[' {
		v.Fault("retries must be an array of durations such as [\"30s\", \"5m\"], each the wait before the next attempt.")
		return nil
	}
	parse := feedmill.DurationBetween(feedmill.MinRetryWait, feedmill.MaxRetryWait)
	n := 0
	for _, item := range v.Elements() {
		if n++; n > feedmill.MaxRetries {
			break
		}
		wait, _ := strictjson.Parse(item, parse)
		waits = append(waits, wait)
	}
	if n == 0 || n > feedmill.MaxRetries {
		v.Fault(fmt.Sprintf("retries must have 1 to %d durations. Set it to null for the default schedule.", feedmill.MaxRetries))
	}
	return waits
}

// parseDisableAfter reads how long nothing may get through.
func parseDisableAfter(text string) (time.Duration, error) {
	if text == "off" {
		return feedmill.NeverDisable, nil
	}
	d, err := feedmill.DurationBetween(feedmill.MinDisableAfter, feedmill.MaxDisableAfter)(text)
	if err != nil {
		return 0, feedmill.Invalid("disableAfter must be off, or a duration between 1d and 30d.")
	}
	return d, nil
}

// readRateLimit reads {"requests":10,"per":"1s"}, or a number for so many a second.
func readRateLimit(v strictjson.Field) (r rateLimit) {
	if v.Kind == '0' {
		r.requests, _ = v.Integer(1, maxRateRequests)
		r.per = time.Second
		return r
	}
	limit, ok := v.Object()
	if !ok {
		return r
	}
	if v, ok := limit.Need("requests"); ok {
		r.requests, _ = v.Integer(1, maxRateRequests)
	}
	r.per = time.Second
	if v, ok := limit.Get("per"); ok {
		r.per, _ = strictjson.Parse(v, feedmill.DurationBetween(minRatePer, maxRatePer))
	}
	limit.RefuseUnknown()
	return r
}

// readBatch reads {"maxEvents":50,"maxWait":"5s"}.
func readBatch(v strictjson.Field) (b feedmill.Batch) {
	batch, ok := v.Object()
	if !ok {
		return b
	}
	if v, ok := batch.Need("maxEvents"); ok {
		b.MaxEvents, _ = v.Integer(feedmill.MinBatchEvents, feedmill.MaxBatchEvents)
	}
	b.MaxWait = feedmill.DefaultBatchWait
	if v, ok := batch.Given("maxWait"); ok {
		b.MaxWait, _ = strictjson.Parse(v, feedmill.DurationBetween(0, feedmill.MaxBatchWait))
	}
	batch.RefuseUnknown()
	return b
}

// apply sets what is given.
func (f deliveryFields) apply(d *feedmill.DeliverySettings) {
	if f.timeout != nil {
		d.Timeout = *f.timeout
	}
	if f.rate != nil {
		d.RateLimit, d.RatePer = f.rate.requests, f.rate.per
	}
	if f.concurrency != nil {
		d.Concurrency = *f.concurrency
	}
	if f.ordered != nil {
		d.Ordered = *f.ordered
	}
	if f.retries != nil {
		d.Retries = *f.retries
	}
	if f.disableAfter != nil {
		d.DisableAfter = *f.disableAfter
	}
	if f.batch != nil {
		d.Batch = *f.batch
	}
}
