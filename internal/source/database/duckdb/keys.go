package duckdb

import (
	"context"
	"encoding/json"

	dialect "github.com/feedmill/feedmill/internal/query/duckdb"
	"github.com/feedmill/feedmill/internal/source/database"
)

const selectKeys = `SELECT constraint_type, CAST(to_json(constraint_column_names) AS VARCHAR), coalesce(referenced_table, ''), coalesce(CAST(to_json(referenced_column_names) AS VARCHAR), '[]')
FROM duckdb_constraints() WHERE database_name = '` + dialect.Attached + `' AND schema_name = $1 AND table_name = $2 AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY') ORDER BY constraint_index`

// Keys returns the primary and foreign keys of a table. A foreign key leads to a table of the same
// schema.
func (f *file) Keys(ctx context.Context, schema, name string) (keys database.Keys, err error) {
	rows, err := f.texts(ctx, name, selectKeys, 4, schema, name)
	for _, row := range rows {
		var fields, references []string
		if json.Unmarshal([]byte(row[1]), &fields) != nil || json.Unmarshal([]byte(row[3]), &references) != nil {
			continue
		}
		if row[0] == "PRIMARY KEY" {
			keys.Primary = fields
		} else {
			keys.Foreign = append(keys.Foreign, database.ForeignKey{Fields: fields, View: place{schema, row[2]}.shown(), References: references})
		}
	}
	return keys, err
}

// FieldNames lists the columns of all tables and views.
func (f *file) FieldNames(ctx context.Context) (map[string][]string, error) {
	rows, err := f.texts(ctx, "", `SELECT schema_name, table_name, column_name FROM duckdb_columns() WHERE database_name = '`+dialect.Attached+`' AND NOT internal ORDER BY table_oid, column_index`, 3)
	names := make(map[string][]string)
	var held database.Inventory
	for _, row := range rows {
		view := place{row[0], row[1]}.shown()
		names[view] = append(names[view], row[2])
		if err := held.Add(row[2]); err != nil {
			return nil, err
		}
	}
	return names, err
}
