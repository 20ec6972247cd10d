package mail

import (
	"errors"
	"fmt"
	"strings"

	"github.com/feedmill/feedmill"
)

// Define makes the destination that a request describes, and notes every fault of the
// request. A new address has a new key, so links to the old one are not valid for it.
func (k *Kind) Define(r feedmill.DestinationRequest) (d feedmill.Destination, sealed []byte, err error) {
	d = r.Was
	d.Kind, d.Method = k.Name(), ""
	if f, ok := r.Body.Given("httpOperation"); ok {
		f.Fault("httpOperation applies only to webhooks. Remove it, or set it to null.")
	}
	f, ok := r.Body.Get("url")
	if !ok {
		return d, nil, nil
	}
	text, ok := f.Text()
	if !ok {
		return d, nil, nil
	}
	to, err := parseAddress(text)
	if err != nil {
		f.Fault(err.Error() + ".")
		return d, nil, nil
	}
	if missing := notConfigured(k.Options); missing != "" {
		f.Fault("The server cannot send e-mail: " + missing + ".")
	}
	if d.URL = to.url(); d.URL == r.Was.URL {
		return d, nil, nil
	}
	d.ConfigNames = nil
	sealed, err = newConfig()
	return d, sealed, err
}

// notConfigured names the settings without which no message can be sent; it is empty if
// they are set.
func notConfigured(o Options) string {
	switch {
	case o.Server == nil && o.PublicURL == "":
		return "the operator must set FEEDMILL_SMTP_URL and FEEDMILL_PUBLIC_URL"
	case o.Server == nil:
		return "the operator must set FEEDMILL_SMTP_URL"
	case o.PublicURL == "":
		return "the operator must set FEEDMILL_PUBLIC_URL, with which links in messages begin"
	}
	return ""
}

// address is a mailbox. It has no characters that could end a header or a command.
type address struct {
	local  string
	domain string // in lower case
}

func (a address) String() string { return a.local + "@" + a.domain }

// url is the one way in which the address is stored.
func (a address) url() string { return "mailto:" + a.String() }

const (
	maxLocal  = 64
	maxDomain = 253
	maxLabel  = 63
)

// parseAddress reads a mailto URL with one address and nothing else. The error is a sentence
// without a period.
func parseAddress(url string) (a address, err error) {
	const scheme = "mailto:"
	if len(url) < len(scheme) || !strings.EqualFold(url[:len(scheme)], scheme) {
		return a, errors.New("url must be an address such as mailto:ada@example.com")
	}
	text := url[len(scheme):]
	switch {
	case strings.Contains(text, "?"):
		return a, errors.New("url must not have header fields such as ?subject=. Remove the question mark and what follows")
	case strings.ContainsAny(text, ",;"):
		return a, errors.New("url must have one address. Create a subscription for each address")
	}
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return a, errors.New("url must be an address such as mailto:ada@example.com")
	}
	return checkAddress(address{text[:at], strings.ToLower(text[at+1:])})
}

func checkAddress(a address) (address, error) {
	switch {
	case a.local == "" || len(a.local) > maxLocal || strings.HasPrefix(a.local, ".") || strings.HasSuffix(a.local, ".") || strings.Contains(a.local, ".."):
		return a, fmt.Errorf("url must have 1 to %d characters before the @, without a period at either end and without two in a row", maxLocal)
	case strings.ContainsFunc(a.local, func(r rune) bool { return !isLetterOrDigit(r) && !strings.ContainsRune("!$&'*+-.=^_`{|}~", r) }):
		return a, errors.New("url can have only ASCII letters, digits and !$&'*+-.=^_`{|}~ before the @")
	case len(a.domain) > maxDomain:
		return a, fmt.Errorf("the domain in url must have at most %d characters", maxDomain)
	}
	for label := range strings.SplitSeq(a.domain, ".") {
		if label == "" || len(label) > maxLabel || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") ||
			strings.ContainsFunc(label, func(r rune) bool { return !isLetterOrDigit(r) && r != '-' }) {
			return a, errors.New("url must have a domain such as example.com after the @. Write international domains in their ASCII form (xn--…)")
		}
	}
	return a, nil
}

func isLetterOrDigit(r rune) bool {
	return '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
}
