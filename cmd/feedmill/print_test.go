package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func TestTable(t *testing.T) {
	for _, test := range []struct {
		name   string
		colour bool
		want   string
	}{
		{"plain", false, "ID  STATE\nä   retrying   -\nb   delivered  x\\ny\n"},
		{"coloured", true, "\x1b[1mID\x1b[0m  \x1b[1mSTATE\x1b[0m\nä   \x1b[33mretrying\x1b[0m   -\nb   \x1b[32mdelivered\x1b[0m  x\\ny\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b strings.Builder
			p := &printer{out: &b, colour: test.colour}
			rows := table{header: []string{"ID", "STATE"}}
			rows.add(text("ä"), state("retrying"), orDash(""))
			rows.add(text("b"), state("delivered"), text("x\ny"))
			if err := p.table(rows); err != nil {
				t.Fatal(err)
			}
			if got := b.String(); got != test.want {
				t.Errorf("the table is\n%q, want\n%q", got, test.want)
			}
		})
	}
}

func TestStatementSaysWhatRunsWhere(t *testing.T) {
	for here, want := range map[bool]string{
		false: "SELECT 1\n-- 1: \"a\"\n-- status not eq: runs in the source\n\n",
		true:  "SELECT 1\n-- 1: \"a\"\n-- status not eq: runs in the source\n-- groups: run in Feedmill, on the returned rows\n\n",
	} {
		var b strings.Builder
		p := &printer{out: &b}
		p.statement(client.QueryPreview{
			SQL: "SELECT 1", Parameters: []string{"a"}, GroupedHere: here,
			Filters: []client.RanFilter{{Field: "status", Op: "eq", Inverted: true, RanIn: feedmill.RanInSource}},
		})
		if got := b.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestNothingThatATerminalObeys(t *testing.T) {
	const text = "ä\x1b]0;title\a\r\n\tb\u202e\u009b"
	if got, want := plain(text), `ä\x1b]0;title\a\r\n\tb\u202e\u009b`; got != want {
		t.Errorf("plain text is %q, want %q", got, want)
	}
	if got, want := plainLines(text), "ä\\x1b]0;title\\a\\r\n\tb\\u202e\\u009b"; got != want {
		t.Errorf("plain lines are %q, want %q", got, want)
	}
}

func TestTimeFlag(t *testing.T) {
	for text, want := range map[string]time.Time{
		"2026-11-15T12:00:00Z":      time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC),
		"2026-11-15T12:00:00+01:00": time.Date(2026, 11, 15, 11, 0, 0, 0, time.UTC),
		"2026-11-15":                time.Date(2026, 11, 15, 0, 0, 0, 0, time.Local),
		"2026-11-15 12:30:00":       time.Date(2026, 11, 15, 12, 30, 0, 0, time.Local),
	} {
		var v timeValue
		if err := v.Set(text); err != nil || !time.Time(v).Equal(want) {
			t.Errorf("%s is %v (%v), want %v", text, time.Time(v), err, want)
		}
	}
	var v timeValue
	before := time.Now()
	if err := v.Set("24h"); err != nil || time.Time(v).Before(before.Add(-24*time.Hour)) || time.Time(v).After(time.Now().Add(-24*time.Hour)) {
		t.Errorf("24h ago is %v (%v)", time.Time(v), err)
	}
	for _, text := range []string{"", "soon", "2026-11", "15.11.2026", "-1h"} {
		if err := v.Set(text); err == nil {
			t.Errorf("%q is a time", text)
		}
	}
}

func TestRateFlag(t *testing.T) {
	for text, want := range map[string]string{"10": "10/1s", "100/1m": "100/1m", "5/90s": "5/90s", "none": "none"} {
		var v rateValue
		if err := v.Set(text); err != nil || rateText(v.RateLimit) != want {
			t.Errorf("%s is %s (%v), want %s", text, rateText(v.RateLimit), err, want)
		}
	}
	for _, text := range []string{"", "fast", "10/", "10/soon", "/1m", "1.5"} {
		if err := new(rateValue).Set(text); err == nil {
			t.Errorf("%q is a rate limit", text)
		}
	}
}

func TestBatchFlag(t *testing.T) {
	for text, want := range map[string]string{"10": "10", "100/1m": "100/1m", "5/0s": "5/0s", "none": ""} {
		var v batchValue
		if err := v.Set(text); err != nil || batchText(v.Batch) != want {
			t.Errorf("%s is %s (%v), want %s", text, batchText(v.Batch), err, want)
		}
	}
	for _, text := range []string{"", "many", "10/", "10/soon", "/1m", "1.5"} {
		if err := new(batchValue).Set(text); err == nil {
			t.Errorf("%q is a batch", text)
		}
	}
}

func TestExitCodes(t *testing.T) {
	document := []byte(`{}`)
	for _, test := range []struct {
		err  error
		want int
	}{
		{nil, exitDone},
		{errors.New("anything"), exitFailed},
		{usagef("wrong"), exitUsage},
		{fmt.Errorf("wrapped: %w", usagef("wrong")), exitUsage},
		{fmt.Errorf("%w: log in", errNoCredential), exitDenied},
		{&client.Problem{Status: 400, Document: document}, exitFailed},
		{&client.Problem{Status: 401, Document: document}, exitDenied},
		{&client.Problem{Status: 403, Document: document}, exitDenied},
		{&fileError{err: &client.Problem{Status: 404, Document: document}}, exitNotFound},
		{&client.Problem{Status: 409, Document: document}, exitFailed},
		{&client.Problem{Status: 503, Document: document}, exitFailed},
		{&client.Problem{Status: 404}, exitFailed}, // not of this service
	} {
		if got := exitCode(test.err); got != test.want {
			t.Errorf("%v ends with %d, want %d", test.err, got, test.want)
		}
	}
}

func TestReport(t *testing.T) {
	problem := &client.Problem{
		Title: "Wrong", Status: 500, Detail: "Mend \x1b[31mit.", RequestID: "r1",
		Errors: []client.Fault{{Detail: "All of it."}, {Parameter: "since", Detail: "No."}},
	}
	for _, test := range []struct {
		name   string
		err    error
		asJSON bool
		want   string
	}{
		{"words", problem, false, "feedmill: Wrong (500): Mend \\x1b[31mit.\n  the body: All of it.\n  since:    No.\n  request ID: r1\n"},
		{"a document", &client.Problem{Document: []byte(`{"line":7}`)}, true, "{\n  \"line\": 7\n}\n"},
		{"no document", &client.Problem{Title: "Bad Gateway", Status: 502}, true, "{\n  \"type\": \"\",\n  \"title\": \"Bad Gateway\",\n  \"status\": 502,\n  \"detail\": \"\",\n  \"instance\": \"\"\n}\n"},
		{"no problem", errors.New("no such file"), true, "feedmill: no such file\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b strings.Builder
			report(&b, test.err, test.asJSON)
			if got := b.String(); got != test.want {
				t.Errorf("it says\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestNothingInJSONThatATerminalObeys(t *testing.T) {
	var b strings.Builder
	var text string
	if err := json.Unmarshal([]byte(`"ä \u009b \u202e \u007f \udb40\udc01 \"quoted\" <b>"`), &text); err != nil {
		t.Fatal(err)
	}
	if err := printJSON(&b, map[string]string{"a": text}); err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"a\": \"ä \\u009b \\u202e \\u007f \\udb40\\udc01 \\\"quoted\\\" <b>\"\n}\n"
	if b.String() != want {
		t.Errorf("printed %q, want %q", b.String(), want)
	}
	var back map[string]string
	if err := json.Unmarshal([]byte(b.String()), &back); err != nil || back["a"] != text {
		t.Errorf("it reads as %q, %v", back["a"], err)
	}
}

func TestTextsArePlainUnlessPainted(t *testing.T) {
	var b strings.Builder
	p := &printer{out: &b, colour: true}
	p.printf("%s %s %d\n", "evil\x1b[2J\u202e\u0085", p.coloured(cell{text: "x\x1b", tone: good}), 7)
	if got, want := b.String(), "evil\\x1b[2J\\u202e\\u0085 \x1b[32mx\\x1b\x1b[0m 7\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}
