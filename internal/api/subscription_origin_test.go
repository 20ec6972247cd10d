package api

import (
	"slices"
	"testing"
)

// What a header holds was given for one origin, and goes to no other.
func TestHeadersStayWithTheirOrigin(t *testing.T) {
	const there = `"delivery":{"headers":{"Authorization":"s3cret","X-Team":"blue"}}`
	for _, test := range []struct {
		name, patch string
		status      int
		headers     []string
		places      []string
	}{
		{"same origin", `{"url":"https://hooks.example.com/other?a=1"}`, 200, []string{"Authorization", "X-Team"}, nil},
		{"its port written out", `{"url":"https://HOOKS.example.com:443/other"}`, 200, []string{"Authorization", "X-Team"}, nil},
		{"another host", `{"url":"https://evil.example.com/"}`, 400, nil, []string{"/delivery/headers"}},
		{"another port", `{"url":"https://hooks.example.com:8443/"}`, 400, nil, []string{"/delivery/headers"}},
		{"another scheme", `{"url":"http://hook.internal/"}`, 400, nil, []string{"/delivery/headers"}},
		{"other settings are no headers", `{"url":"https://evil.example.com/","delivery":{"timeout":"5s"}}`, 400, nil, []string{"/delivery/headers"}},
		{"a value that is to stay", `{"url":"https://evil.example.com/","delivery":{"headers":{"Authorization":"***"}}}`, 400, nil, []string{"/delivery/headers/Authorization"}},
		{"given anew", `{"url":"https://new.example.com/","delivery":{"headers":{"X-New":"n"}}}`, 200, []string{"X-New"}, nil},
		{"dropped", `{"url":"https://new.example.com/","delivery":{"headers":null}}`, 200, nil, nil},
		{"dropped by none", `{"url":"https://new.example.com/","delivery":{"headers":{}}}`, 200, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			id, _ := w.makeSubscription(t, `{"url":"https://hooks.example.com/hook","events":["metric.*"],`+there+`}`)
			r := w.do(t, "PATCH", "/events/subscriptions/"+string(id), test.patch)
			if r.Code != test.status {
				t.Fatalf("answered %d: %s", r.Code, r.Body)
			}
			if test.status != 200 {
				for _, f := range readProblem(t, r).Errors {
					if f.Pointer == nil || !slices.Contains(test.places, *f.Pointer) {
						t.Errorf("the faults are at other places than %q: %s", test.places, r.Body)
					}
				}
				return
			}
			if got := w.subscription(t, id).Destination.ConfigNames; !slices.Equal(got, test.headers) {
				t.Errorf("the headers are %q, want %q", got, test.headers)
			}
		})
	}
}
