package spec

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// minMasked is how long a secret must be to be looked for in texts. A shorter
// one would be found in words that have nothing to do with it.
const minMasked = 4

// Mask hides secrets in texts: those that the spec has, and the tokens that
// are received in the course of a fetch.
type Mask struct {
	// shown are the names of parameters that are no secrets, whatever they
	// look like.
	shown []string
	// named are the names of parameters that are secrets, even if they do not
	// look like it.
	named []string

	mu      sync.Mutex
	secrets []string
	replace *strings.Replacer
}

// NewMask knows all secrets of a spec.
func NewMask(s *Spec) *Mask {
	m := new(Mask)
	if s.Pagination.Param != "" {
		m.shown = append(m.shown, s.Pagination.Param, s.Pagination.SizeParam)
	}
	if s.Incremental != nil {
		m.shown = append(m.shown, s.Incremental.Param, s.Incremental.To)
	}
	s.Auth.hide(m)
	m.addDeclared(s.declared)
	m.addRequest(&s.Request)
	if s.Each != nil && s.Each.List != nil {
		m.addRequest(&s.Each.List.Spec.Request)
	}
	if s.Report != nil {
		m.addRequest(&s.Report.Poll)
	}
	return m
}

func (m *Mask) addRequest(r *Request) {
	for _, p := range slices.Concat(r.query, r.headers) {
		if p.secret {
			m.addTemplates(p.Values)
		}
	}
	if r.Body == nil {
		return
	}
	m.addNode(&r.Body.json, false)
	for _, p := range r.Body.form {
		if p.secret {
			m.addTemplates(p.Values)
		}
	}
}

// addTemplates knows secrets as they are written: one with tokens in it is of
// parts that everybody knows.
func (m *Mask) addTemplates(values []Template) {
	for _, t := range values {
		for _, p := range t.parts {
			m.Add(p.literal)
		}
	}
}

// addNode knows the strings of a JSON value: all, or those that look secret.
func (m *Mask) addNode(n *strictjson.Value, all bool) {
	switch {
	case all && n.Kind == '"':
		m.Add(n.Text())
	case all && n.Kind == '0':
		m.Add(string(n.Raw))
	}
	for _, inner := range n.Members {
		m.addNode(&inner.Value, all || looksSecret(inner.Name))
	}
	for i := range n.Items {
		m.addNode(&n.Items[i], all)
	}
}

// Add has secrets hidden from now on, in every form they can take in a URL or
// a JSON text. Words of a header such as Bearer before a secret are left out.
func (m *Mask) Add(secrets ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, secret := range secrets {
		forms := []string{secret}
		if _, after, ok := strings.Cut(secret, " "); ok {
			forms = append(forms, after)
		}
		for _, form := range slices.Clone(forms) {
			escaped := url.QueryEscape(form)
			forms = append(forms, escaped, strings.ReplaceAll(escaped, "+", "%20"), url.PathEscape(form), (&url.URL{Path: "/" + form}).EscapedPath()[1:],
				lowerEscapes(escaped), base64.StdEncoding.EncodeToString([]byte(form)))
			forms = append(forms, inJSON(form)...)
		}
		for _, form := range forms {
			if len(form) >= minMasked && !slices.Contains(m.secrets, form) {
				m.secrets = append(m.secrets, form)
				m.replace = nil
			}
		}
	}
}

// inJSON are the forms that a text has in JSON, with the escapes that only some write, and
// in JSON that is a text in another.
func inJSON(text string) (forms []string) {
	for _, inside := range []string{text, strings.Trim(string(strictjson.String(text).Raw), `"`)} {
		quoted := strictjson.String(inside)
		plain := strings.Trim(string(quoted.Raw), `"`)
		slashes := strings.ReplaceAll(plain, "/", `\/`)
		forms = append(forms, plain, slashes, escapeLetters(plain), escapeLetters(slashes))
	}
	return forms
}

// escapeLetters writes the letters of a JSON string that are not ASCII as escapes.
func escapeLetters(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			_, _ = fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// lowerEscapes writes the percent-encoding of a text with small letters.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], strings.ToLower(s[i+1:i+3]))
		}
	}
	return string(b)
}

// Text hides the secrets in a text.
func (m *Mask) Text(s string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.replace == nil {
		// Of two secrets that begin alike the longer one must be found.
		slices.SortFunc(m.secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
		var pairs []string
		for _, secret := range m.secrets {
			pairs = append(pairs, secret, hidden)
		}
		m.replace = strings.NewReplacer(pairs...)
	}
	return m.replace.Replace(s)
}

// URL is a URL without its secrets: without userinfo, and with *** for what is
// known to be one or looks like one by its name.
func (m *Mask) URL(u *url.URL) string {
	shown := *u
	shown.User, shown.Fragment, shown.RawFragment = nil, "", ""
	shown.RawQuery = m.Pairs(u.RawQuery)
	return m.Text(shown.String())
}

// Pairs are the names and values of a query or a form with *** for each value that is
// a secret by its name. Those that are too short to be looked for are found by it, too.
func (m *Mask) Pairs(raw string) string {
	pairs := strings.Split(raw, "&")
	for i, pair := range pairs {
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(rawName)
		if rawValue != "" && (err != nil || slices.Contains(m.named, name) || looksSecret(name) && !slices.Contains(m.shown, name)) {
			pairs[i] = rawName + "=" + hidden
		}
	}
	return strings.Join(pairs, "&")
}

// Failure hides the secrets in a failure.
func (m *Mask) Failure(f *feedmill.SourceFailure) *feedmill.SourceFailure {
	masked := *f
	masked.Detail = m.Text(f.Detail)
	return &masked
}
