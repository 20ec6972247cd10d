package subscribe

import (
	"net/http"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// readShape reads the filter, the transformation and the preset, and checks them together
// with what the subscription has.
func (s *Subscriptions) readShape(body *strictjson.Object, was feedmill.Subscription, given *fields) {
	filter, hasFilter := body.Get("filter")
	if hasFilter {
		given.filter = readExpression(filter, s.Expressions.CheckFilter)
	}
	transform, hasTransform := body.Get("transform")
	if hasTransform {
		given.transform = readExpression(transform, s.Expressions.CheckTransform)
	}
	preset, hasPreset := body.Get("preset")
	if hasPreset {
		given.preset = new(string)
		if preset.Kind != 'n' {
			*given.preset, _ = preset.Choice(feedmill.Presets...)
		}
	}
	changed := preset
	if !hasPreset {
		changed = transform
	}
	if !hasPreset && !hasTransform {
		var ok bool
		if changed, ok = body.Get("httpOperation"); !ok {
			return
		}
	}
	switch shape := given.shape(was.Shape); {
	case shape.Transform != "" && shape.Preset != "":
		changed.Fault("transform and preset cannot be combined. Set one of them to null.")
	case !shape.IsZero() && given.destination.Method == http.MethodGet:
		changed.Fault("A transform or preset requires the httpOperation POST.")
	}
}

// checkBatch refuses a batch that the destination, or the preset, cannot have. The fault is at
// the member that the request has.
func checkBatch(body, delivery *strictjson.Object, was feedmill.Subscription, given fields) {
	settings := was.Delivery
	given.delivery.apply(&settings)
	if settings.Batch.IsZero() {
		return
	}
	detail, member := "", ""
	switch to := given.destination; {
	case to.Kind != feedmill.DestinationWebhook:
		detail, member = "batch applies only to webhooks.", "url"
	case to.Method != http.MethodPost:
		detail, member = "batch requires the httpOperation POST.", "httpOperation"
	case given.shape(was.Shape).Preset != "":
		detail, member = "batch and preset cannot be combined. Set one of them to null.", "preset"
	default:
		return
	}
	f, ok := body.Get(member)
	if delivery != nil {
		if b, given := delivery.Given("batch"); given {
			f, ok = b, true
		}
	}
	if ok {
		f.Fault(detail)
	}
}

// readExpression reads an expression; null removes the one that there is.
func readExpression(f strictjson.Field, check func(string) error) *string {
	if f.Kind == 'n' {
		return new(string)
	}
	text, ok := f.Text()
	if !ok {
		return nil
	}
	if err := check(text); err != nil {
		f.Fault(err.Error() + ".")
		return nil
	}
	return &text
}

// shape is the shape that a subscription has with what is given.
func (f fields) shape(was feedmill.Shape) feedmill.Shape {
	if f.transform != nil {
		was.Transform = *f.transform
	}
	if f.preset != nil {
		was.Preset = *f.preset
	}
	return was
}

// applyShape sets what is given.
func (f fields) applyShape(sub *feedmill.Subscription) {
	if f.filter != nil {
		sub.Filter = *f.filter
	}
	sub.Shape = f.shape(sub.Shape)
}
