package connecttest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
)

var feedID = regexp.MustCompile(`df_[0-9a-z]{26}`)

// Connect is somebody who opens a link, says yes at the provider, and shares the
// contacts of the team north. It returns the id of the feed.
func (p *Provider) Connect(link string) (feed string, err error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return "", err
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	send := func(method, address string, form url.Values) (*http.Response, string, error) {
		r, err := http.NewRequest(method, address, strings.NewReader(form.Encode()))
		if err != nil {
			return nil, "", err
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		answer, err := browser.Do(r)
		if err != nil {
			return nil, "", err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		return answer, string(text), err
	}
	at := link
	for _, form := range []url.Values{{}, {"answer": {"yes"}}} { // the consent here, and that at the provider
		answer, text, err := send(http.MethodPost, at, form)
		if err != nil {
			return "", err
		}
		if at = answer.Header.Get("Location"); at == "" {
			return "", fmt.Errorf("%s: %s", answer.Status, text)
		}
	}
	if answer, text, err := send(http.MethodGet, at, nil); err != nil || answer.StatusCode != http.StatusSeeOther {
		return "", fmt.Errorf("the callback: %w %s", err, text)
	}
	base, _, _ := strings.Cut(link, "/ui/")
	choice := url.Values{"do": {"make"}, "view": {"contacts"}, "shown": {"contacts"}, "field": {"id", "city"}, "setting.team": {"north"}}
	_, text, err := send(http.MethodPost, base+"/ui/connect/choose", choice)
	if feed = feedID.FindString(text); feed == "" && err == nil {
		err = fmt.Errorf("no feed was made: %s", text)
	}
	return feed, err
}
