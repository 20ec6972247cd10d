package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
)

// The exit codes, which the help of the program names.
const (
	exitDone     = 0
	exitFailed   = 1 // the command did not do what it was asked to
	exitUsage    = 2 // the command line is wrong
	exitNotFound = 3 // there is no such thing
	exitDenied   = 4 // the credential is missing, wrong, or lacks a scope
	exitChanges  = 2 // a plan has changes
	// exitInterrupted is what shells report for a program that Ctrl-C ended.
	exitInterrupted = 130
)

// errInterrupted is the cause of the end of a command that the user interrupted.
var errInterrupted = errors.New("interrupted")

// usageError is a command line that is wrong.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// refuseAsUsage makes wrong arguments, and flags that exclude each other, errors of usage.
func refuseAsUsage(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err == nil {
				err = cmd.ValidateFlagGroups()
			}
			if err != nil {
				return usageError{err}
			}
			return nil
		}
	}
	for _, sub := range cmd.Commands() {
		refuseAsUsage(sub)
	}
}

func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	if errors.Is(err, errInterrupted) {
		return exitInterrupted
	}
	if errors.Is(err, errChanges) {
		return exitChanges
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	if errors.Is(err, errNoCredential) {
		return exitDenied
	}
	// An answer that is no problem document comes from something else than
	// the service, and what it means is unknown.
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Document != nil {
		switch p.Status {
		case http.StatusNotFound:
			return exitNotFound
		case http.StatusUnauthorized, http.StatusForbidden:
			return exitDenied
		}
	}
	return exitFailed
}

// wantsJSON reports whether errors of the command are printed as JSON.
func wantsJSON(cmd *cobra.Command) bool { return wantedFormat(cmd) == formatJSON }

// documented is an error that has a form for machines.
type documented interface {
	error
	document() any
}

// report tells why a command failed: in words, or, for machines, as the
// problem document where there is one.
func report(w io.Writer, err error, asJSON bool) {
	if asJSON {
		if d, ok := errors.AsType[documented](err); ok {
			printJSON(w, d.document())
			return
		}
		if p, ok := errors.AsType[*client.Problem](err); ok {
			var document any = p
			if p.Document != nil {
				document = json.RawMessage(p.Document)
			}
			printJSON(w, document)
			return
		}
	}
	// Only a problem that is the whole error is laid out; words around it
	// would be lost.
	if p, ok := err.(*client.Problem); ok {
		explain(w, p)
		return
	}
	fmt.Fprintln(w, "feedmill:", plainLines(err.Error()))
}

// explain writes a problem with one line for each fault, the places under each
// other.
func explain(w io.Writer, p *client.Problem) {
	fmt.Fprintf(w, "feedmill: %s (%d): %s\n", plain(p.Title), p.Status, plain(p.Detail))
	width := 0
	for _, f := range p.Errors {
		width = max(width, utf8.RuneCountInString(placeOf(f)))
	}
	for _, f := range p.Errors {
		fmt.Fprintf(w, "  %-*s %s\n", width, placeOf(f), plain(f.Detail))
	}
	if p.CreationURL != "" {
		fmt.Fprintf(w, "  link for the user to open: %s\n", plain(p.CreationURL))
	}
	if p.RequestID != "" {
		fmt.Fprintf(w, "  request ID: %s\n", plain(p.RequestID))
	}
}

func placeOf(f client.Fault) string {
	if f.Where() == "" {
		return "the body:"
	}
	return plain(f.Where()) + ":"
}
