package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/internal/app"
)

// errDiagnosis is the outcome of checks of which some failed; the checks are printed.
var errDiagnosis = errors.New("some checks failed; follow the steps above")

func newDoctor() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check settings, store, disk, network and workers",
		Long: `Checks everything that "feedmill serve" needs with the same settings: the settings, the
data folder, the store and its vault key, the bucket, the disk, the clock, egress, TLS
and the sandbox of workers. It changes nothing and can run beside a server.
The exit code is 1 if a check fails. Warnings do not fail the command.`,
		Args: cobra.NoArgs,
	}
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	load := settings(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := load()
		if err != nil {
			return err
		}
		p := &printer{out: cmd.OutOrStdout()}
		if f, ok := p.out.(*os.File); ok {
			p.colour = os.Getenv("NO_COLOR") == "" && isTerminal(f)
		}
		var found []app.Finding
		failed := false
		app.Diagnose(cmd.Context(), c, func(f app.Finding) {
			found = append(found, f)
			failed = failed || f.Status == app.Unhealthy
		})
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		if *asJSON {
			err = printJSON(p.out, found)
		} else {
			err = p.findings(found)
		}
		if err == nil && failed {
			err = errDiagnosis
		}
		return err
	}
	return cmd
}

// findings prints the results of checks, with what to do below them.
func (p *printer) findings(found []app.Finding) error {
	t := table{header: []string{"CHECK", "STATUS", "DETAIL"}}
	tones := map[app.Health]tone{app.Healthy: good, app.Doubtful: waiting, app.Unhealthy: bad}
	for _, f := range found {
		t.add(text(f.Check), cell{text: string(f.Status), tone: tones[f.Status]}, text(f.Detail))
		if f.Fix != "" {
			t.add(text(""), text(""), text("-> "+f.Fix))
		}
	}
	return p.table(t)
}
