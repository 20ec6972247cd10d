package mysql

import (
	"context"
	"errors"
	"fmt"

	driver "github.com/go-sql-driver/mysql"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/database"
)

// handed wraps what the receiver of rows failed with, which is no failure of the
// database.
type handed struct{ error }

func (h handed) Unwrap() error { return h.error }

// failure says what an error of the driver means.
func (s *server) failure(ctx context.Context, err error, view string) error {
	if err == nil {
		return nil
	}
	if h, ok := errors.AsType[handed](err); ok {
		return h.error
	}
	if _, ok := errors.AsType[*feedmill.SourceFailure](err); ok {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	refused, ok := errors.AsType[*driver.MySQLError](err)
	if !ok {
		return database.Fail(database.ProblemUnreachable, fmt.Sprintf("The connection to %s failed or was lost: %s.", s.Where(), s.Said(database.Innermost(err)))+database.TLSAdvice(err), err)
	}
	detail := fmt.Sprintf("The server returned: %s (error %d).", s.Said(refused.Message), refused.Number)
	return s.Refused(problem(refused.Number), view, detail, err)
}

// problem is what a number of the server means.
func problem(number uint16) string {
	switch number {
	case 1044, 1045, 1698, 1862, 3118, 4151:
		return database.ProblemCredential
	case 1142, 1143, 1227, 1370:
		return database.ProblemPermission
	case 1146:
		return database.ProblemView
	case 1054, 1356:
		return database.ProblemField
	case 1969, 3024:
		return database.ProblemTimeout
	case 1040, 1049, 1053, 1077, 1129, 1130, 1203, 1226, 1927, 4031:
		return database.ProblemUnreachable
	}
	return database.ProblemStatement
}
