package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/mail"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/mail/mailtest"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// mailLink finds the address of a page in a message.
var mailLink = regexp.MustCompile(`https://feeds\.example\.org(/ui/mail/\S+)`)

// mailing is a server that sends mail.
func mailing(t *testing.T, env ...string) (*service, *mailtest.Server) {
	t.Helper()
	box := mailtest.Start(t)
	return start(t, setup{env: append([]string{
		"FEEDMILL_SMTP_URL=smtp://" + box.Address, "FEEDMILL_SMTP_FROM=feedmill@example.org", "FEEDMILL_PUBLIC_URL=https://feeds.example.org",
	}, env...)}), box
}

// mailState is what the API tells of a subscription.
type mailState struct {
	ID, URL, State, PausedReason, ConfirmBy, AlertID string
}

func (s *service) mailState(t *testing.T, id string) (v struct{ Data mailState }) {
	t.Helper()
	s.ask(t, "GET", "/events/subscriptions/"+id, "", 200, &v)
	return v
}

// ask makes a request as the admin and reads its response.
func (s *service) ask(t *testing.T, method, path, body string, status int, into any) {
	t.Helper()
	r := s.send(t, request{method: method, path: path, body: body})
	if r.status != status {
		t.Fatalf("%s %s: %d: %s", method, path, r.status, r.body)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal([]byte(r.body), into); err != nil {
		t.Fatal(err)
	}
}

// visit opens a page without any credential, as a browser or a mail program does.
func (s *service) visit(t *testing.T, method, path string) (status int, body string) {
	t.Helper()
	q := request{method: method, path: path, key: "-"}
	if method == "POST" {
		q.body, q.header = "List-Unsubscribe=One-Click", [][2]string{{"Content-Type", "application/x-www-form-urlencoded"}}
	}
	r := s.send(t, q)
	return r.status, r.body
}

// linkOf is the path of the page that a message leads to.
func linkOf(t *testing.T, text string) string {
	t.Helper()
	found := mailLink.FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("the message has no link: %s", text)
	}
	return found[1]
}

// Nothing is sent before the recipient confirms, and nothing after the recipient unsubscribes.
func TestMailNeedsConsent(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { testConsent(t) })
	t.Run("postgres", func(t *testing.T) { testConsent(t, "FEEDMILL_DATABASE_URL="+pgtest.New(t)) })
}

