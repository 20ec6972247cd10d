package ui

import (
	"path"
	"strings"

	"github.com/feedmill/feedmill/client"
)

// tableSnippets are how engines query a feed as an Iceberg table, none if it is not one.
func tableSnippets(base string, t *client.Table) []snippet {
	if t == nil {
		return nil
	}
	catalogue, quoted := base+"/iceberg", `"`+t.Namespace+`".`+t.Name
	location, _, _ := strings.Cut(t.MetadataLocation, "/metadata/")
	folder := path.Base(location)
	clickhouse := "SELECT count() FROM icebergLocal('" + strings.TrimPrefix(location, "file://") + "/');"
	if bucket, ok := strings.CutPrefix(location, "s3://"); ok {
		bucket, key, _ := strings.Cut(bucket, "/")
		clickhouse = "SELECT count() FROM icebergS3('https://" + bucket + ".s3.amazonaws.com/" + key + "/', 'ACCESS_KEY', 'SECRET_KEY');"
	}
	return []snippet{
		{"table-clickhouse", "ClickHouse", clickhouse},
		{"table-trino", "Trino", "-- etc/catalog/feedmill.properties\n-- connector.name=iceberg\n-- iceberg.catalog.type=rest\n-- iceberg.rest-catalog.uri=" + catalogue +
			"\n-- iceberg.rest-catalog.security=OAUTH2\n-- iceberg.rest-catalog.oauth2.token=fm_…\nSELECT count(*) FROM feedmill." + quoted + ";"},
		{"table-spark", "Spark", "-- spark.sql.catalog.feedmill=org.apache.iceberg.spark.SparkCatalog\n-- spark.sql.catalog.feedmill.type=rest\n-- spark.sql.catalog.feedmill.uri=" + catalogue +
			"\n-- spark.sql.catalog.feedmill.token=fm_…\nSELECT count(*) FROM feedmill.`" + t.Namespace + "`." + t.Name + ";"},
		{"table-snowflake", "Snowflake", "CREATE ICEBERG TABLE " + t.Name + "\n  EXTERNAL_VOLUME = 'feedmill' CATALOG = 'object_store'\n  METADATA_FILE_PATH = '" + folder + "/metadata/" + path.Base(t.MetadataLocation) + "';"},
		{"table-duckdb", "DuckDB", "INSTALL iceberg; LOAD iceberg;\nCREATE SECRET feedmill (TYPE iceberg, TOKEN 'fm_…');\nATTACH 'any' AS feedmill (TYPE iceberg, ENDPOINT '" + catalogue + "', SECRET feedmill);\nSELECT count(*) FROM feedmill." + quoted + ";"},
		{"table-pyiceberg", "pyiceberg", "from pyiceberg.catalog import load_catalog\n\ncatalog = load_catalog(\"feedmill\", type=\"rest\", uri=\"" + catalogue + "\", token=\"fm_…\")\nrows = catalog.load_table(\"" + t.Namespace + "." + t.Name + "\").scan().to_arrow()"},
	}
}
