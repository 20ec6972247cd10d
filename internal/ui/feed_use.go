package ui

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill/client"
)

// feedUse says how programs read a feed.
type feedUse struct {
	Head     feedHead
	Snippets []snippet
	// Tables are how engines query the feed as an Iceberg table, none if it is not one.
	Tables []snippet
	// Heard are the subscriptions that are told of the feed.
	Heard []client.Subscription
	// Links are the first of those that read the feed without a key.
	Links []client.Link
	// Format and Version are what the snippets ask for, Version 0 for the newest, and
	// Versions those to choose from.
	Format   string
	Version  int64
	Versions []int64
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
	use := feedUse{Head: head, Format: "csv"}
	if f := v.r.URL.Query().Get("format"); slices.Contains(use.Formats(), f) {
		use.Format = f
	}
	use.Version, _ = strconv.ParseInt(v.r.URL.Query().Get("version"), 10, 64)
	version, flag, record, file := "", "", "", ""
	if use.Version > 0 {
		number := strconv.FormatInt(use.Version, 10)
		version, flag, record = "&version="+number, " --version "+number, `, version = "`+number+`"`
	}
	if slices.Contains([]string{"xlsx", "parquet", "arrow"}, use.Format) { // no text for a terminal
		file = " \\\n  -o data." + use.Format
	}
	use.Snippets = []snippet{
		{"use-curl", "curl", "curl \"" + data + "?format=" + use.Format + version + "\" \\\n  -H \"Authorization: Bearer $FEEDMILL_API_KEY\"" + file},
		{"use-cli", "feedmill", "feedmill feeds export " + head.ID + flag + " --server " + base + " -o data." + use.Format},
		{"use-python", "Python", "import io, os, pandas, requests\n\nanswer = requests.get(\n    \"" + data + "?format=parquet" + version + "\",\n    headers={\"Authorization\": \"Bearer \" + os.environ[\"FEEDMILL_API_KEY\"]})\nanswer.raise_for_status()\nrows = pandas.read_parquet(io.BytesIO(answer.content))"},
		{"use-duckdb", "DuckDB", "CREATE SECRET feedmill (TYPE http, BEARER_TOKEN 'fm_…', SCOPE '" + base + "');\nSELECT * FROM read_csv('" + data + "?format=csv" + version + "');"},
		{"use-js", "JavaScript", "const answer = await fetch(\"" + data + "?format=ndjson" + version + "\", {\n  headers: { Authorization: `Bearer ${process.env.FEEDMILL_API_KEY}` },\n});\nif (!answer.ok) throw new Error(await answer.text());\nconst rows = (await answer.text()).split(\"\\n\").filter(Boolean).map((line) => JSON.parse(line));"},
		{"use-excel", "Power Query", "let\n  Answer = Web.Contents(\"" + data + "\", [Query = [format = \"csv\"" + record + "], Headers = [Authorization = \"Bearer fm_…\"]]),\n  Rows = Table.PromoteHeaders(Csv.Document(Answer, [Encoding = 65001]))\nin\n  Rows"},
	}
	use.Tables = tableSnippets(base, head.Table)
	if err := use.offer(v); err != nil {
		return err
	}
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

// Formats are those that the snippets can ask for.
func (feedUse) Formats() []string {
	return []string{"csv", "json", "ndjson", "xlsx", "parquet", "arrow"}
}

// offered is how many versions and links the page names.
const offered = 10

// offer reads the newest versions and links of the feed.
func (u *feedUse) offer(v *visit) error {
	for version, err := range v.api.FeedVersions(v.r.Context(), u.Head.ID) {
		if err != nil {
			return err
		}
		if u.Versions = append(u.Versions, version.Version); len(u.Versions) == offered {
			break
		}
	}
	if u.Version > 0 && !slices.Contains(u.Versions, u.Version) {
		u.Versions = append(u.Versions, u.Version)
	}
	for link, err := range v.api.Links(v.r.Context(), u.Head.ID) {
		if err != nil {
			return err
		}
		if u.Links = append(u.Links, link); len(u.Links) == offered {
			break
		}
	}
	return nil
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
