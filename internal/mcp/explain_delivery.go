package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// explanation is a cause and what to do about it.
type explanation struct {
	Cause    string `json:"cause"`
	NextStep string `json:"nextStep"`
}

// explainDelivery says why a delivery has not arrived, or that it has.
func explainDelivery(ctx context.Context, a *api, args *arguments) (result, error) {
	id := args.id("delivery", "list_failures")
	if err := args.refusal(); err != nil {
		return result{}, err
	}
	d, err := record[client.Delivery](ctx, a, call{method: http.MethodGet, path: deliveryPath(id)})
	if err != nil {
		return result{}, err
	}
	s, err := record[client.Subscription](ctx, a, call{method: http.MethodGet, path: "/events/subscriptions/" + url.PathEscape(d.SubscriptionID)})
	if problem := new(client.Problem); errors.As(err, &problem) && problem.Status == http.StatusNotFound {
		s.State, err = "deleted", nil
	}
	if err != nil {
		return result{}, err
	}
	out := struct {
		Delivery      string                     `json:"delivery"`
		State         feedmill.DeliveryState     `json:"state"`
		Attempts      int                        `json:"attempts"`
		MaxAttempts   int                        `json:"maxAttempts"`
		NextAttemptAt *time.Time                 `json:"nextAttemptAt,omitzero"`
		Status        int                        `json:"lastStatus,omitzero"`
		Subscription  string                     `json:"subscription"`
		State2        feedmill.SubscriptionState `json:"subscriptionState"`
		explanation
	}{d.ID, d.State, d.AttemptCount, d.MaxAttempts, atTime(d.NextAttemptAt), 0, d.SubscriptionID, s.State, whyDelivery(d, s)}
	r := result{lines: [][]byte{toJSON(map[string]any{"event": cut(d.Type, shownName), "eventId": d.EventID, "endpoint": hostOf(s.URL), "reason": cut(d.Reason, shownDetail)})}}
	if last := lastAttempt(d); last != nil {
		out.Status = last.Status
		r.lines = append(r.lines, toJSON(struct {
			Attempt int       `json:"attempt"`
			At      time.Time `json:"at"`
			Status  int       `json:"status,omitzero"`
			Error   string    `json:"error,omitzero"`
			Body    string    `json:"response,omitzero"`
		}{last.Number, last.At, last.Status, cut(last.Error, shownDetail), cut(last.Body, shownBody)}))
	}
	r.summary = out
	return r, nil
}

// shownBody is how much of a response of an endpoint or a source is shown.
const shownBody = 4 << 10

func lastAttempt(d client.Delivery) *client.Attempt {
	if len(d.Attempts) == 0 {
		return nil
	}
	return &d.Attempts[len(d.Attempts)-1]
}

// whyDelivery explains the state of a delivery.
func whyDelivery(d client.Delivery, s client.Subscription) explanation {
	switch d.State {
	case feedmill.DeliveryDelivered:
		return explanation{"The endpoint accepted the delivery.", "Nothing to do."}
	case feedmill.DeliveryDelivering:
		return explanation{"An attempt is running.", "Wait for its response, then call explain_delivery again."}
	case feedmill.DeliveryDiscarded:
		return whyDiscarded(d, s)
	case feedmill.DeliveryExhausted:
		e := whyAttempt(d)
		switch s.State {
		case "deleted":
			e.NextStep = "The subscription is deleted. Create a new subscription and replay the event to it."
		case feedmill.SubscriptionDisabled:
			e.NextStep += " The subscription is disabled: set its state to active first."
		}
		return e
	}
	if d.WaitsFor == nil {
		return explanation{"The delivery waits for its next attempt.", "Wait, then call explain_delivery again."}
	}
	return whyWaiting(d)
}

// whyWaiting explains what an open delivery waits for.
func whyWaiting(d client.Delivery) explanation {
	switch d.WaitsFor.Reason {
	case "paused":
		return explanation{"The subscription is paused.", "Set the state of the subscription to active."}
	case "breaker":
		e := whyAttempt(d)
		return explanation{"The endpoint failed repeatedly, so Feedmill probes it from time to time before it sends more. " + e.Cause, e.NextStep}
	case "order":
		return explanation{"The subscription is ordered, and an earlier event of the same resource (" + d.WaitsFor.DeliveryID + ") is not delivered yet.", "Call explain_delivery with " + d.WaitsFor.DeliveryID + "."}
	case "time":
		e := whyAttempt(d)
		return explanation{fmt.Sprintf("Attempt %d of %d failed. %s The next attempt is at %s.", d.AttemptCount, d.MaxAttempts, e.Cause, d.WaitsFor.Until.UTC().Format(time.RFC3339)), e.NextStep}
	}
	return explanation{"The delivery waits for a free slot. Other deliveries of the subscription or the workspace are sent first.", "Wait, then call explain_delivery again."}
}

