package ui

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// badge is a state as a shape, a colour and a word.
type badge struct{ Shape, Tone, Word string }

// badges are the states of feeds, refreshes, subscriptions and deliveries.
var badges = map[string]badge{
	"pending":       {"ring", "quiet", "Pending"},
	"refreshing":    {"arc", "running", "Refreshing"},
	"running":       {"arc", "running", "Running"},
	"delivering":    {"arc", "running", "Delivering"},
	"making":        {"arc", "running", "Running"},
	"ready":         {"disc", "good", "Ready"},
	"succeeded":     {"disc", "good", "Succeeded"},
	"delivered":     {"disc", "good", "Delivered"},
	"active":        {"disc", "good", "Active"},
	"connected":     {"disc", "good", "Connected"},
	"notConfigured": {"ring", "quiet", "Not configured"},
	"personal":      {"ring", "quiet", "Personal"},
	"passed":        {"disc", "good", "Passed"},
	"checkFailed":   {"cross", "bad", "Failed"},
	"off":           {"ring", "quiet", "Off"},
	"done":          {"disc", "good", "Done"},
	"ok":            {"disc", "good", "Ready"},
	"closed":        {"disc", "good", "Closed"},
	"retrying":      {"half", "warn", "Retrying"},
	"probing":       {"half", "warn", "Probing"},
	"failed":        {"cross", "bad", "Failed"},
	"exhausted":     {"cross", "bad", "Exhausted"},
	"open":          {"cross", "bad", "Open"},
	"paused":        {"bars", "quiet", "Paused"},
	"unconfirmed":   {"ring", "warn", "Confirm pending"},
	"unsubscribed":  {"bars", "quiet", "Unsubscribed"},
	"auth_required": {"triangle", "warn", "Auth required"},
	"low":           {"triangle", "warn", "Low"},
	"silent":        {"triangle", "warn", "Silent"},
	"draining":      {"half", "warn", "Draining"},
	"held":          {"disc", "good", "Held"},
	"free":          {"ring", "quiet", "Free"},
	"stale":         {"triangle", "warn", "Stale"},
	"disabled":      {"slash", "bad", "Disabled"},
	"revoked":       {"slash", "quiet", "Revoked"},
	"discarded":     {"slash", "quiet", "Discarded"},
	"cancelled":     {"slash", "quiet", "Canceled"},

	"portal-unused":  {"ring", "quiet", "Not opened"},
	"portal-inUse":   {"disc", "good", "In use"},
	"portal-expired": {"slash", "quiet", "Expired"},
}

// badgeOf is the badge of a state, of whatever type of text.
func badgeOf(state any) badge {
	name := fmt.Sprint(state)
	if b, ok := badges[name]; ok {
		return b
	}
	return badge{"ring", "quiet", strings.ReplaceAll(name, "_", " ")}
}

// shapes are the glyphs of badges, drawn in a box of 10.
var shapes = map[string]template.HTML{
	"disc":     `<circle cx="5" cy="5" r="4" fill="currentColor"/>`,
	"ring":     `<circle cx="5" cy="5" r="3.5" fill="none" stroke="currentColor" stroke-width="1.5"/>`,
	"arc":      `<circle cx="5" cy="5" r="3.5" fill="none" stroke="currentColor" stroke-width="1.5" opacity=".3"/><path d="M5 1.5A3.5 3.5 0 0 1 8.5 5" fill="none" stroke="currentColor" stroke-width="1.5"/>`,
	"half":     `<circle cx="5" cy="5" r="3.5" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M5 1.5A3.5 3.5 0 0 0 5 8.5z" fill="currentColor"/>`,
	"cross":    `<path d="M1.5 1.5l7 7M8.5 1.5l-7 7" stroke="currentColor" stroke-width="2" fill="none"/>`,
	"bars":     `<path d="M2 1h2v8H2zM6 1h2v8H6z" fill="currentColor"/>`,
	"triangle": `<path d="M5 .8L9.6 9H.4z" fill="currentColor"/>`,
	"slash":    `<circle cx="5" cy="5" r="3.5" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M2.5 7.5l5-5" stroke="currentColor" stroke-width="1.5"/>`,
}

// icon is a glyph. Its meaning stands beside it in words.
func icon(shape string) template.HTML {
	return `<svg class="glyph" width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">` + shapes[shape] + `</svg>`
}

// refreshCancelled is the type of the error of a refresh that a user has canceled.
const refreshCancelled = "/problems/cancelled"

// feedState is the state of a feed as its badge has it: a refresh that was canceled is no
// failure.
func feedState(f client.DataFeed) string {
	if f.State == feedmill.FeedFailed && f.LastError != nil && f.LastError.Type == refreshCancelled {
		return "cancelled"
	}
	return string(f.State)
}

// refreshState is the same for a refresh.
func refreshState(r client.Refresh) string {
	if r.State == feedmill.RefreshFailed && r.Error != nil && r.Error.Type == refreshCancelled {
		return "cancelled"
	}
	return string(r.State)
}
