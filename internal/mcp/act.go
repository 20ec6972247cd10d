package mcp

import (
	"context"
	"net/http"
	"net/url"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// refreshFeed starts a refresh.
func refreshFeed(ctx context.Context, a *api, args *arguments) (result, error) {
	feed := args.id("feed", "search_feeds")
	values := make(url.Values)
	if f, ok := args.Given("accept"); ok {
		if yes, _ := f.Boolean(); yes {
			values.Set("accept", "true")
		}
	}
	if err := args.refusal(); err != nil {
		return result{}, err
	}
	r, err := record[client.Refresh](ctx, a, call{method: http.MethodPost, path: feedPath(feed) + "/refresh", query: values})
	if err != nil {
		return result{}, err
	}
	return result{summary: struct {
		Feed     string                `json:"feed"`
		Refresh  string                `json:"refresh"`
		State    feedmill.RefreshState `json:"state"`
		NextStep string                `json:"nextStep"`
	}{feed, r.ID, r.State, "Call explain_refresh to see how it ends."}}, nil
}

// retryDelivery gives a delivery new attempts.
func retryDelivery(ctx context.Context, a *api, args *arguments) (result, error) {
	id := args.id("delivery", "list_failures")
	if err := args.refusal(); err != nil {
		return result{}, err
	}
	d, err := record[client.Delivery](ctx, a, call{method: http.MethodPost, path: deliveryPath(id) + "/retry"})
	if err != nil {
		return result{}, err
	}
	return result{summary: struct {
		Delivery string                 `json:"delivery"`
		State    feedmill.DeliveryState `json:"state"`
		NextStep string                 `json:"nextStep"`
	}{d.ID, d.State, "Call explain_delivery to see how it ends."}}, nil
}
