package mysql

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	dialect "github.com/feedmill/feedmill/internal/query/mysql"
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

const selectTable = `SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES
WHERE TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')
AND TABLE_SCHEMA = IF(? = '', DATABASE(), ?) AND TABLE_NAME = ?`

const selectColumns = `SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE, COALESCE(NUMERIC_PRECISION, 0), COALESCE(NUMERIC_SCALE, 0), COALESCE(COLUMN_COMMENT, ''),
PRIVILEGES, COLUMN_KEY, COALESCE(CHARACTER_SET_NAME, ''), COALESCE(COLLATION_NAME, '') FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION`

// selectJSON finds the columns that MariaDB calls JSON: texts with a check.
const selectJSON = `SELECT CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = ? AND TABLE_NAME = ?`

// describe asks for the columns. There are none where there is no such view.
func (t *table) describe(ctx context.Context, c *session) error {
	schema, name, ok := database.ParseViewName(t.View)
	if !ok {
		return nil
	}
	err := c.each(ctx, selectTable, []string{schema, schema, name}, func(row []driver.Value) error {
		// The catalogue compares names without their case.
		if text(row[1]) == name && (schema == "" || text(row[0]) == schema) {
			t.SQL.Schema, t.SQL.Name = text(row[0]), text(row[1])
		}
		return nil
	})
	if err != nil || t.SQL.Name == "" {
		return err
	}
	of := []string{t.SQL.Schema, t.SQL.Name}
	json := make(map[string]bool)
	var held database.Inventory
	if c.mariaDB {
		err := c.each(ctx, selectJSON, of, func(row []driver.Value) error {
			json[text(row[0])] = true
			return held.Add(text(row[0]))
		})
		if err != nil {
			return err
		}
	}
	err = c.each(ctx, selectColumns, of, func(row []driver.Value) error {
		n := native{name: text(row[0]), kind: strings.ToLower(text(row[1])), full: strings.ToLower(text(row[2])), comment: text(row[6])}
		n.nullable = text(row[3]) == "YES"
		n.precision, _ = integer(row[4])
		n.scale, _ = integer(row[5])
		n.indexed, n.charset, n.collation = text(row[8]) != "", text(row[9]), text(row[10])
		n.json = json["json_valid("+dialect.Quote(n.name)+")"]
		if strings.Contains(strings.ToLower(text(row[7])), "select") {
			t.add(n)
		}
		return held.Add(n.name, n.full, n.comment)
	})
	if err == nil && len(t.Found) == 0 {
		return database.Fail(database.ProblemPermission, fmt.Sprintf("The user %q cannot read any column of %q, or it is a view that the user cannot read.", t.User, t.View), nil)
	}
	t.SetPushdown()
	return err
}

// native is a column as the catalogue has it.
type native struct {
	name, kind, full, comment string
	nullable, json, indexed   bool
	charset, collation        string
	precision, scale          int64
}

// add adds a column of the type that stands for its own. It is a table:
//
//	tinyint(1), bit(1)                         boolean: all but 0 is true
//	integers, year, bits up to 63              integer
//	bigint unsigned, bit(64)                   decimal(20, 0)
//	decimal(p, s)                              decimal
//	decimal of more than 38 digits             decimal where the values have no more, else number
//	float, by its shortest decimal, and double number
//	date                                       date
//	datetime, taken for UTC, and timestamp     timestamp
//	json                                       json
//	binary, varbinary, blobs                   text in base64
//	everything else                            text, as MySQL writes it
func (t *table) add(n native) {
	f := database.Field{Native: n.full, Label: database.FirstLine(n.comment)}
	f.Name, f.SourceName, f.Description, f.Nullable = n.name, n.name, t.Said(n.comment), n.nullable
	unsigned := strings.Contains(n.full, "unsigned")
	kind := dialect.Cast
	f.Type = columnar.TypeText
	switch n.kind {
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set":
		kind = dialect.Text
		if n.json {
			kind, f.Type = dialect.JSON, columnar.TypeJSON
		}
	case "json":
		kind, f.Type = dialect.JSON, columnar.TypeJSON
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		kind, f.Format = dialect.Bytes, "base64"
	case "tinyint", "smallint", "mediumint", "int", "bigint", "year":
		kind, f.Type = dialect.Integer, columnar.TypeInteger
		switch {
		case n.full == "tinyint(1)":
			kind, f.Type = dialect.Boolean, columnar.TypeBoolean
		case n.kind == "bigint" && unsigned:
			kind, f.Type, f.Precision = dialect.Decimal, columnar.TypeDecimal, 20
		}
	case "bit":
		kind, f.Type = dialect.Bits, columnar.TypeInteger
		switch n.precision {
		case 1:
			kind, f.Type = dialect.Boolean, columnar.TypeBoolean
		case 64:
			f.Type, f.Precision = columnar.TypeDecimal, 20
		}
	case "float", "double":
		kind, f.Type = dialect.Float, columnar.TypeNumber
		if n.kind == "float" && t.Rules >= feedmill.RulesCurrent {
			kind = dialect.Real
		}
	case "decimal":
		kind, f.Type = dialect.Decimal, columnar.TypeDecimal
		f.Precision, f.Scale = int(n.precision), int(n.scale)
		if f.Precision > columnar.WideDigits {
			kind, f.Precision = dialect.LongDecimal, 0
		}
	case "date":
		kind, f.Type = dialect.Date, columnar.TypeDate
	case "datetime", "timestamp":
		kind, f.Type, f.Zoned = dialect.Datetime, columnar.TypeTimestamp, n.kind == "timestamp"
	case "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "geomcollection":
		kind = dialect.Geometry
	}
	t.Found = append(t.Found, f)
	column := dialect.Column{Name: n.name, Kind: kind, Indexed: n.indexed}
	if kind == dialect.Text && n.kind != "enum" && n.kind != "set" {
		column.Charset, column.Collation = n.charset, n.collation
	}
	t.SQL.Columns = append(t.SQL.Columns, column)
}
