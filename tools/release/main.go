// Command release writes the parts of a release for which there is no common tool: the archive of
// the OCI image and the package of the Helm chart. The same input gives the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	version := flag.String("version", "", "version of the release, such as 0.4.0")
	epoch := flag.Int64("epoch", 0, "time of all files, in seconds since 1970")
	dist := flag.String("dist", "dist", "folder with the programs, and for the results")
	archs := flag.String("archs", "amd64,arm64", "architectures of the image")
	chart := flag.String("chart", "deploy/helm/feedmill", "folder of the Helm chart")
	flag.Parse()
	if err := run(*version, time.Unix(*epoch, 0).UTC(), *dist, *chart, strings.Split(*archs, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(version string, at time.Time, dist, chart string, archs []string) error {
	if version == "" {
		return fmt.Errorf("-version is required")
	}
	if err := writeImage(version, at, dist, archs); err != nil {
		return fmt.Errorf("image: %w", err)
	}
	if err := writeChart(version, at, dist, chart); err != nil {
		return fmt.Errorf("chart: %w", err)
	}
	return nil
}
