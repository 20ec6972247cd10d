package feedmill

import "time"

// ConfirmTime is how long a recipient can use a link to confirm a subscription.
const ConfirmTime = 3 * 24 * time.Hour

// Consent is whether the recipient of a subscription by mail has agreed to it. Nothing is
// sent without. It is for one address.
type Consent struct {
	// ConsentedAt is zero without consent.
	ConsentedAt time.Time
	// ConfirmBy is until when the recipient can confirm, zero if the recipient was not asked.
	ConfirmBy time.Time
	// ConfirmDueAt is when the recipient will be asked, zero if that was done.
	ConfirmDueAt time.Time
}

// AskConsent pauses a subscription until the recipient confirms it. The recipient is asked
// soon.
func (s *Subscription) AskConsent(at time.Time) {
	s.State, s.DisabledReason, s.PausedReason = SubscriptionPaused, "", PausedUnconfirmed
	s.Consent = Consent{ConfirmBy: at.Add(ConfirmTime), ConfirmDueAt: at}
}

// Confirm activates a subscription whose recipient agrees to it.
func (s *Subscription) Confirm(at time.Time) {
	s.State, s.PausedReason = SubscriptionActive, ""
	s.WarnedAt, s.FailingSince, s.Failures = time.Time{}, time.Time{}, 0
	s.Consent = Consent{ConsentedAt: at}
	s.UpdatedAt = at
}

// Unsubscribe ends the consent of the recipient. A disabled subscription stays disabled.
func (s *Subscription) Unsubscribe(at time.Time) {
	if s.State != SubscriptionDisabled {
		s.State, s.PausedReason = SubscriptionPaused, PausedUnsubscribed
	}
	s.Consent = Consent{}
	s.UpdatedAt = at
}

// NeedsConsent reports whether nothing is sent to the subscription before its recipient
// agrees.
func (s Subscription) NeedsConsent() bool {
	return s.Destination.Kind == DestinationMail && s.ConsentedAt.IsZero()
}

// SentShape is how the body of deliveries is changed. People read mail, so it has text
// unless the subscription sets something else.
func (s Subscription) SentShape() Shape {
	if s.Destination.Kind == DestinationMail && s.Shape.IsZero() {
		return Shape{Preset: "text"}
	}
	return s.Shape
}

// MailAsk is what the link in a message is about.
type MailAsk struct {
	Workspace string
	Address   string
	// Events are those of all subscriptions of the link, which are not deleted.
	Events        []string
	Subscriptions []Subscription
	// Until is when the link expires, zero if it does not.
	Until time.Time
}