func testConsent(t *testing.T, env ...string) {
	s, box := mailing(t, env...)
	var first, second struct{ Data mailState }
	s.ask(t, "POST", "/events/subscriptions", `{"url":"mailto:Ada@example.com","events":["metric.*"],"name":"a"}`, 201, &first)
	s.ask(t, "POST", "/events/subscriptions", `{"url":"mailto:ada@example.com","events":["tag.*"],"name":"b"}`, 201, &second)
	var pair []mailState
	s.ask(t, "POST", "/events/subscriptions", `{"url":"mailto:bob@example.com","events":["datafeed.source.refresh_failed","subscription.disabled"],"alert":true}`, 201, &pair)
	if len(pair) != 2 || pair[0].AlertID == "" || pair[0].AlertID != pair[1].AlertID || first.Data.AlertID != "" {
		t.Fatalf("the alert is %+v", pair)
	}
	until, err := time.Parse(time.RFC3339, first.Data.ConfirmBy)
	if d := time.Until(until); err != nil || d < 71*time.Hour || d > 72*time.Hour || first.Data.State != "paused" || first.Data.PausedReason != "unconfirmed" {
		t.Errorf("it is %+v", first.Data)
	}
	confirmations := make(map[string][]string) // paths by recipient
	subjects := 0
	for end := time.Now().Add(time.Minute); len(confirmations["ada@example.com"]) < 2 && strings.Count(strings.Join(confirmations["ada@example.com"], ""), "sub_") < 2 || len(confirmations["bob@example.com"]) < 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the confirmations are %v", confirmations)
		}
		messages, bodies := box.All()
		clear(confirmations)
		for i, m := range messages {
			to := strings.ToLower(strings.Trim(m.Header.Get("To"), "<>"))
			confirmations[to] = append(confirmations[to], linkOf(t, bodies[i]))
			if strings.HasPrefix(m.Header.Get("Subject"), "Confirm e-mail from") {
				subjects++
			}
		}
	}
	if subjects == 0 {
		t.Error("no message has the subject of a confirmation")
	}
	s.ask(t, "POST", "/events", `{"type":"metric.created","resourceId":"m_1","data":{"value":1}}`, 202, nil)
	s.ask(t, "POST", "/events", `{"type":"tag.created","resourceId":"t_1"}`, 202, nil)
	s.ask(t, "POST", "/events/subscriptions/"+first.Data.ID+"/test", `{}`, 409, nil)
	sent, _ := box.All()
	for to, paths := range confirmations {
		for _, path := range paths {
			if status, body := s.visit(t, "GET", path); status != 200 || !strings.Contains(body, "Confirm") {
				t.Errorf("%s: %d: %s", to, status, body)
			}
			if status, _ := s.visit(t, "GET", path[:len(path)-1]+"_"); status != 404 && !strings.HasSuffix(path, "_") && !strings.Contains(path, "~") {
				t.Errorf("a forged link: %d", status)
			}
		}
	}
	for _, id := range []string{first.Data.ID, second.Data.ID, pair[0].ID, pair[1].ID} {
		if v := s.mailState(t, id).Data; v.State != "paused" || v.PausedReason != "unconfirmed" {
			t.Errorf("before the confirmation: %+v", v)
		}
	}
	if now, _ := box.All(); len(now) != len(sent) {
		t.Error("something was sent without consent")
	}
	for _, path := range append(confirmations["ada@example.com"], confirmations["bob@example.com"]...) {
		if status, body := s.visit(t, "POST", path); status != 200 {
			t.Errorf("confirming: %d: %s", status, body)
		}
	}
	for _, id := range []string{first.Data.ID, second.Data.ID, pair[0].ID, pair[1].ID} {
		if v := s.mailState(t, id).Data; v.State != "active" || v.PausedReason != "" || v.ConfirmBy != "" {
			t.Errorf("after the confirmation: %+v", v)
		}
	}
	messages, bodies := box.Wait(t, len(sent)+2)
	var ofFirst *mail.Message
	for i, m := range messages[len(sent):] {
		if strings.Contains(bodies[len(sent)+i], "metric.created m_1\nvalue: 1") {
			ofFirst = m
		}
	}
	if ofFirst == nil {
		t.Fatalf("the messages are %q", bodies[len(sent):])
	}
	unsubscribe := linkOf(t, strings.Trim(ofFirst.Header.Get("List-Unsubscribe"), "<>"))
	if status, body := s.visit(t, "GET", unsubscribe); status != 200 || !strings.Contains(body, "Stop messages") || s.mailState(t, first.Data.ID).Data.State != "active" {
		t.Errorf("%d: %s", status, body)
	}
	if status, _ := s.visit(t, "POST", strings.Replace(unsubscribe, first.Data.ID, second.Data.ID, 1)); status != 404 {
		t.Errorf("a link for another subscription: %d", status)
	}
	if status, body := s.visit(t, "POST", unsubscribe); status != 200 {
		t.Errorf("%d: %s", status, body)
	}
	if v := s.mailState(t, first.Data.ID).Data; v.State != "paused" || v.PausedReason != "unsubscribed" {
		t.Errorf("after the end: %+v", v)
	}
	if v := s.mailState(t, second.Data.ID).Data; v.State != "active" {
		t.Errorf("another one after the end: %+v", v)
	}
	var audit []struct {
		Action, Resource string
		Actor            struct{ Subject string }
	}
	s.ask(t, "GET", "/audit?resource="+first.Data.ID, "", 200, &audit)
	if len(audit) < 3 || audit[0].Action != "subscription.unsubscribed" || audit[1].Action != "subscription.confirmed" || audit[0].Actor.Subject != "recipient" {
		t.Errorf("the audit log is %+v", audit)
	}
	// Activating without consent asks again. An address has its own consent.
	before, _ := box.All()
	var changed struct{ Data mailState }
	s.ask(t, "PATCH", "/events/subscriptions/"+first.Data.ID, `{"state":"active"}`, 200, &changed)
	if changed.Data.State != "paused" || changed.Data.PausedReason != "unconfirmed" {
		t.Errorf("activated as %+v", changed.Data)
	}
	_, bodies = box.Wait(t, len(before)+1)
	again := linkOf(t, bodies[len(before)])
	s.ask(t, "PATCH", "/events/subscriptions/"+first.Data.ID, `{"url":"mailto:eve@example.com"}`, 200, &changed)
	if changed.Data.State != "paused" || changed.Data.PausedReason != "unconfirmed" {
		t.Errorf("with another address: %+v", changed.Data)
	}
	if status, _ := s.visit(t, "POST", again); status != 404 {
		t.Errorf("the link to the old address: %d", status)
	}
	if status, _ := s.visit(t, "POST", unsubscribe); status != 404 {
		t.Errorf("the end of the old address: %d", status)
	}
}

