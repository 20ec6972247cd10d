package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill/internal/source/database"
)

const selectKeys = `
SELECT c.contype::text, coalesce(n.nspname, ''), coalesce(r.relname, ''), n.nspname IS NOT DISTINCT FROM current_schema(),
       ARRAY(SELECT a.attname::text FROM unnest(c.conkey) WITH ORDINALITY k (n, nr) JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.n ORDER BY k.nr),
       ARRAY(SELECT a.attname::text FROM unnest(c.confkey) WITH ORDINALITY k (n, nr) JOIN pg_catalog.pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = k.n ORDER BY k.nr)
FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_class t ON t.oid = c.conrelid JOIN pg_catalog.pg_namespace s ON s.oid = t.relnamespace
     LEFT JOIN pg_catalog.pg_class r ON r.oid = c.confrelid LEFT JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace
WHERE s.nspname = $1 AND t.relname = $2 AND c.contype IN ('p', 'f')
ORDER BY c.contype DESC, c.conname COLLATE "C"`

// Keys returns the primary and foreign keys of a table.
func (s *server) Keys(ctx context.Context, schema, name string) (keys database.Keys, err error) {
	err = s.read(ctx, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, selectKeys, schema, name)
		if err != nil {
			return s.failure(ctx, err, name)
		}
		defer rows.Close()
		for rows.Next() {
			var kind, schema, view string
			var isDefault bool
			var fields, references []string
			if err := rows.Scan(&kind, &schema, &view, &isDefault, &fields, &references); err != nil {
				return s.failure(ctx, err, name)
			}
			if kind == "p" {
				keys.Primary = fields
			} else {
				keys.Foreign = append(keys.Foreign, database.ForeignKey{Fields: fields, View: database.ViewName(schema, view, isDefault), References: references})
			}
		}
		return s.failure(ctx, rows.Err(), name)
	})
	return keys, err
}

const selectFieldNames = `
SELECT n.nspname, c.relname, n.nspname IS NOT DISTINCT FROM current_schema(), a.attname
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND NOT c.relispartition AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_t%'
      AND a.attnum > 0 AND NOT a.attisdropped AND has_schema_privilege(n.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT')
ORDER BY c.oid, a.attnum`

// FieldNames lists the columns of all tables and views.
func (s *server) FieldNames(ctx context.Context) (map[string][]string, error) {
	names := make(map[string][]string)
	var held database.Inventory
	err := s.read(ctx, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, selectFieldNames)
		if err != nil {
			return s.failure(ctx, err, "")
		}
		defer rows.Close()
		for rows.Next() {
			var schema, name, field string
			var isDefault bool
			if err := rows.Scan(&schema, &name, &isDefault, &field); err != nil {
				return s.failure(ctx, err, "")
			}
			view := database.ViewName(schema, name, isDefault)
			names[view] = append(names[view], field)
			if err := held.Add(field); err != nil {
				return err
			}
		}
		return s.failure(ctx, rows.Err(), "")
	})
	return names, err
}
