package ui

import (
	"html/template"
	"io/fs"
	"path"
	"strings"
	"sync"
)

// page is a template of one page in the frame.
type page struct {
	*template.Template
	// section is the entry of the rail that the page belongs to.
	section string
}

// sections says which entry of the rail pages belong to that are not called like
// it.
var sections = map[string]string{"feed": "feeds", "upload": "feeds", "start": "feeds", "query": "feeds", "rest": "feeds", "audit": "keys", "workspaces": "operate"}

// hasPage reports whether there are pages of a name.
func hasPage(folder string) bool {
	_, err := fs.Stat(files, folder)
	return err == nil
}

// loadPages reads all pages when the first is asked for.
var loadPages = sync.OnceValue(func() map[string]*page { return parsePages(loadAssets()) })

// parsePages reads the template of every folder that has one of its own name.
func parsePages(a *assets) map[string]*page {
	frame := template.Must(template.New("").Funcs(functions(a)).ParseFS(files, "frame/*.html"))
	pages := make(map[string]*page)
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		name := e.Name()
		if name == "frame" {
			continue
		}
		found, _ := fs.Glob(files, path.Join(name, "*.html"))
		for _, file := range found {
			base := strings.TrimSuffix(path.Base(file), ".html")
			if strings.HasPrefix(base, "_") {
				continue
			}
			t := template.Must(frame.Clone())
			if partials, _ := fs.Glob(files, path.Join(name, "_*.html")); len(partials) > 0 {
				t = template.Must(t.ParseFS(files, partials...))
			}
			section := name
			if s, ok := sections[name]; ok {
				section = s
			}
			pages[base] = &page{template.Must(t.ParseFS(files, file)), section}
		}
	}
	return pages
}
