package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/database"
)

// failure says what an error of the driver means. The view is empty where it is
// none's.
func (s *server) failure(ctx context.Context, err error, view string) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*feedmill.SourceFailure](err); ok {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, errTooMuch) {
		return database.TooMuchThere(err)
	}
	if _, ok := errors.AsType[*pgproto3.ExceededMaxBodyLenErr](err); ok && view != "" {
		return database.Fail(database.ProblemStatement, fmt.Sprintf("A row of %q is larger than %d MiB, the maximum. Leave out the large field.", view, maxMessage>>20), err)
	}
	refused, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
			return database.Fail(database.ProblemUnreachable, fmt.Sprintf("Connecting to %s failed: %s.", s.Where(), s.Said(database.Innermost(err)))+database.TLSAdvice(err), err)
		}
		return database.Fail(database.ProblemUnreachable, fmt.Sprintf("The connection to %s was lost: %s.", s.Where(), s.Said(database.Innermost(err))), err)
	}
	detail := fmt.Sprintf("The server returned: %s (SQLSTATE %s).", s.Said(refused.Message), refused.Code)
	means := problem(refused.Code)
	if means == database.ProblemTimeout && strings.Contains(refused.Message, "user request") {
		means = database.ProblemStatement // another session canceled it
	}
	return s.Refused(means, view, detail, err)
}

// problem is what a code of the server means.
func problem(code string) string {
	switch code {
	case "42501":
		return database.ProblemPermission
	case "42P01", "3F000":
		return database.ProblemView
	case "42703", "42883", "42804", "42846", "22P02", "XX000":
		return database.ProblemField
	case "57014":
		return database.ProblemTimeout
	case "57P01", "57P02", "57P03", "53300", "3D000":
		return database.ProblemUnreachable
	}
	switch code[:min(2, len(code))] {
	case "28":
		return database.ProblemCredential
	case "08":
		return database.ProblemUnreachable
	}
	return database.ProblemStatement
}
