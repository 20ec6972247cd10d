package feedmill

import "cmp"

// StoreOptions are what a store is opened with.
type StoreOptions struct {
	// Attempts is how many attempts a delivery may make if its subscription has no schedule
	// of its own; zero means as many as [DefaultRetrySchedule] makes.
	Attempts int
	// Offer receives the due deliveries of the events that are written with a change of a
	// feed or a source, after the commit. With nil they are found by polling.
	Offer func([]DueDelivery)
	// Filter opens the payload of an event for the filters of subscriptions.
	Filter func(payload []byte) EventFilter
}

// WithDefaults returns the options with defaults for what is not set.
func (o StoreOptions) WithDefaults() StoreOptions {
	o.Attempts = cmp.Or(o.Attempts, DefaultRetrySchedule.Attempts())
	if o.Offer == nil {
		o.Offer = func([]DueDelivery) {}
	}
	if o.Filter == nil {
		o.Filter = func([]byte) EventFilter {
			return func(filter string) FilterVerdict {
				return FilterVerdict{Key: FilterKey(filter), Error: "this process does not evaluate filters"}
			}
		}
	}
	return o
}

// StorePlace is what keeps the records of the service, and where, without anything secret.
type StorePlace struct {
	Engine, Where string
	// Connections are those that this process has to it, of MaxConnections; zero where it
	// is a file.
	Connections, MaxConnections int
}
