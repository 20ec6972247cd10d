package feedmill

import (
	"strings"
	"testing"
)

func TestSourceLabel(t *testing.T) {
	for _, test := range []struct {
		of         FeedType
		spec, want string
	}{
		{FeedUpload, `{"format":"csv","file":"a b.csv"}`, "a b.csv"},
		{FeedUpload, `{"format":"xlsx","file":"q3.xlsx","sheet":2}`, "q3.xlsx, sheet 2"},
		{FeedUpload, `{"format":"xlsx","file":"q3.xlsx","sheet":1}`, "q3.xlsx"},
		{FeedUpload, `{"file":"` + strings.Repeat("x", maxLabelBytes) + `"}`, strings.Repeat("x", maxLabelBytes)},
		{FeedREST, `{"request":{"url":"https://?key=secret"}}`, ""},
		{FeedUpload, `{"format":"csv","file":"a\nb.csv"}`, "a b.csv"},
		{FeedUpload, `{"format":"csv"}`, ""},
		{FeedUpload, `{"file":"` + strings.Repeat("é", 200) + `"}`, strings.Repeat("é", 148) + "…"},
		{FeedREST, `{"request":{"url":"https://me:pass@api.test:8443/v1/orders/?key=secret#x"}}`, "api.test:8443/v1/orders"},
		{FeedREST, `{"request":{"url":"https://api.test?key=a/b@c"}}`, "api.test"},
		{FeedREST, `{"request":{"url":"https://api.test/{{repo.name}}/issues"}}`, "api.test/{{repo.name}}/issues"},
		{FeedREST, `{"request":{"url":{"secret":true}}}`, ""},
		{FeedQuery, `{"serviceName":"warehouse","viewName":"sales.orders"}`, "warehouse · sales.orders"},
		{FeedQuery, `nonsense`, ""},
	} {
		f := Feed{Type: test.of, Spec: []byte(test.spec)}
		if got := f.SourceLabel(); got != test.want {
			t.Errorf("%s is %q, want %q", test.spec, got, test.want)
		}
	}
}
