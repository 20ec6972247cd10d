package api

import (
	"time"

	"github.com/feedmill/feedmill"
)

// deliveryFields are the fields of delivery that a request gives.
type deliveryFields struct {
	timeout     *time.Duration
	rate        *rateLimit
	concurrency *int
	ordered     *bool
	headers     *headerChange
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

func (o *object) readDelivery(v value) (f deliveryFields) {
	if v.kind == 'n' {
		return f.defaults()
	}
	d, ok := o.inner("delivery", v)
	if !ok {
		return f
	}
	all := f.defaults()
	if v, ok := d.get("timeout"); ok {
		f.timeout = all.timeout
		if v.kind != 'n' {
			*f.timeout, _ = d.duration("timeout", v, minTimeout, feedmill.MaxTimeout)
		}
	}
	if v, ok := d.get("rateLimit"); ok {
		f.rate = all.rate
		if v.kind != 'n' {
			*f.rate = d.readRateLimit(v)
		}
	}
	if v, ok := d.get("concurrency"); ok {
		f.concurrency = all.concurrency
		if v.kind != 'n' {
			*f.concurrency, _ = d.integer("concurrency", v, 1, feedmill.MaxConcurrency)
		}
	}
	if v, ok := d.get("ordered"); ok {
		f.ordered = all.ordered
		if v.kind != 'n' {
			*f.ordered, _ = d.boolean("ordered", v)
		}
	}
	if v, ok := d.get("headers"); ok {
		f.headers = d.readHeaders(v)
	}
	d.refuseUnknown()
	return f
}

// defaults gives every field its default.
func (deliveryFields) defaults() deliveryFields {
	timeout, concurrency := feedmill.DefaultTimeout, feedmill.DefaultConcurrency
	return deliveryFields{timeout: &timeout, rate: new(rateLimit), concurrency: &concurrency, ordered: new(bool), headers: &headerChange{clear: true}}
}

// readRateLimit reads {"requests":10,"per":"1s"}, or a number for so many a second.
func (o *object) readRateLimit(v value) (r rateLimit) {
	if v.kind == '0' {
		r.requests, _ = o.integer("rateLimit", v, 1, maxRateRequests)
		r.per = time.Second
		return r
	}
	limit, ok := o.inner("rateLimit", v)
	if !ok {
		return r
	}
	if v, ok := limit.need("requests"); ok {
		r.requests, _ = limit.integer("requests", v, 1, maxRateRequests)
	}
	r.per = time.Second
	if v, ok := limit.get("per"); ok {
		r.per, _ = limit.duration("per", v, minRatePer, maxRatePer)
	}
	limit.refuseUnknown()
	return r
}

// apply sets what is given, but for the headers.
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
}
