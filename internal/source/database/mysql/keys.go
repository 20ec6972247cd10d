package mysql

import (
	"context"
	"database/sql/driver"

	"github.com/feedmill/feedmill/internal/source/database"
)

const selectKeys = `SELECT CONSTRAINT_NAME, COLUMN_NAME, COALESCE(REFERENCED_TABLE_SCHEMA, ''), COALESCE(REFERENCED_TABLE_NAME, ''), COALESCE(REFERENCED_COLUMN_NAME, ''), COALESCE(REFERENCED_TABLE_SCHEMA = DATABASE(), FALSE)
FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND (CONSTRAINT_NAME = 'PRIMARY' OR REFERENCED_TABLE_NAME IS NOT NULL)
ORDER BY CONSTRAINT_NAME, ORDINAL_POSITION`

// Keys returns the primary and foreign keys of a table.
func (s *server) Keys(ctx context.Context, schema, name string) (keys database.Keys, err error) {
	last := ""
	err = s.read(ctx, name, func(c *session) error {
		return c.each(ctx, selectKeys, []string{schema, name}, func(row []driver.Value) error {
			constraint, field := text(row[0]), text(row[1])
			if text(row[3]) == "" {
				keys.Primary = append(keys.Primary, field)
				return nil
			}
			if constraint != last {
				isDefault, _ := integer(row[5])
				keys.Foreign = append(keys.Foreign, database.ForeignKey{View: database.ViewName(text(row[2]), text(row[3]), isDefault == 1)})
				last = constraint
			}
			k := &keys.Foreign[len(keys.Foreign)-1]
			k.Fields, k.References = append(k.Fields, field), append(k.References, text(row[4]))
			return nil
		})
	})
	return keys, err
}

const selectFieldNames = `SELECT TABLE_SCHEMA, TABLE_NAME, COALESCE(TABLE_SCHEMA = DATABASE(), FALSE), COLUMN_NAME FROM information_schema.COLUMNS
WHERE TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys') ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION`

// FieldNames lists the columns of all tables and views.
func (s *server) FieldNames(ctx context.Context) (map[string][]string, error) {
	names := make(map[string][]string)
	var held database.Inventory
	err := s.read(ctx, "", func(c *session) error {
		return c.each(ctx, selectFieldNames, nil, func(row []driver.Value) error {
			isDefault, _ := integer(row[2])
			view := database.ViewName(text(row[0]), text(row[1]), isDefault == 1)
			names[view] = append(names[view], text(row[3]))
			return held.Add(text(row[3]))
		})
	})
	return names, err
}
