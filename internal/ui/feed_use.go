package ui

import (
	"net/http"
	"strings"

	"github.com/feedmill/feedmill/client"
)

// feedUse says how programs read a feed.
type feedUse struct {
	Head     feedHead
	Snippets []snippet
	// Heard are the subscriptions that are told of the feed.
	Heard []client.Subscription
}

// snippet is a piece of code in one language.
type snippet struct{ ID, Name, Text string }

func showFeedUse(v *visit) error {
	head, err := headOf(v, "use")
	if err != nil {
		return err
	}
	base := baseOf(v.r)
	data := base + "/data_feeds/" + head.ID + "/data"
	use := feedUse{Head: head, Snippets: []snippet{
		{"use-curl", "curl", "curl \"" + data + "?format=csv\" \\\n  -H \"Authorization: Bearer $FEEDMILL_API_KEY\""},
		{"use-cli", "feedmill", "feedmill feeds export " + head.ID + " -o data.parquet"},
		{"use-python", "Python", "import io, os, pandas, requests\n\nanswer = requests.get(\n    \"" + data + "?format=parquet\",\n    headers={\"Authorization\": \"Bearer \" + os.environ[\"FEEDMILL_API_KEY\"]})\nanswer.raise_for_status()\nrows = pandas.read_parquet(io.BytesIO(answer.content))"},
		{"use-duckdb", "DuckDB", "CREATE SECRET feedmill (TYPE http, BEARER_TOKEN 'fm_…', SCOPE '" + base + "');\nSELECT * FROM read_csv('" + data + "?format=csv');"},
		{"use-js", "JavaScript", "const answer = await fetch(\"" + data + "\", {\n  headers: { Authorization: `Bearer ${process.env.FEEDMILL_API_KEY}` },\n});\nconst rows = await answer.json();"},
		{"use-excel", "Power Query", "let\n  Answer = Web.Contents(\"" + data + "\", [Query = [format = \"csv\"], Headers = [Authorization = \"Bearer fm_…\"]]),\n  Rows = Table.PromoteHeaders(Csv.Document(Answer, [Encoding = 65001]))\nin\n  Rows"},
	}}
	for s, err := range v.api.Subscriptions(v.r.Context()) {
		if err != nil {
			return err
		}
		if hears(s, head.ID) {
			use.Heard = append(use.Heard, s)
		}
	}
	return v.render(http.StatusOK, "feed_use", head.Name, use)
}

// baseOf is where the visitor has found the server.
func baseOf(r *http.Request) string {
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// hears reports whether a subscription is told of what happens to a feed.
func hears(s client.Subscription, feed string) bool {
	if s.Filters.ResourceID != "" && s.Filters.ResourceID != feed {
		return false
	}
	for _, e := range s.Events {
		if strings.HasPrefix(e, "datafeed.source.") {
			return true
		}
	}
	return false
}
