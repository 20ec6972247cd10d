package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/feedmill/feedmill"
)

// readFile reads a configuration file in YAML: a mapping of settings.
func (c *Config) readFile(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	var doc, more yaml.Node
	documents := yaml.NewDecoder(bytes.NewReader(text))
	err = documents.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil // an empty file
	}
	if err == nil {
		if err = documents.Decode(&more); err == nil {
			return fmt.Errorf("%s:%d: a second YAML document starts here; put all settings into one document", file, more.Line)
		}
	}
	if !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: the file is not valid YAML; write one 'name: value' per line", file)
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return fmt.Errorf("%s:%d: the file must have one 'name: value' per line", file, root.Line)
	}
	var errs []error
	seen := make(map[string]bool)
	for i := 0; i < len(root.Content); i += 2 {
		key, node := root.Content[i], root.Content[i+1]
		at := fmt.Sprintf("%s:%d", file, key.Line)
		n := slices.IndexFunc(Settings, func(s Setting) bool { return s.Name == key.Value })
		switch {
		case n < 0:
			errs = append(errs, fmt.Errorf("%s: %s is not a setting%s", at, key.Value, didYouMean(key.Value, func(s Setting) string { return s.Name })))
			continue
		case seen[key.Value]:
			errs = append(errs, fmt.Errorf("%s: %s is set twice", at, key.Value))
		}
		seen[key.Value] = true
		if types, ok := Settings[n].field(c).(*[]feedmill.EventType); ok && node.Kind == yaml.SequenceNode {
			c.origin[key.Value] = at
			errs = append(errs, readEventTypes(file, node, types))
			continue
		}
		if brand, ok := Settings[n].field(c).(*feedmill.PortalBrand); ok && node.Kind == yaml.MappingNode {
			c.origin[key.Value] = at
			errs = append(errs, readPortalNode(at, node, brand))
			continue
		}
		value, err := scalarText(node, Settings[n])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", at, key.Value, err))
			continue
		}
		errs = append(errs, Settings[n].set(c, value, at))
	}
	return errors.Join(errs...)
}

func scalarText(node *yaml.Node, s Setting) (string, error) {
	list := false
	switch s.field(&Config{}).(type) {
	case *[]string, *[]time.Duration, *[]feedmill.EventType:
		list = true
	}
	switch {
	case node.Kind == yaml.ScalarNode && node.Tag != "!!null":
		return node.Value, nil
	case node.Kind == yaml.SequenceNode && list:
		items := make([]string, len(node.Content))
		for i, item := range node.Content {
			if item.Kind != yaml.ScalarNode || strings.Contains(item.Value, ",") {
				return "", errors.New("every item must be a string")
			}
			items[i] = item.Value
		}
		return strings.Join(items, ","), nil
	case list:
		return "", errors.New("must be a list of strings")
	}
	return "", errors.New("must be a single value")
}

// readEventTypes reads event types of the operator's own: a name, or a mapping
// of name, description and schema.
func readEventTypes(file string, list *yaml.Node, into *[]feedmill.EventType) error {
	*into = nil
	for _, node := range list.Content {
		var t struct {
			Name        string         `yaml:"name"`
			Description string         `yaml:"description"`
			Schema      map[string]any `yaml:"schema"`
		}
		at := fmt.Sprintf("%s:%d: eventTypes", file, node.Line)
		if node.Kind == yaml.ScalarNode {
			t.Name = node.Value
		} else {
			text, err := yaml.Marshal(node)
			if err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
			strict := yaml.NewDecoder(bytes.NewReader(text))
			strict.KnownFields(true)
			if err := strict.Decode(&t); err != nil {
				return fmt.Errorf("%s: each type must be a name, or a mapping with name, description and schema", at)
			}
		}
		own := feedmill.EventType{Name: t.Name, Description: t.Description}
		if t.Schema != nil {
			schema, err := json.Marshal(t.Schema)
			if err != nil {
				return fmt.Errorf("%s: the schema of %s is not valid JSON: %w", at, t.Name, err)
			}
			own.Schema = schema
		}
		*into = append(*into, own)
	}
	return nil
}
