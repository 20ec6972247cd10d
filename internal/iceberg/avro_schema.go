package iceberg

import (
	"fmt"
	"strings"
)

// The schemas of manifests and manifest lists. Readers find fields by their ids.
var (
	manifestSchema     = record("manifest_entry", entryFields...)
	manifestListSchema = record("manifest_file", listFields...)
)

var entryFields = []string{
	required("status", 0, `"int"`),
	optional("snapshot_id", 1, `"long"`),
	optional("sequence_number", 3, `"long"`),
	optional("file_sequence_number", 4, `"long"`),
	required("data_file", 2, record("r2",
		required("content", 134, `"int"`),
		required("file_path", 100, `"string"`),
		required("file_format", 101, `"string"`),
		required("partition", 102, record("r102")),
		required("record_count", 103, `"long"`),
		required("file_size_in_bytes", 104, `"long"`),
		optional("column_sizes", 108, byField(117, 118, "long")),
		optional("value_counts", 109, byField(119, 120, "long")),
		optional("null_value_counts", 110, byField(121, 122, "long")),
		optional("lower_bounds", 125, byField(126, 127, "bytes")),
		optional("upper_bounds", 128, byField(129, 130, "bytes")),
		optional("split_offsets", 132, `{"type":"array","items":"long","element-id":133}`),
		optional("sort_order_id", 140, `"int"`),
	)),
}

var listFields = []string{
	required("manifest_path", 500, `"string"`),
	required("manifest_length", 501, `"long"`),
	required("partition_spec_id", 502, `"int"`),
	required("content", 517, `"int"`),
	required("sequence_number", 515, `"long"`),
	required("min_sequence_number", 516, `"long"`),
	required("added_snapshot_id", 503, `"long"`),
	required("added_files_count", 504, `"int"`),
	required("existing_files_count", 505, `"int"`),
	required("deleted_files_count", 506, `"int"`),
	required("added_rows_count", 512, `"long"`),
	required("existing_rows_count", 513, `"long"`),
	required("deleted_rows_count", 514, `"long"`),
	optional("partitions", 507, `{"type":"array","element-id":508,"items":`+record("r508",
		required("contains_null", 509, `"boolean"`),
		optional("contains_nan", 518, `"boolean"`),
		optional("lower_bound", 510, `"bytes"`),
		optional("upper_bound", 511, `"bytes"`),
	)+`}`),
}

func record(name string, fields ...string) string {
	return fmt.Sprintf(`{"type":"record","name":%q,"fields":[%s]}`, name, strings.Join(fields, ","))
}

func required(name string, id int, kind string) string {
	return fmt.Sprintf(`{"name":%q,"type":%s,"field-id":%d}`, name, kind, id)
}

func optional(name string, id int, kind string) string {
	return fmt.Sprintf(`{"name":%q,"type":["null",%s],"default":null,"field-id":%d}`, name, kind, id)
}

// byField is a map by field id. Avro's own maps have texts as keys.
func byField(key, value int, kind string) string {
	return fmt.Sprintf(`{"type":"array","logicalType":"map","items":%s}`, record(fmt.Sprintf("k%d_v%d", key, value),
		required("key", key, `"int"`), required("value", value, `"`+kind+`"`)))
}
