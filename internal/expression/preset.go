package expression

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/common/types"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/jstext"
)

const (
	// maxSummary bounds the characters of a message. Discord accepts 2,000 and the other
	// services more.
	maxSummary = 1900
	// maxFacts and maxFact bound the values of data that a message shows, and the
	// characters of each.
	maxFacts = 20
	maxFact  = 300
)

// preset makes the body of a built-in transformation.
func preset(name string, e *eventValue) (feedmill.Body, error) {
	switch name {
	case "slack":
		return message(`{"text":`, summary(e, "*", slackEscaper), `}`)
	case "discord":
		return message(`{"allowed_mentions":{"parse":[]},"content":`, summary(e, "**", discordEscaper), `}`)
	case "teams":
		return message(`{"type":"message","attachments":[{"contentType":"application/vnd.microsoft.card.adaptive","content":`+
			`{"$schema":"http://adaptivecards.io/schemas/adaptive-card.json","type":"AdaptiveCard","version":"1.4","body":[{"type":"TextBlock","wrap":true,"text":`,
			strings.ReplaceAll(summary(e, "**", teamsEscaper), "\n", "\n\n"), `}]}}]}`)
	case "text":
		return textBody(summary(e, "", strings.NewReplacer()))
	}
	return feedmill.Body{}, transformFailed(fmt.Errorf("the preset %q is not known", name))
}

func message(before, text, after string) (feedmill.Body, error) {
	b := append(jstext.AppendString([]byte(before), text), after...)
	return jsonBody(b)
}

// The characters that would be markup, a link or a mention.
var (
	slackEscaper   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	discordEscaper = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "~", `\~`, "|", `\|`, "<", `\<`, "[", `\[`, "#", `\#`)
	teamsEscaper   = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", "#", `\#`)
)

// summary describes an event: its type and resource, and the plain values of its data.
func summary(e *eventValue, bold string, escape *strings.Replacer) string {
	var b strings.Builder
	b.WriteString(bold + escape.Replace(e.text("type")) + bold)
	if resource := e.text("resourceId"); resource != "" {
		b.WriteString(" " + escape.Replace(shorten(resource, maxFact)))
	}
	data, _ := e.fields["data"].(map[string]any)
	shown := 0
	for _, name := range slices.Sorted(maps.Keys(data)) {
		value, ok := plain(data[name])
		if !ok {
			continue
		}
		line := "\n" + escape.Replace(shorten(name, maxFact)) + ": " + escape.Replace(shorten(value, maxFact))
		if shown == maxFacts || utf8.RuneCountInString(b.String())+utf8.RuneCountInString(line) > maxSummary {
			b.WriteString("\n…")
			break
		}
		b.WriteString(line)
		shown++
	}
	return b.String()
}

// plain returns a value that fits into a line; lists and objects do not.
func plain(v any) (string, bool) {
	switch v := v.(type) {
	case types.Null:
		return "", false
	case string:
		return strings.Join(strings.Fields(v), " "), true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

// shorten cuts a text to a number of characters.
func shorten(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	runes := []rune(s)
	return string(runes[:most-1]) + "…"
}
