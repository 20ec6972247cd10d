package mail

import (
	"bytes"
	"mime"
	"mime/quotedprintable"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/feedmill/feedmill"
)

const (
	// maxSubject bounds the characters of a subject.
	maxSubject = 150
	// maxHeader bounds the bytes of another header.
	maxHeader = 500
)

// compose writes the message of a delivery.
func (e *endpoint) compose(m feedmill.Message) []byte {
	text := strings.ToValidUTF8(string(m.Payload), "\uFFFD")
	unsubscribe := e.links.unsubscribeURL(e.subscription)
	d := draft{
		id: string(m.Delivery), at: m.At, from: e.Server.From, to: e.to, subject: subjectOf(m, text),
		headers: [][2]string{
			{"List-Unsubscribe", "<" + unsubscribe + ">"},
			{"List-Unsubscribe-Post", "List-Unsubscribe=One-Click"},
		},
	}
	for _, h := range m.Header {
		if identifies(h[0]) {
			d.headers = append(d.headers, h)
		}
	}
	d.text = text + "\n"
	if page := e.page(m.ResourceID); page != "" {
		d.text += "\n" + page + "\n"
	}
	d.text += "\n-- \nYou receive this message because you confirmed it. To stop these messages, open:\n" + unsubscribe + "\n"
	return d.write()
}

// identifies reports whether a header of the delivery is one of the message. Signatures are
// not: the text is encoded and has a footer.
func identifies(name string) bool {
	switch name {
	case "X-Service-Event", "X-Service-Delivery", "X-Service-Attempt", "X-Service-Test":
		return true
	}
	return false
}

// subjectOf is the first line of a text, and the type and resource of a body in JSON.
func subjectOf(m feedmill.Message, text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if !strings.HasPrefix(m.ContentType, "text/plain") || strings.TrimSpace(first) == "" {
		first = strings.TrimSpace(m.Type + " " + m.ResourceID)
	}
	if m.Test {
		first = "Test: " + first
	}
	return first
}

// page is the address of the page about a resource.
func (e *endpoint) page(resource string) string {
	switch {
	case feedmill.IsID(feedmill.PrefixDataFeed, resource):
		return e.PublicURL + "/ui/feeds/" + resource
	case feedmill.IsID(feedmill.PrefixSubscription, resource):
		return e.PublicURL + "/ui/subscriptions/" + resource
	}
	return ""
}

// draft is a message before it is encoded.
type draft struct {
	id       string
	at       time.Time
	from, to address
	subject  string
	headers  [][2]string
	text     string
}

// write encodes the message as ASCII with lines that every server takes.
func (d draft) write() []byte {
	var b bytes.Buffer
	set := func(name, value string) { b.WriteString(name + ": " + value + "\r\n") }
	set("From", "Feedmill <"+d.from.String()+">")
	set("To", "<"+d.to.String()+">")
	set("Subject", encodeHeader(d.subject, maxSubject))
	set("Date", d.at.UTC().Format("Mon, 02 Jan 2006 15:04:05 -0700"))
	set("Message-ID", "<"+d.id+"@"+d.from.domain+">")
	set("Auto-Submitted", "auto-generated")
	set("MIME-Version", "1.0")
	set("Content-Type", "text/plain; charset=utf-8")
	set("Content-Transfer-Encoding", "quoted-printable")
	for _, h := range d.headers {
		set(h[0], encodeHeader(h[1], maxHeader))
	}
	b.WriteString("\r\n")
	text := quotedprintable.NewWriter(&b)
	text.Write([]byte(printable(d.text)))
	text.Close()
	return b.Bytes()
}

// encodeHeader makes the value of a header from any text. Control characters, line breaks
// among them, become spaces; what is not ASCII is encoded, in folded lines.
func encodeHeader(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if isControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most-1]) + "…"
	}
	// A text that looks encoded would be decoded by the reader.
	if strings.Contains(text, "=?") {
		text = strings.ReplaceAll(text, "=?", "= ?")
	}
	return strings.ReplaceAll(mime.QEncoding.Encode("utf-8", strings.TrimSpace(text)), "?= =?", "?=\r\n =?")
}

// printable is a text without control characters other than line breaks and tabs.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if isControl(r) && r != '\n' && r != '\r' && r != '\t' {
			return ' '
		}
		return r
	}, text)
}

// isControl reports whether a character ends lines or changes the direction of text.
func isControl(r rune) bool {
	return r < ' ' || 0x7f <= r && r < 0xa0 || r == '\u2028' || r == '\u2029' || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069'
}
