package database

import (
	"errors"
	"fmt"
	"time"
)

// Server is how a database server and what is asked of it are named in failures,
// without a secret.
type Server struct {
	// Product begins a sentence: PostgreSQL.
	Product string
	Address string
	User    string
	Name    string // of the database
	// Password is masked in what the server says.
	Password string
	// Timeout is the most that a statement may take.
	Timeout time.Duration
}

// Where says which database it is.
func (s Server) Where() string { return fmt.Sprintf("the database %q at %s", s.Name, s.Address) }

// Refused is the failure of a statement on a view that the server refused, in its
// own words.
func (s Server) Refused(problem, view, said string, cause error) error {
	detail := fmt.Sprintf("%s refused a query on %q. %s", s.Product, view, said)
	switch problem {
	case ProblemCredential:
		detail = fmt.Sprintf("%s at %s refused the user %q. %s", s.Product, s.Address, s.User, said)
	case ProblemPermission:
		detail = fmt.Sprintf("The user %q cannot read %q. %s", s.User, view, said)
	case ProblemView:
		detail = fmt.Sprintf("The view %q no longer exists in %s. %s", view, s.Where(), said)
	case ProblemField:
		detail = fmt.Sprintf("The view %q changed after it was described. Retry. %s", view, said)
	case ProblemTimeout:
		return TookTooLong(view, s.Timeout, cause)
	case ProblemUnreachable:
		detail = fmt.Sprintf("The connection to %s ended or was refused. %s", s.Where(), said)
	}
	return Fail(problem, detail, cause)
}

// TookTooLong is the failure of a statement on a view that took longer than it may.
func TookTooLong(view string, timeout time.Duration, cause error) error {
	return Fail(ProblemTimeout, fmt.Sprintf("A query on %q took longer than %s, the maximum. Select fewer rows, or add an index for the filters.", view, timeout), cause)
}

// Innermost is the text of the innermost error, which says what happened and no
// secret. Of several tries it is that of the last.
func Innermost(err error) string {
	for {
		inner := errors.Unwrap(err)
		if tries, ok := err.(interface{ Unwrap() []error }); ok {
			if all := tries.Unwrap(); len(all) > 0 {
				inner = all[len(all)-1]
			}
		}
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}
