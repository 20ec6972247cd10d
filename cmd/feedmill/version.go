package main

import (
	"runtime"

	"github.com/spf13/cobra"
)

// build describes the program.
type build struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func newVersion() *cobra.Command {
	cmd := &cobra.Command{Use: "version", Short: "Print the version of this program", Args: cobra.NoArgs}
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		b := build{version, runtime.Version(), runtime.GOOS, runtime.GOARCH}
		if *asJSON {
			return printJSON(cmd.OutOrStdout(), b)
		}
		p := printer{out: cmd.OutOrStdout()}
		return p.printf("feedmill version %s (%s, %s/%s)\n", b.Version, b.Go, b.OS, b.Arch)
	}
	return cmd
}
