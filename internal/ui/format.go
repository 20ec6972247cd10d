package ui

import (
	"fmt"
	"html/template"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// functions are what templates call.
func functions(a *assets) template.FuncMap {
	return template.FuncMap{
		"has":      hasPage,
		"asset":    func(name string) string { return a.path + name },
		"number":   func(n any) string { return number(whole(n)) },
		"bytes":    func(n any) string { return byteSize(whole(n)) },
		"ago":      ago,
		"until":    until,
		"exact":    exact,
		"clock":    clock,
		"moment":   func(t time.Time) template.HTML { return timeElement(t, t.UTC().Format("2 Jan 15:04"), "moment") },
		"since":    sinceWhen,
		"iso":      func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") },
		"took":     took,
		"span":     span,
		"tookMs":   func(ms client.Milliseconds) string { return took(float64(ms)) },
		"schedule": scheduleWords,
		"pairs":    pairs,
		"short":    short,
		"plural":   func(n any, thing string) string { return plural(whole(n), thing) },
		"percent":  percent,
		"share":    shortShare,
		"day":      func(text string) string { day, _, _ := strings.Cut(text, " "); return day },
		"badge":    badgeOf,
		"icon":     icon,
		"dict":     dict,
		"list":     func(items ...any) []any { return items },
		"join":     strings.Join,
		"json":     jsonColoured,
		"laidOut":  laidOut,
		"lower":    strings.ToLower,
		"add":      func(a, b int) int { return a + b },
		"sentence": sentence,

		"portalAsset":   func(name string) string { return "/portal" + strings.TrimPrefix(a.path, "/ui") + name },
		"portalChoices": portalChoices,
		"portalWords":   portalWords,

		"rulesVersions": func(now string) (all []int) {
			if now == strconv.Itoa(int(feedmill.RulesOriginal)) { // no definition can set it again
				all = append(all, int(feedmill.RulesOriginal))
			}
			for r := feedmill.RulesFirst; r <= feedmill.RulesCurrent; r++ {
				all = append(all, int(r))
			}
			return all
		},
		"feedState":    feedState,
		"refreshState": refreshState,
		"columnTypes":  func() []string { return columnTypes },

		"resourcePage": pageOfResource,
		"whereOf":      whereOf,
		"amount":       amount,
		"why":          why,
		"isNumeric":    func(t any) bool { return numeric(fmt.Sprint(t)) },

		"spans":      func() any { return spans },
		"statusText": http.StatusText,
	}
}

// whole is a whole number of whatever type.
func whole(n any) int64 {
	switch n := n.(type) {
	case int:
		return int64(n)
	case int64:
		return n
	case *int:
		return int64(*n)
	case *int64:
		return *n
	}
	return 0
}

// thin parts groups of digits.
const thin = "\u202f"

// number writes a whole number in groups of three digits.
func number[T int | int64](n T) string {
	text := strconv.FormatInt(int64(n), 10)
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + thin + text[i:]
	}
	return sign + text
}

// byteSize writes a size such as 12.4 MB.
func byteSize(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10) + thin + "B"
	}
	size, units := float64(n), []string{"kB", "MB", "GB", "TB"}
	for i, unit := range units {
		size /= 1000
		if size < 999.95 || i == len(units)-1 {
			return strconv.FormatFloat(size, 'f', 1, 64) + thin + unit
		}
	}
	return ""
}

// span writes how long a time is, in the unit that says most.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	case d < 60*24*time.Hour:
		return plural(int(d.Hours()/24), "day")
	case d < 730*24*time.Hour:
		return plural(int(d.Hours()/24/30), "month")
	}
	return plural(int(d.Hours()/24/365), "year")
}

// plural writes a number of things.
func plural[T int | int64](n T, thing string) string {
	if stem, ok := strings.CutSuffix(thing, "ry"); ok && n != 1 { // a delivery
		thing = stem + "ries"
	} else if n != 1 {
		thing += "s"
	}
	return number(n) + " " + thing
}

// ago is a time element for something in the past.
func ago(t time.Time) template.HTML {
	if t.IsZero() {
		return "–"
	}
	text := "now"
	if d := time.Since(t); d >= time.Second {
		text = span(d) + " ago"
	}
	return timeElement(t, text, "ago")
}

// until is a time element for something to come.
func until(t time.Time) template.HTML {
	if t.IsZero() {
		return "–"
	}
	text := "now"
	if d := time.Until(t); d >= time.Second {
		text = "in " + span(d)
	}
	return timeElement(t, text, "until")
}

// exact is a time element with the time itself.
func exact(t time.Time) template.HTML {
	if t.IsZero() {
		return "–"
	}
	return timeElement(t, t.UTC().Format("2006-01-02 15:04:05")+" UTC", "exact")
}

// timeElement is what a script writes in the visitor's zone.
func timeElement(t time.Time, text, kind string) template.HTML {
	t = t.UTC()
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s UTC" data-time="%s">%s</time>`,
		t.Format("2006-01-02T15:04:05.000Z07:00"), t.Format("2006-01-02 15:04:05"), kind, template.HTMLEscapeString(text)))
}

// took writes milliseconds.
func took(ms float64) string {
	switch {
	case ms < 1:
		return strconv.FormatFloat(ms, 'f', 2, 64) + thin + "ms"
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 1, 64) + thin + "ms"
	case ms < 1000:
		return strconv.FormatFloat(math.Round(ms), 'f', 0, 64) + thin + "ms"
	case ms < 60_000:
		return strconv.FormatFloat(ms/1000, 'f', 2, 64) + thin + "s"
	}
	return span(time.Duration(ms * float64(time.Millisecond)))
}

// short is an id with its middle left out.
func short(id string) string {
	if len(id) < 18 {
		return id
	}
	return id[:10] + "…" + id[len(id)-5:]
}

// percent writes a share.
func percent(share float64) string {
	text := strconv.FormatFloat(share*100, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + thin + "%"
}

// shortShare writes a share with as many digits as a glance needs.
func shortShare(of float64) string {
	switch {
	case of > 0 && of < .001:
		return "<" + thin + "0.1" + thin + "%"
	case of > .999 && of < 1:
		return ">" + thin + "99.9" + thin + "%"
	case of < .1:
		return strings.TrimSuffix(strconv.FormatFloat(of*100, 'f', 1, 64), ".0") + thin + "%"
	}
	return strconv.FormatFloat(of*100, 'f', 0, 64) + thin + "%"
}

// pair is a name and a value of a query.
type pair struct{ Name, Value string }

// pairs are those of a query, for the hidden fields of a form.
func pairs(query string) (all []pair) {
	values, _ := url.ParseQuery(query)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, value := range values[name] {
			all = append(all, pair{name, value})
		}
	}
	return all
}

// dict makes a map of names and values, for a partial.
func dict(pairs ...any) map[string]any {
	m := make(map[string]any, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

// sentence is a text with a capital at its beginning and a stop at its end.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "…") {
		text += "."
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
