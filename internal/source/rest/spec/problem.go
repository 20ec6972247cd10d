package spec

import (
	"errors"
	"fmt"

	"github.com/feedmill/feedmill"
)

// ErrAuth is matched by the error of a fetch whose credential was refused. To
// try again is of no use until it is changed.
var ErrAuth = errors.New("the credential was refused")

// Titles are the titles of problems, by their types.
var Titles = map[string]string{
	"source-auth":        "The source refused the credential",
	"source-status":      "The source returned an error",
	"source-unreachable": "The source could not be reached",
	"source-timeout":     "The source took too long",
	"source-truncated":   "The response of the source was interrupted",
	"source-busy":        "The source requests a long wait",
	"source-error":       "The source reported an error",
	"forbidden-address":  "The address is not allowed",
	"redirect":           "The source redirects in an unsupported way",
	"wrong-content-type": "The response has the wrong content type",
	"pagination-loop":    "The pages repeat themselves",
	"too-many-pages":     "There are too many pages",
	"data-too-large":     "There is too much data",
	"pagination":         "The next page cannot be found",
	"token":              "No token was received",
	"data":               "The data cannot be modelled",
	"zip-entry":          "The file in the archive was not found",
	"each":               "The rows of each cannot be used",
	"job":                "The job of the source returned no result",
	"column":             "A value does not fit its column",
	"all-ignored":        "Every response was ignored",
	"possible-error":     "The response looks like an error",
	"deleted":            "A deletion cannot be read",
	"no-cursor":          "No record has the cursor",
	"missing-path":       "The records are not where the path says",
	"definition":         "The definition is no longer valid",
}

// Fail makes a failure of a type.
func Fail(problem string, cause error, format string, args ...any) *feedmill.SourceFailure {
	return &feedmill.SourceFailure{
		Type: problem, Title: Titles[problem], Detail: fmt.Sprintf(format, args...), AuthRequired: errors.Is(cause, ErrAuth), Cause: cause,
	}
}

// DefinitionFailure is why a definition that was taken once cannot be read by the rules of today:
// a failure that its user can mend, and none of the service.
func DefinitionFailure(err error) error {
	refusal, ok := errors.AsType[*feedmill.Error](err)
	if !ok || len(refusal.Faults) == 0 {
		return err
	}
	first := refusal.Faults[0]
	return Fail("definition", err, "The definition of the feed was accepted by an earlier release and is no longer valid. Change it. %s: %s", first.Pointer, first.Detail)
}

// Shorten cuts a text that is shown.
func Shorten(text string) string {
	const most = 200
	runes := []rune(text)
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
