package ui

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill/client"
)

func TestTableSnippets(t *testing.T) {
	if got := tableSnippets("http://x", nil); got != nil {
		t.Errorf("a feed that is not a table has %v", got)
	}
	for location, clickhouse := range map[string]string{
		"s3://bucket/a/b/df_1":    "icebergS3('https://bucket.s3.amazonaws.com/a/b/df_1/'",
		"file:///data/files/df_1": "icebergLocal('/data/files/df_1/')",
	} {
		snippets := tableSnippets("https://feeds.example", &client.Table{Namespace: "ws_1", Name: "orders", Version: 1, MetadataLocation: location + "/metadata/00001-x.metadata.json"})
		if len(snippets) != 6 || !strings.Contains(snippets[0].Text, clickhouse) {
			t.Errorf("%+v", snippets)
		}
		for _, s := range snippets[1:] {
			if !strings.Contains(s.Text, "https://feeds.example/iceberg") && !strings.Contains(s.Text, "df_1/metadata/00001-x.metadata.json") || !strings.Contains(s.Text, "orders") {
				t.Errorf("%s: %s", s.Name, s.Text)
			}
		}
	}
}
