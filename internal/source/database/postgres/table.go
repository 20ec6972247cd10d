package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	dialect "github.com/feedmill/feedmill/internal/query/postgres"
	"github.com/feedmill/feedmill/internal/source/database"
)

// table is a view as it was described.
type table struct {
	*server
	database.Described[dialect.Table, *dialect.Table]
}

// Join returns the view with another joined to it.
func (t *table) Join(first, as string, other database.Table) database.Table {
	joined := *t
	joined.Described = t.JoinWith(first, as, &other.(*table).Described)
	return &joined
}

const selectRelation = `
SELECT c.oid, n.nspname, c.relname, current_setting('server_version_num')::int4 >= 140000, current_setting('server_encoding') = 'UTF8'
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname = CASE WHEN $1 = '' THEN current_schema() ELSE $1 END AND c.relname = $2
      AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_t%'
      AND has_schema_privilege(n.oid, 'USAGE')`

// selectColumns finds the type that is below all domains of a column.
const selectColumns = `
WITH RECURSIVE below AS (
  SELECT attnum AS of, atttypid AS type, atttypmod AS modifier, false AS domain FROM pg_catalog.pg_attribute
  WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped AND has_column_privilege(attrelid, attnum, 'SELECT')
  UNION ALL
  SELECT below.of, d.typbasetype, CASE WHEN below.modifier = -1 THEN d.typtypmod ELSE below.modifier END, true
  FROM below JOIN pg_catalog.pg_type d ON d.oid = below.type AND d.typtype = 'd')
SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, t.oid, t.typname::text, t.typtype::text, t.typcategory::text,
       b.modifier, b.domain, coalesce(col_description(a.attrelid, a.attnum), ''), coalesce(NOT l.collisdeterministic, false),
       EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = a.attrelid AND i.indkey[0] = a.attnum AND i.indisvalid AND i.indpred IS NULL),
       ARRAY(SELECT e.enumlabel::text FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid ORDER BY e.enumsortorder), a.attcollation
FROM pg_catalog.pg_attribute a JOIN below b ON b.of = a.attnum JOIN pg_catalog.pg_type t ON t.oid = b.type AND t.typtype <> 'd'
     LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
WHERE a.attrelid = $1
ORDER BY a.attnum`

// describe asks for the columns. There are none where there is no such view.
func (t *table) describe(ctx context.Context, conn *pgx.Conn) error {
	schema, name, ok := database.ParseViewName(t.View)
	if !ok {
		return nil
	}
	var relation uint32
	err := conn.QueryRow(ctx, selectRelation, schema, name).Scan(&relation, &t.SQL.Schema, &t.SQL.Name, &t.SQL.Infinity, &t.SQL.UTF8)
	if err == pgx.ErrNoRows {
		return nil
	}
	if err != nil {
		return t.failure(ctx, err, t.View)
	}
	rows, err := conn.Query(ctx, selectColumns, relation)
	if err != nil {
		return t.failure(ctx, err, t.View)
	}
	for rows.Next() {
		var c native
		err := rows.Scan(&c.name, &c.shown, &c.notNull, &c.oid, &c.typeName, &c.kind, &c.category, &c.modifier, &c.domain, &c.comment, &c.loose, &c.indexed, &c.labels, &c.collation)
		if err != nil {
			rows.Close()
			return t.failure(ctx, err, t.View)
		}
		t.add(c)
	}
	if err := rows.Err(); err != nil {
		return t.failure(ctx, err, t.View)
	}
	if len(t.Found) == 0 {
		return database.Fail(database.ProblemPermission, fmt.Sprintf("The user %q cannot read any column of %q.", t.User, t.View), nil)
	}
	t.SetPushdown()
	return nil
}

// native is a column as the catalogue has it, with the type below its domains.
type native struct {
	name, shown    string
	notNull        bool
	oid            uint32
	typeName       string
	kind, category string
	modifier       int32
	comment        string
	domain         bool
	loose, indexed bool
	labels         []string
	collation      uint32
}

