package main

import (
	"slices"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

func itoa(i int) string { return strconv.Itoa(i) }

// normalize rewrites a definition so that equal ones have the same members: without defaults
// and nulls, with durations in their shortest form.
func normalize(kind feedmill.DefinitionKind, v *strictjson.Value) {
	dropNulls(v)
	switch kind {
	case feedmill.DefinedConnection:
		if config := v.Member("config"); config != nil {
			dropNulls(config)
		}
	case feedmill.DefinedFeed:
		normalizeFeed(v)
	case feedmill.DefinedSubscription:
		normalizeSubscription(v)
	}
}

func dropNulls(v *strictjson.Value) {
	v.Members = slices.DeleteFunc(v.Members, func(m strictjson.Member) bool { return m.Value.Kind == 'n' })
}

// dropDefault removes a member whose value is the default.
func dropDefault(v *strictjson.Value, name, value string) {
	if m := v.Member(name); m != nil && string(m.Append(nil)) == value {
		v.Remove(name)
	}
}

// dropEmpty removes a member that is an empty object or array.
func dropEmpty(v *strictjson.Value, name string) {
	if m := v.Member(name); m != nil && (m.Kind == '{' && len(m.Members) == 0 || m.Kind == '[' && len(m.Items) == 0) {
		v.Remove(name)
	}
}

func normalizeDuration(v *strictjson.Value) {
	if v == nil || v.Kind != '"' {
		return
	}
	if d, err := feedmill.ParseDuration(v.Text()); err == nil {
		line := v.Line
		*v = strictjson.String(feedmill.FormatDuration(d))
		v.Line = line
	}
}

func quoted(d time.Duration) string { return strconv.Quote(feedmill.FormatDuration(d)) }

func normalizeFeed(v *strictjson.Value) {
	dropDefault(v, "description", `""`)
	dropDefault(v, "mode", `"replace"`)
	dropDefault(v, "schemaPolicy", `"widen"`)
	dropDefault(v, "types", `"auto"`)
	dropEmpty(v, "key")
	normalizeDuration(v.Member("expectEvery"))
	normalizeDuration(v.Member("fullEvery"))
	if keep := v.Member("keep"); keep != nil && keep.Kind == '{' {
		for _, name := range []string{"versions", "days"} {
			if keep.Member(name) == nil {
				keep.Set(name, strictjson.Value{Kind: '0', Raw: []byte("0")})
			}
		}
		usual := feedmill.DefaultKeep
		if textOfNumber(keep.Member("versions")) == itoa(usual.Versions) && textOfNumber(keep.Member("days")) == itoa(usual.Days) {
			v.Remove("keep")
		}
	}
	if expect := v.Member("expect"); expect != nil && expect.Kind == '{' {
		dropNulls(expect)
		dropDefault(expect, "minRows", "0")
		dropEmpty(expect, "notNull")
		dropEmpty(expect, "unique")
		dropEmpty(v, "expect")
	}
	if schedule := v.Member("schedule"); schedule != nil && schedule.Kind == '{' {
		dropNulls(schedule)
		normalizeDuration(schedule.Member("every"))
		dropDefault(schedule, "timezone", `"UTC"`)
	}
}

func textOfNumber(v *strictjson.Value) string {
	if v == nil {
		return ""
	}
	return string(v.Append(nil))
}

func normalizeSubscription(v *strictjson.Value) {
	dropDefault(v, "httpOperation", `"POST"`)
	dropDefault(v, "state", `"active"`)
	if filters := v.Member("filters"); filters != nil {
		dropNulls(filters)
		dropEmpty(v, "filters")
	}
	if events := v.Member("events"); events != nil {
		slices.SortFunc(events.Items, func(a, b strictjson.Value) int { return slices.Compare(a.Raw, b.Raw) })
	}
	delivery := v.Member("delivery")
	if delivery == nil {
		return
	}
	dropNulls(delivery)
	normalizeDuration(delivery.Member("timeout"))
	normalizeDuration(delivery.Member("disableAfter"))
	dropDefault(delivery, "timeout", quoted(feedmill.DefaultTimeout))
	dropDefault(delivery, "disableAfter", quoted(feedmill.DisableAfter))
	dropDefault(delivery, "concurrency", itoa(feedmill.DefaultConcurrency))
	dropDefault(delivery, "ordered", "false")
	dropEmpty(delivery, "headers")
	dropEmpty(delivery, "credentials")
	if rate := delivery.Member("rateLimit"); rate != nil && rate.Kind == '{' {
		normalizeDuration(rate.Member("per"))
		dropDefault(rate, "per", quoted(time.Second))
	}
	if batch := delivery.Member("batch"); batch != nil && batch.Kind == '{' {
		normalizeDuration(batch.Member("maxWait"))
		dropDefault(batch, "maxWait", quoted(feedmill.DefaultBatchWait))
	}
	if waits := delivery.Member("retrySchedule"); waits != nil {
		for i := range waits.Items {
			normalizeDuration(&waits.Items[i])
		}
	}
	dropEmpty(v, "delivery")
}

// sameValue reports whether two values are equal, whatever the order of their members. Where
// the server has a secret, the value of the document is compared by its digest.
func sameValue(wanted, stored *strictjson.Value) bool {
	if stored != nil && textOf(stored) == feedmill.Hidden && wanted != nil {
		return true
	}
	if wanted == nil || stored == nil || wanted.Kind != stored.Kind || len(wanted.Members) != len(stored.Members) || len(wanted.Items) != len(stored.Items) {
		return wanted == nil && stored == nil
	}
	for i := range wanted.Members {
		if !sameValue(&wanted.Members[i].Value, stored.Member(wanted.Members[i].Name)) {
			return false
		}
	}
	for i := range wanted.Items {
		if !sameValue(&wanted.Items[i], &stored.Items[i]) {
			return false
		}
	}
	switch wanted.Kind {
	case '{', '[':
		return true
	case '"':
		return wanted.Text() == stored.Text()
	}
	return string(wanted.Raw) == string(stored.Raw)
}