// whyDiscarded explains a delivery that was never sent.
func whyDiscarded(d client.Delivery, s client.Subscription) explanation {
	switch {
	case strings.HasPrefix(d.Reason, feedmill.FilterErrorReason):
		return explanation{"The filter of the subscription failed for this event.", "Correct the filter with the error below, then replay the event."}
	case strings.HasPrefix(d.Reason, feedmill.TransformFailedReason):
		return explanation{"The transformation of the subscription failed for this event.", "Correct the transformation with the error below, then replay the event."}
	case s.State == "deleted":
		return explanation{"The subscription was deleted before the event was delivered.", "Create a new subscription and replay the event to it."}
	case s.State == feedmill.SubscriptionDisabled:
		return explanation{"The subscription was disabled before the event was delivered (" + disabledBecause(s.DisabledReason) + ").", "Fix the endpoint, set the state of the subscription to active, then call retry_delivery."}
	}
	return explanation{"The subscription was disabled or deleted before the event was delivered.", "Call retry_delivery."}
}

func disabledBecause(reason string) string {
	switch reason {
	case feedmill.DisabledGone:
		return "the endpoint returned 410 Gone"
	case feedmill.DisabledFailing:
		return "deliveries failed for too long"
	}
	return "by a user"
}

// whyAttempt explains the last attempt of a delivery.
func whyAttempt(d client.Delivery) explanation {
	switch {
	case strings.HasPrefix(d.Reason, feedmill.TransformFailedReason):
		return explanation{"The transformation of the subscription failed for this event.", "Correct the transformation with the error below, then call retry_delivery."}
	case strings.HasPrefix(d.Reason, feedmill.FilterErrorReason):
		return explanation{"The filter of the subscription failed for this event.", "Correct the filter with the error below, then call retry_delivery."}
	}
	last := lastAttempt(d)
	if last == nil {
		return explanation{"The request could not be built or sent. The reason is below.", "Correct the subscription, then call retry_delivery."}
	}
	return whyStatus(last.Status, last.Error)
}

// whyStatus explains a failed attempt by its status, or by its error if there was no response.
func whyStatus(status int, failed string) explanation {
	returned := fmt.Sprintf("The endpoint returned %d %s. ", status, http.StatusText(status))
	switch {
	case status == 0 && strings.Contains(failed, "egress policy"):
		return explanation{"The egress policy of the server forbids the endpoint's address.", "Use a public address, or ask the operator to add the address to egressAllow."}
	case status == 0 && strings.Contains(failed, "resolved"):
		return explanation{"The endpoint's host name could not be resolved.", "Correct the URL of the subscription, or the DNS record, then call retry_delivery."}
	case status == 0 && strings.Contains(failed, "no complete response"):
		return explanation{"The endpoint did not respond in time.", "Make the endpoint respond before it does its work, or raise the timeout of the subscription. Then call retry_delivery."}
	case status == 0:
		return explanation{"The endpoint could not be reached. The error is below.", "Check that the endpoint runs and accepts connections, then call retry_delivery."}
	case status >= 300 && status < 400:
		return explanation{returned + "Redirects are not followed.", "Set the URL of the subscription to the final address, then call retry_delivery."}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return explanation{returned + "It refused the request.", "Check that the endpoint verifies signatures with the current signing secret, and that extra headers have valid credentials. Then call retry_delivery."}
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		return explanation{returned + "Nothing accepts webhooks at this URL.", "Correct the URL or httpOperation of the subscription, then call retry_delivery."}
	case status == http.StatusGone:
		return explanation{returned + "That means that it wants no more webhooks, so Feedmill disabled the subscription.", "Correct the URL of the subscription, set its state to active, then call retry_delivery."}
	case status == http.StatusTooManyRequests:
		return explanation{returned + "It receives more requests than it allows.", "Set a rateLimit or a lower concurrency for the subscription, then call retry_delivery."}
	case status == http.StatusRequestEntityTooLarge:
		return explanation{returned + "It does not accept a body of this size.", "Raise the limit of the endpoint, or send less with a transformation. Then call retry_delivery."}
	case status >= 400 && status < 500:
		return explanation{returned + "It rejected the request; its response is below.", "Correct the endpoint or the transformation, then call retry_delivery."}
	case status >= 500:
		return explanation{returned + "It failed; its response is below.", "Fix the endpoint, then call retry_delivery."}
	}
	return explanation{returned + "Only a status from 200 to 299 counts as delivered.", "Make the endpoint return 200, then call retry_delivery."}
}