// add adds a column of the type that stands for its own.
//
//	bool                                        boolean
//	int2, int4, int8, oid                       integer
//	float4, by its shortest decimal, and float8 number
//	numeric(p, s)                               decimal
//	numeric without bounds, or with more than 38 digits
//	                                            open decimal; see [query.OpenDecimals]
//	date                                        date
//	timestamp, taken for UTC, and timestamptz   timestamp
//	json, jsonb, arrays, composite types        json
//	bytea                                       text in base64
//	everything else                             text, as PostgreSQL writes it
func (t *table) add(c native) {
	f := database.Field{Native: c.shown, Label: database.FirstLine(c.comment)}
	f.Name, f.SourceName, f.Description, f.Nullable = c.name, c.name, t.Said(c.comment), !c.notNull
	kind := dialect.Cast
	f.Type = columnar.TypeText
	switch c.oid {
	case pgtype.TextOID, pgtype.VarcharOID:
		kind = dialect.Text
	case pgtype.ByteaOID:
		kind, f.Format = dialect.Bytes, "base64"
	case pgtype.BoolOID:
		kind, f.Type = dialect.Boolean, columnar.TypeBoolean
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.OIDOID:
		kind, f.Type, f.Identifier = dialect.Integer, columnar.TypeInteger, c.oid == pgtype.OIDOID
	case pgtype.Float4OID, pgtype.Float8OID:
		kind, f.Type = dialect.Float, columnar.TypeNumber
		if c.oid == pgtype.Float4OID && t.Rules >= feedmill.RulesCurrent {
			kind = dialect.Real
		}
	case pgtype.NumericOID:
		kind, f.Type = dialect.Numeric, columnar.TypeDecimal
		f.Precision, f.Scale = numericDigits(c.modifier)
	case pgtype.DateOID:
		kind, f.Type = dialect.Date, columnar.TypeDate
	case pgtype.TimestampOID:
		kind, f.Type = dialect.Timestamp, columnar.TypeTimestamp
	case pgtype.TimestamptzOID:
		kind, f.Type, f.Zoned = dialect.TimestampTZ, columnar.TypeTimestamp, true
	case pgtype.JSONOID, pgtype.JSONBOID:
		kind, f.Type = dialect.JSON, columnar.TypeJSON
	default:
		if c.category == "A" || c.kind == "c" {
			kind, f.Type = dialect.ToJSON, columnar.TypeJSON
		}
	}
	t.Found = append(t.Found, f)
	column := dialect.Column{Name: c.name, Kind: kind, Loose: c.loose, Collation: c.collation, OID: f.Identifier, Indexed: c.indexed}
	if kind == dialect.Cast {
		column.Equal, column.Labels = c.equality(), c.labels
	}
	t.SQL.Columns = append(t.SQL.Columns, column)
}

// equality is how an index finds the values of a type that is read as text.
func (c *native) equality() dialect.Equality {
	switch {
	case c.oid == pgtype.UUIDOID:
		return dialect.EqualUUID
	case c.oid == pgtype.BPCharOID:
		return dialect.EqualPadded
	case c.domain: // a parameter has no type that it could be inferred from
		return dialect.EqualText
	case c.kind == "e":
		return dialect.EqualEnum
	case c.typeName == "citext" && c.category == "S":
		return dialect.EqualAnyCase
	}
	return dialect.EqualText
}

// numericDigits reads the modifier of a numeric. Without bounds that a column can
// have too, both are 0.
func numericDigits(modifier int32) (precision, scale int) {
	if modifier < 4 {
		return 0, 0
	}
	precision = int((modifier-4)>>16) & 0xffff
	scale = int((modifier-4)&0x7ff^1024) - 1024 // eleven bits with a sign
	if precision > columnar.WideDigits || scale < 0 || scale > precision {
		return 0, 0
	}
	return precision, scale
}
