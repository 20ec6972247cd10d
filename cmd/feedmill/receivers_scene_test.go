package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// scene is a subscription, a receiver that may be started anew with other
// secrets, and the relay between them.
type scene struct {
	receiver
	server       *process
	program      []string
	method       string
	resource     string
	subscription string
	secret       string
	relay        *relay
	running      *process
}

func newScene(t *testing.T, server *process, r receiver, program []string, method string) *scene {
	t.Helper()
	s := &scene{receiver: r, server: server, program: program, method: method, relay: newRelay(t)}
	s.resource = "m ü " + r.name + " " + method
	s.subscription, s.secret = s.secretOf(t, "/events/subscriptions", http.StatusCreated, fmt.Sprintf(
		`{"url":%q,"events":["metric.*"],"httpOperation":%q,"filters":{"resourceId":%q}}`, s.relay.URL+"/hook?x=%20a;&y", method, s.resource,
	))
	t.Cleanup(func() {
		if s.running != nil {
			s.running.kill()
			if t.Failed() {
				t.Logf("the receiver printed\n%s\nand\n%s", s.running.stdout.String(), s.running.stderr.String())
			}
		}
	})
	return s
}

func (s *scene) play(t *testing.T) {
	s.start(t, s.secret)
	var last exchange
	for _, data := range []string{
		`{}`,
		`{"b":1.0,"a":1e-06,"10":-0,"9":[[],{},"",null,true]}`,
		`{"text":"\u2028\u0000\u007f\/\ud83d\ude00 <>&'\" + % = ? # ü","__proto__":{"2":{"1":{}}}}`,
	} {
		last = s.accepted(t, s.publish(t, data))
	}
	s.refuses(t, last)
	s.handlesOnce(t, last)
	s.survivesTampering(t)
	s.rotates(t)
	s.readsNumbers(t)
}

// changePayload makes another event of the one in the request.
func changePayload(x *exchange) {
	x.body = strings.Replace(x.body, "metric.created", "metric.deleted", 1)
	x.uri = strings.Replace(x.uri, "metric.created", "metric.deleted", 1)
}

// refuses sends the receiver what only looks like the delivery that it took.
func (s *scene) refuses(t *testing.T, good exchange) {
	t.Helper()
	changes := map[string]func(*exchange){
		"another payload": changePayload,
		"other signatures": func(x *exchange) {
			x.header.Set("webhook-signature", "v1,"+strings.Repeat("A", 43)+"=")
			x.header.Set("x-service-signature", strings.Repeat("0", 64))
		},
		"broken signatures": func(x *exchange) {
			x.header.Set("webhook-signature", "v1, , ü v1")
			x.header.Set("x-service-signature", "ü0")
		},
		"no signatures": func(x *exchange) {
			x.header = http.Header{}
		},
	}
	if !s.plain {
		changes["another delivery"] = func(x *exchange) { x.header.Set("webhook-id", "dlv_other") }
		changes["another time"] = func(x *exchange) { x.header.Set("webhook-timestamp", strconv.FormatInt(time.Now().Unix()+1, 10)) }
		changes["no time"] = func(x *exchange) { x.header.Set("webhook-timestamp", "now") }
		changes["an hour ago"] = func(x *exchange) { s.signAt(t, x, time.Now().Add(-time.Hour)) }
		changes["in an hour"] = func(x *exchange) { s.signAt(t, x, time.Now().Add(time.Hour)) }
	}
	for name, change := range changes {
		x := good.clone()
		change(&x)
		if status := x.send(t, s.running.url); status != http.StatusUnauthorized {
			t.Errorf("%s: answered with %d, want 401", name, status)
		}
	}
	if x := good.clone(); !s.plain {
		s.signAt(t, &x, time.Now())
		if status := x.send(t, s.running.url); status != http.StatusNoContent {
			t.Errorf("signed by the library of Standard Webhooks: answered with %d, want 204", status)
		}
	}
}

// signAt signs the request as the library of Standard Webhooks does.
func (s *scene) signAt(t *testing.T, x *exchange, at time.Time) {
	t.Helper()
	library, err := standardwebhooks.NewWebhook(s.secret)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := library.Sign(x.header.Get("webhook-id"), at, []byte(x.payload()))
	if err != nil {
		t.Fatal(err)
	}
	x.header.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	x.header.Set("webhook-signature", signature)
}

// handlesOnce sends a delivery again: it is taken, and nothing comes of it.
func (s *scene) handlesOnce(t *testing.T, good exchange) {
	t.Helper()
	again := good.clone()
	if s.plain {
		again.header.Set("webhook-id", "dlv_other") // not signed, so not to be relied on
	}
	for range 2 {
		if status := again.send(t, s.running.url); status != http.StatusNoContent {
			t.Errorf("a duplicate is answered with %d, want 204", status)
		}
	}
	s.accepted(t, s.publish(t, `{}`)) // what was printed before it is there now
	if n := strings.Count(s.running.stdout.String(), good.event()); n != 1 {
		t.Errorf("a delivery that came several times was handled %d times", n)
	}
}

