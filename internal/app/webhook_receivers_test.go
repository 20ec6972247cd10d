package app

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// payloads are data that a receiver which serialises again must bring back to
// the same text.
var payloads = []string{
	`{}`,
	`{"b":1,"a":2,"10":3,"9":4,"01":5}`,
	`{"text":"\u2028\u2029 \u0000 \u007f \/ \ud83d\ude00 <>&'"}`,
	`{"n":[1.0,1e2,1e-7,-0,123456789012345680000,1E+30,0.1]}`,
	`[[],{},"",null,true,{"__proto__":{"x":1},"constructor":2}]`,
	`{"deep":{"2":{"1":{"a b":" + % & = ? # ü"}}}}`,
}

func TestReceiversInOtherLanguagesVerify(t *testing.T) {
	t.Parallel()
	library, err := filepath.Abs(filepath.Join("testdata", "receivers", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct{ name, program, script string }{
		{"node", "node", "receiver.mjs"},
		{"node with the stock library", "node", "receiver.mjs"},
		{"python", "python3", "receiver.py"},
	} {
		t.Run(r.name, func(t *testing.T) {
			program, err := exec.LookPath(r.program)
			if err != nil {
				missing(t, r.program+" is not installed")
			}
			args := []string{filepath.Join("testdata", "receivers", r.script)}
			if strings.Contains(r.name, "stock") {
				args = append(args, library)
			}
			receiver := startReceiver(t, program, args...)
			for _, method := range []string{"POST", "GET"} {
				s := start(t, setup{env: []string{"FEEDMILL_EGRESS_PROXY=", "FEEDMILL_EGRESS_ALLOW=127.0.0.0/8"}})
				sub := s.subscribe(t, fmt.Sprintf(`{"url":%q,"events":["metric.*"],"httpOperation":%q}`, receiver+"/hook?x=1", method))
				tell(t, receiver+"/secret", sub.SigningSecret)
				for _, data := range payloads {
					event := s.publish(t, fmt.Sprintf(`{"type":"metric.created","resourceId":"m 1 ü","data":%s}`, data))
					d := s.ended(t, event)
					if d.State != "delivered" {
						t.Errorf("%s of %s: %s, %+v", method, data, d.State, d.Attempts)
					}
				}
				tell(t, receiver+"/secret", "whsec_c29tZXRoaW5nIGVsc2U=")
				event := s.publish(t, `{"type":"metric.created","data":{}}`)
				if d := s.attempted(t, event); d.State == "delivered" || d.Attempts[0].Status != http.StatusBadRequest {
					t.Errorf("%s: a receiver with another secret took it: %+v", method, d)
				}
			}
		})
	}
}

// missing skips a test that lacks a program, or fails it where all must be there.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what + "; 'make setup' installs it")
}

// startReceiver runs a receiver until the test ends and returns its address.
func startReceiver(t *testing.T, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the receiver did not start: %v", err)
	}
	return "http://127.0.0.1:" + strings.TrimSpace(port)
}

func tell(t *testing.T, url, secret string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPut, url, strings.NewReader(secret))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

// subscription, delivery and the rest are the API's shapes as a client reads them.
type subscription struct {
	ID            string   `json:"id"`
	URL           string   `json:"url"`
	Events        []string `json:"events"`
	State         string   `json:"state"`
	SigningSecret string   `json:"signingSecret"`
}

type delivery struct {
	ID       string `json:"id"`
	State    string `json:"state"`
	Attempts []struct {
		Number int    `json:"number"`
		Status int    `json:"status"`
		Error  string `json:"error"`
	} `json:"attempts"`
}

// fetch makes a request that must be answered with status and reads the answer.
func fetch[T any](t *testing.T, s *service, status int, q request) (out T) {
	t.Helper()
	r := s.send(t, q)
	if r.status != status {
		t.Fatalf("%s %s: %d %s", q.method, q.path, r.status, r.body)
	}
	if err := json.Unmarshal([]byte(r.body), &out); err != nil {
		t.Fatalf("%s %s: %v in %s", q.method, q.path, err, r.body)
	}
	return out
}

type enveloped[T any] struct {
	Data T `json:"data"`
}

func (s *service) subscribe(t *testing.T, body string) subscription {
	t.Helper()
	return fetch[enveloped[subscription]](t, s, 201, request{method: "POST", path: "/events/subscriptions", body: body}).Data
}

// publish publishes one event and returns its id.
func (s *service) publish(t *testing.T, body string) string {
	t.Helper()
	type accepted struct {
		Accepted []struct {
			ID string `json:"id"`
		} `json:"accepted"`
	}
	return fetch[accepted](t, s, 202, request{method: "POST", path: "/events", body: body}).Accepted[0].ID
}

// ended waits until the one delivery of an event has ended.
func (s *service) ended(t *testing.T, event string) delivery {
	t.Helper()
	return s.waitDelivery(t, event, func(d delivery) bool {
		return d.State == "delivered" || d.State == "exhausted" || d.State == "discarded"
	})
}

// attempted waits until the one delivery of an event has had an attempt.
func (s *service) attempted(t *testing.T, event string) delivery {
	t.Helper()
	return s.waitDelivery(t, event, func(d delivery) bool { return len(d.Attempts) > 0 })
}

func (s *service) waitDelivery(t *testing.T, event string, done func(delivery) bool) (d delivery) {
	t.Helper()
	type routed struct {
		Deliveries []struct {
			ID string `json:"id"`
		} `json:"deliveries"`
	}
	to := fetch[enveloped[routed]](t, s, 200, request{method: "GET", path: "/events/" + event}).Data.Deliveries
	if len(to) != 1 {
		t.Fatalf("the event went to %d subscriptions, want 1", len(to))
	}
	eventually(t, func() bool {
		d = fetch[enveloped[delivery]](t, s, 200, request{method: "GET", path: "/events/deliveries/" + to[0].ID}).Data
		return done(d)
	})
	return d
}
