package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/blob/s3test"
)

// TestTablesInABucket has ClickHouse read a table from a bucket, by its location and through
// the catalogue, in the long form. The short form only writes it.
func TestTablesInABucket(t *testing.T) {
	t.Parallel()
	bucket := s3test.New(t)
	s := start(t, setup{env: []string{"FEEDMILL_BLOB_URL=" + bucket.URL("pre"), "FEEDMILL_BLOB_ACCESS_KEY=" + bucket.AccessKey, "FEEDMILL_BLOB_SECRET_KEY=" + bucket.SecretKey}})
	f := s.upload(t, "&mode=append&name=Orders", "text/csv", "id,total\n1,1.50\n2,\n")
	s.put(t, f.ID, "", "id,total\n3,100.25\n")
	var shown shownTable
	eventually(t, func() bool {
		s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID}).data(t, &shown)
		return shown.Table != nil && shown.Table.Version == 2
	})
	location, _, _ := strings.Cut(shown.Table.MetadataLocation, "/metadata/")
	name, key, _ := strings.Cut(strings.TrimPrefix(location, "s3://"), "/")
	if key != "pre/"+f.ID {
		t.Errorf("the location is %s", location)
	}
	if _, err := os.Stat(filepath.Join(bucket.Folder, strings.TrimPrefix(shown.Table.MetadataLocation, "s3://"+name+"/"))); err != nil {
		t.Error(err)
	}
	if os.Getenv("FEEDMILL_LONG") == "" {
		return
	}
	modules, err := filepath.Abs("../../bin/tools/clickhouse/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	at, err := blob.ParseLocation(bucket.URL("pre"))
	if err != nil {
		t.Fatal(err)
	}
	endpoint := "http://" + at.Endpoint + "/" + name
	command := exec.CommandContext(t.Context(), "node", "testdata/tables_bucket.mjs", modules, endpoint, endpoint+"/"+key, bucket.AccessKey, bucket.SecretKey,
		s.url+"/iceberg/v1", adminKey, shown.Table.Namespace+"."+shown.TableName)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if want := `[["3","101.75"],["3","101.75"]]`; err != nil || string(out) != want {
		t.Errorf("ClickHouse finds %s, %v, want %s", out, err, want)
	}
}