// A domain of the operator needs no confirmation, and each address has a limit.
func TestMailOfTheOperator(t *testing.T) {
	s, box := mailing(t, "FEEDMILL_MAIL_DOMAINS=Example.org", "FEEDMILL_MAIL_LIMIT=3")
	var v struct{ Data mailState }
	s.ask(t, "POST", "/events/subscriptions", `{"url":"mailto:ops@example.org","events":["metric.*"]}`, 201, &v)
	if v.Data.State != "active" || v.Data.PausedReason != "" {
		t.Errorf("%+v", v.Data)
	}
	for i := range 5 {
		s.ask(t, "POST", "/events", fmt.Sprintf(`{"type":"metric.created","resourceId":"m_%d"}`, i), 202, nil)
	}
	box.Wait(t, 3)
	// Those above the limit wait, and no attempt is charged.
	eventually(t, func() bool {
		var list []struct{ State string }
		s.ask(t, "GET", "/events/subscriptions/"+v.Data.ID+"/deliveries", "", 200, &list)
		delivered, pending := 0, 0
		for _, d := range list {
			switch d.State {
			case "delivered":
				delivered++
			case "pending", "delivering":
				pending++
			}
		}
		return delivered == 3 && pending == 2
	})
	if messages, _ := box.All(); len(messages) != 3 {
		t.Errorf("%d messages were sent", len(messages))
	}
	s.ask(t, "POST", "/events/subscriptions", `{"url":"mailto:a@example.org?subject=x","events":["metric.*"]}`, 400, nil)
	s.ask(t, "PATCH", "/events/subscriptions/"+v.Data.ID, `{"state":"paused"}`, 200, &v)
	if v.Data.PausedReason != feedmill.PausedAsked {
		t.Errorf("paused as %+v", v.Data)
	}
	id := v.Data.ID
	v.Data = mailState{}
	s.ask(t, "PATCH", "/events/subscriptions/"+id, `{"state":"active"}`, 200, &v)
	if v.Data.State != "active" || v.Data.PausedReason != "" {
		t.Errorf("resumed as %+v", v.Data)
	}
}

// Strangers are asked a few times at most, whichever workspace asks.
func TestRequestsToConfirmAreLimited(t *testing.T) {
	s, box := mailing(t)
	var v struct{ Data mailState }
	s.ask(t, "POST", "/events/subscriptions", `{"url":"mailto:eve@example.com","events":["metric.*"]}`, 201, &v)
	box.Wait(t, 1)
	for n := 2; n <= 5; n++ {
		s.ask(t, "PATCH", "/events/subscriptions/"+v.Data.ID, `{"state":"active"}`, 200, nil)
		box.Wait(t, n)
	}
	s.ask(t, "PATCH", "/events/subscriptions/"+v.Data.ID, `{"state":"active"}`, 200, nil)
	id := feedmill.ID(v.Data.ID)
	eventually(t, func() bool {
		sub, err := s.app.store.SubscriptionForDelivery(context.Background(), id)
		return err == nil && time.Until(sub.ConfirmDueAt) > 20*time.Hour
	})
	if messages, _ := box.All(); len(messages) != 5 {
		t.Errorf("%d requests were sent", len(messages))
	}
}

// Without a server, a subscription by mail is refused with the names of the settings.
func TestMailIsNotConfigured(t *testing.T) {
	s := start(t, setup{})
	r := s.send(t, request{method: "POST", path: "/events/subscriptions", body: `{"url":"mailto:a@example.org","events":["metric.*"]}`})
	if r.status != 400 || !strings.Contains(r.body, "FEEDMILL_SMTP_URL") {
		t.Errorf("%d: %s", r.status, r.body)
	}
}
