package ui

import (
	"cmp"
	"iter"
	"net/http"
	"slices"

	"github.com/feedmill/feedmill/client"
)

// listedRecords is how many records a page of a list has.
const listedRecords = 50

// subscriptionList is the page of all subscriptions, each with its health.
type subscriptionList struct {
	Subscriptions []withHealth
	Older         string
}

func showSubscriptions(v *visit) error {
	found, older, err := pageOf(v, listedRecords, func() iter.Seq2[client.Subscription, error] { return v.api.Subscriptions(v.r.Context()) })
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(s client.Subscription) bool { return s.AlertID != "" }) // they have a page of their own
	if len(found) == 0 && older == "" {
		return v.render(http.StatusOK, "subscriptions_empty", "Subscriptions", nil)
	}
	return v.render(http.StatusOK, "subscriptions", "Subscriptions", subscriptionList{withHealthOf(v, found), older})
}

// nameOf is what people call a subscription.
func nameOf(s client.Subscription) string { return cmp.Or(s.Name, s.URL) }
