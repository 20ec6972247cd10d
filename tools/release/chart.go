package main

import (
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"time"
)

var (
	chartVersion = regexp.MustCompile(`(?m)^version: .*$`)
	appVersion   = regexp.MustCompile(`(?m)^appVersion: .*$`)
)

// writeChart packs the chart as helm package does, with the version of the release.
func writeChart(version string, at time.Time, dist, folder string) error {
	out, err := os.Create(filepath.Join(dist, "feedmill-chart-"+version+".tgz"))
	if err != nil {
		return err
	}
	defer out.Close()
	z, _ := gzip.NewWriterLevel(out, gzip.BestCompression)
	w := newArchive(z, at)
	tree := os.DirFS(folder)
	// WalkDir visits the files in the order of their names.
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		if name == "Chart.yaml" {
			if !chartVersion.Match(text) || !appVersion.Match(text) {
				return fmt.Errorf("%s has no version and appVersion", name)
			}
			text = chartVersion.ReplaceAll(text, []byte("version: "+version))
			text = appVersion.ReplaceAll(text, fmt.Appendf(nil, "appVersion: %q", version))
		}
		return w.file(path.Join("feedmill", name), 0o644, text)
	})
	if err != nil {
		return err
	}
	for _, close := range []func() error{w.Close, z.Close, out.Close} {
		if err := close(); err != nil {
			return err
		}
	}
	return nil
}
