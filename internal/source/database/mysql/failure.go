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
		return database.Fail(database.ProblemUnreachable, fmt.Sprintf("The connection to %s failed or was lost: %s.", s.where(), reason(err)), err)
	}
	return database.Fail(problem(refused.Number), s.detail(refused, view), err)
}

// reason is the innermost error.
func reason(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
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
	case 1317, 1969, 3024:
		return database.ProblemTimeout
	case 1040, 1049, 1053, 1077, 1129, 1130, 1203, 1226, 1927, 4031:
		return database.ProblemUnreachable
	}
	return database.ProblemStatement
}

func (s *server) detail(e *driver.MySQLError, view string) string {
	said := fmt.Sprintf("It said: %s (error %d).", e.Message, e.Number)
	switch problem(e.Number) {
	case database.ProblemCredential:
		return fmt.Sprintf("The server at %s refused the user %q. %s", s.address, s.user, said)
	case database.ProblemPermission:
		return fmt.Sprintf("The user %q may not read %q. %s", s.user, view, said)
	case database.ProblemView:
		return fmt.Sprintf("There is no view %q in %s any more. %s", view, s.where(), said)
	case database.ProblemField:
		return fmt.Sprintf("The view %q is not what it was when it was described. %s", view, said)
	case database.ProblemTimeout:
		return fmt.Sprintf("A query on %q took longer than %s, which is the most. Ask for fewer rows, or for an index of what is filtered by.", view, s.timeout)
	case database.ProblemUnreachable:
		return fmt.Sprintf("The connection to %s ended or was refused. %s", s.where(), said)
	}
	return fmt.Sprintf("The server could not answer a query on %q. %s", view, said)
}