// survivesTampering changes a delivery on its way: it is refused, and the next
// attempt brings the truth.
func (s *scene) survivesTampering(t *testing.T) {
	t.Helper()
	s.relay.spoilNext(changePayload)
	event := s.publish(t, `{}`)
	s.refused(t, event)
	if x := s.accepted(t, event); x.header.Get("x-service-attempt") != "2" {
		t.Errorf("attempt %s was accepted, want the second", x.header.Get("x-service-attempt"))
	}
	if text := s.running.stdout.String(); strings.Contains(text, "metric.deleted") {
		t.Errorf("what was changed on its way was handled:\n%s", text)
	}
}

func (s *scene) rotates(t *testing.T) {
	t.Helper()
	path := "/events/subscriptions/" + s.subscription + "/rotate_secret"
	old := s.secret
	_, s.secret = s.secretOf(t, path, http.StatusOK, `{"overlap":"24h"}`)
	for _, secrets := range [][]string{nil, {s.secret}, {old, s.secret}} {
		if secrets != nil {
			s.start(t, secrets...)
		}
		if x := s.accepted(t, s.publish(t, `{}`)); x.header.Get("x-service-signature-next") == "" {
			t.Error("the new secret does not sign")
		}
	}
	_, s.secret = s.secretOf(t, path, http.StatusOK, `{"overlap":"0s"}`)
	event := s.publish(t, `{}`)
	s.refused(t, event)
	s.start(t, s.secret)
	s.accepted(t, event)
}

// readsNumbers holds the documentation to what it says of numbers that
// JavaScript cannot hold: only who serialises again has trouble with them.
func (s *scene) readsNumbers(t *testing.T) {
	t.Helper()
	event := s.publish(t, `{"n":[9007199254740993,0.1000000000000000055,1e400]}`)
	if s.plain {
		s.refused(t, event)
	} else {
		s.accepted(t, event)
	}
}

// start runs the receiver with these secrets, in place of the one before.
func (s *scene) start(t *testing.T, secrets ...string) {
	t.Helper()
	if s.running != nil {
		s.running.kill()
	}
	cmd := exec.Command(s.program[0], s.program[1:]...)
	cmd.Env = append(os.Environ(), "PORT=0", "FEEDMILL_SECRETS="+strings.Join(secrets, " "))
	p := &process{cmd: cmd, exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.stdout, &p.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.exited)
		cmd.Wait() // it ends by being killed
	}()
	s.running = p
	var err error
	if p.url, err = p.find(`listening on (http://\S+)/hook`); err != nil {
		t.Fatal(err)
	}
	s.relay.sendTo(p.url)
}

// secretOf makes a request whose answer has a subscription and its secret.
func (s *scene) secretOf(t *testing.T, path string, want int, body string) (subscription, secret string) {
	t.Helper()
	status, answer, err := s.post(t, path, body)
	var made struct {
		Data struct{ ID, SigningSecret string }
	}
	if err == nil {
		err = json.Unmarshal(answer, &made)
	}
	if err != nil || status != want || made.Data.SigningSecret == "" {
		t.Fatalf("POST %s: %d %s, %v", path, status, answer, err)
	}
	return made.Data.ID, made.Data.SigningSecret
}

func (s *scene) post(t *testing.T, path, body string) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.server.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+sharedFirstKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

func (s *scene) publish(t *testing.T, data string) (event string) {
	t.Helper()
	status, answer, err := s.post(t, "/events", fmt.Sprintf(`{"type":"metric.created","resourceId":%q,"data":%s}`, s.resource, data))
	var accepted struct{ Accepted []struct{ ID string } }
	if err == nil {
		err = json.Unmarshal(answer, &accepted)
	}
	if err != nil || status != http.StatusAccepted {
		t.Fatalf("publishing %s: %d %s, %v", data, status, answer, err)
	}
	return accepted.Accepted[0].ID
}

// accepted waits until the receiver has taken an event and has printed it.
func (s *scene) accepted(t *testing.T, event string) exchange {
	t.Helper()
	for {
		x := s.relay.next(t, event)
		if x.status != http.StatusNoContent {
			continue // the receiver with the wrong secret, or none
		}
		if _, err := s.running.find(`(?m)^metric\.created ` + regexp.QuoteMeta(s.resource) + ` (` + event + `)\r?$`); err != nil {
			t.Fatal(err)
		}
		return x
	}
}

// refused waits for the next attempt to deliver an event, which must fail.
func (s *scene) refused(t *testing.T, event string) {
	t.Helper()
	if x := s.relay.next(t, event); x.status != http.StatusUnauthorized {
		t.Fatalf("the receiver answered %d, want 401", x.status)
	}
}
