// Package openapi holds the API's OpenAPI 3.1 document, written by hand: one
// YAML file for each group of paths and one for what they share. The webhooks
// are built from the catalogue of event types.
package openapi

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed *.yaml
var files embed.FS

// document is the whole document. It never changes.
var document = sync.OnceValue(func() map[string]any {
	doc, err := merge(files)
	if err == nil {
		err = addWebhooks(doc)
	}
	if err != nil {
		panic(err) // the files are part of the program
	}
	return doc
})

// JSON is the whole document.
var JSON = sync.OnceValue(func() []byte {
	text, err := json.Marshal(document())
	if err != nil {
		panic(err)
	}
	return text
})

// merge puts the files together: base.yaml is the frame, and every other file
// adds its paths and its components. A name may stand in one file only.
func merge(fsys fs.FS) (map[string]any, error) {
	doc, err := read(fsys, "base.yaml")
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(fsys, "*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if name == "base.yaml" {
			continue
		}
		part, err := read(fsys, name)
		if err != nil {
			return nil, err
		}
		if err := add(doc, part, "paths"); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		components, _ := part["components"].(map[string]any)
		for kind := range components {
			if err := add(doc["components"].(map[string]any), components, kind); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return doc, nil
}

func read(fsys fs.FS, name string) (doc map[string]any, err error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return doc, nil
}

func add(doc, part map[string]any, key string) error {
	more, _ := part[key].(map[string]any)
	into, _ := doc[key].(map[string]any)
	if into == nil {
		into = make(map[string]any)
		doc[key] = into
	}
	for name := range more {
		if _, ok := into[name]; ok {
			return fmt.Errorf("%s: %s is there already", key, name)
		}
	}
	maps.Copy(into, more)
	return nil
}
