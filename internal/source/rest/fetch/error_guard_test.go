package fetch

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/feedmill/feedmill"
)

// A fetch without records whose response reports an error fails where there are rows to lose,
// and warns where there are none.
func TestPossibleErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		var answers []string
		l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
			next := answers[0]
			if len(answers) > 1 {
				answers = answers[1:]
			}
			if status, text, ok := strings.Cut(next, " "); ok && status == "404" {
				w.WriteHeader(404)
				next = text
			}
			respond(w, next)
		})
		counted := `,"pagination":{"kind":"page"}`
		cursor := `,"pagination":{"kind":"cursor","path":"$.next","param":"after"}`
		for _, test := range []struct{ definition, answers, sign string }{
			{"", `{"success":false,"data":[],"message":"over quota"}`, "success: false"},
			{"", `{"ok":false,"rows":[]}`, "ok: false"},
			{"", `{"status":"error","rows":[]}`, "status: error"},
			{"", `{"status":"ERROR","rows":[]}`, "status: ERROR"},
			{"", `{"error":{"code":7},"rows":[]}`, "error"},
			{"", `{"errors":["no"],"rows":[]}`, "errors"},
			{cursor, `{"rows":[],"next":"a"}|{"rows":[],"error":"late"}`, "error"},
			// Not an error.
			{"", `{"success":true,"data":[],"errors":[],"error":null}`, ""},
			{"", `{"success":"false","ok":0,"status":"ok","data":[]}`, ""},
			{"", `{"message":"nothing new","data":[]}`, ""},
			{"", `[]`, ""},
			{"", `{"success":false,"data":[{"id":1}]}`, ""},
			{"", `{"data":[],"meta":{"success":false}}`, ""},
			{counted, `[{"id":1}]|{"error":"no such page"}`, ""},
			{cursor, `{"rows":[],"error":"x","next":"a"}|{"rows":[{"id":1}]}`, ""},
			{`,"errors":[{"bodyPath":"$.warning","action":"ignore"}]`, `{"success":false,"data":[]}`, ""},
			{`,"errors":[{"status":[404],"action":"ignore"}]`, `{"success":false,"data":[]}`, ""},
			{`,"rules":1`, `{"success":false,"data":[]}`, ""},
		} {
			for _, had := range []bool{true, false} {
				answers = strings.Split(test.answers, "|")
				job := l.job(`{"request":{"url":"https://api.test/rows"}` + test.definition + `}`)
				job.Notes, job.HadRows = new(Notes), had
				_, err := l.fetcher.Fetch(t.Context(), job, &pages{each: 1})
				warned := ""
				for _, w := range job.Notes.Warnings() {
					if w.Code == feedmill.WarnPossibleError {
						warned = w.Detail
					}
				}
				switch fails := had && test.sign != ""; {
				case fails && (FailureOf(err) != "possible-error" || !strings.Contains(err.Error(), test.sign) || err.(*feedmill.SourceFailure).Said == nil):
					t.Errorf("%s %s: %v", test.definition, test.answers, err)
				case !fails && err != nil, !had && (test.sign == "") != (warned == "") || !had && !strings.Contains(warned, test.sign):
					t.Errorf("%s %s: %v, %q", test.definition, test.answers, err, warned)
				}
			}
		}
	})
}

// A first response that is an object and reports an error does not become a row.
func TestFirstResponseIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		answer := ""
		l.serve("api.test", func(w http.ResponseWriter, _ *http.Request) { respond(w, answer) })
		for _, test := range []struct {
			answer, definition string
			noPath, fails      bool
		}{
			{`{"ok":false,"id":"invalid_auth"}`, "", true, true},
			{`{"success":false,"id":1}`, "", true, true},
			{`{"success":false,"id":1}`, `,"errors":[{"status":[404],"action":"ignore"}]`, true, true},
			{`{"success":false,"id":1}`, "", false, false},
			{`{"success":false,"id":1}`, `,"rules":1`, true, false},
			{`{"success":true,"ok":"false","id":1}`, "", true, false},
			{`[{"success":false,"id":1}]`, "", true, false},
		} {
			answer = test.answer
			job := l.job(`{"request":{"url":"https://api.test/rows"}` + test.definition + `}`)
			job.NoPath = test.noPath
			_, err := l.fetcher.Fetch(t.Context(), job, &pages{each: 1})
			if (FailureOf(err) == "possible-error") != test.fails || !test.fails && err != nil {
				t.Errorf("%s: %v", test.answer, err)
			}
		}
	})
}
