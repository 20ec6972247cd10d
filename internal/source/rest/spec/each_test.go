package spec

import (
	"slices"
	"testing"

	"github.com/feedmill/feedmill"
)

func TestEachIsRefused(t *testing.T) {
	for body, pointer := range map[string]string{
		`{"request":{"url":"https://a.test/{{x.a}}"}}`:                                                                                                                 "/request/url",
		`{"request":{"url":"https://a.test/"},"each":{"in":{"values":[1]},"as":"x"}}`:                                                                                  "/each/as",
		`{"request":{"url":"https://a.test/"},"each":{"in":{"values":[1]},"as":"x","include":["x"]}}`:                                                                  "/each/as",
		`{"request":{"url":"https://a.test/{{cursor}}"},"incremental":{"step":"1d","start":"soon"}}`:                                                                   "/incremental/start",
		`{"request":{"url":"https://a.test/{{now}}"},"each":{"in":{"values":[1]},"as":"now"}}`:                                                                         "/each/as",
		`{"request":{"url":"https://a.test/{{x}}"},"each":{"in":{"values":[1],"feedId":"df_01jb3zv8k5f7q9w2x4y6z8a0bc"},"as":"x"}}`:                                    "/each/in/feedId",
		`{"request":{"url":"https://a.test/{{x}}"},"each":{"as":"x"}}`:                                                                                                 "/each/in",
		`{"request":{"url":"https://a.test/{{to}}"}}`:                                                                                                                  "/request/url",
		`{"request":{"url":"https://a.test/"},"pagination":{"kind":"page"},"job":{"id":"$.id","state":"$.s","done":["d"],"poll":{"url":"https://a.test/{{job.id}}"}}}`: "/pagination/kind",
		`{"request":{"url":"https://a.test/{{job.id}}"}}`:                                                                                                              "/request/url",
	} {
		_, err := Parse([]byte(body), 0)
		refusal, ok := err.(*feedmill.Error)
		if !ok || !slices.ContainsFunc(refusal.Faults, func(f feedmill.Fault) bool { return f.Pointer == pointer }) {
			t.Errorf("%s: %v", body, err)
		}
	}
}
