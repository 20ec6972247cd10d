package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// document is an object that a configuration file defines.
type document struct {
	file string
	line int
	kind feedmill.DefinitionKind
	// name is the handle, label what people call the object, and id the object to adopt.
	name, label, id string
	// definition has references in place of secrets; secrets are their values by JSON Pointer.
	definition strictjson.Value
	secrets    map[string]string
	// upload is the file of an upload feed, empty if there is none.
	upload string
}

func (d *document) where() string  { return fmt.Sprintf("%s:%d", d.file, d.line) }
func (d *document) String() string { return string(d.kind) + " " + d.name }

func (d *document) errorf(line int32, format string, args ...any) error {
	if line == 0 {
		line = int32(d.line)
	}
	return fmt.Errorf("%s:%d: %s", d.file, line, fmt.Sprintf(format, args...))
}

// maxDocumentFile is the maximum size of a configuration file.
const maxDocumentFile = 64 << 20

// readDocuments reads the configuration files at the paths. Of a folder it reads the YAML files,
// also those in folders below it. All errors are returned together, each with file and line.
func readDocuments(paths []string) ([]*document, error) {
	var all []*document
	var errs []error
	seen := make(map[string]*document)
	for _, path := range paths {
		files, err := documentFiles(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			found, err := readDocumentFile(file)
			errs = append(errs, err)
			for _, d := range found {
				if first := seen[d.String()]; first != nil {
					errs = append(errs, d.errorf(0, "%s is defined twice; the first definition is at %s", d, first.where()))
				}
				seen[d.String()] = d
			}
			all = append(all, found...)
		}
	}
	return all, errors.Join(errs...)
}

func documentFiles(path string) (files []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(file)) {
			files = append(files, file)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s has no YAML files", path)
	}
	return files, err
}

func readDocumentFile(file string) (all []*document, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxDocumentFile {
		return nil, fmt.Errorf("%s has %d bytes; the maximum is %d", file, info.Size(), maxDocumentFile)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var errs []error
	values, _ := strictjson.ReadYAMLDocuments(text, func(pointer, detail string) bool {
		errs = append(errs, fmt.Errorf("%s:%d: %s", file, max(strictjson.FaultLine(detail), 1), strings.TrimSpace(pointer+" "+detail)))
		return true
	})
	for _, v := range values {
		d := &document{file: file, line: int(v.Line)}
		if err := d.read(v); err != nil {
			errs = append(errs, err)
		} else {
			all = append(all, d)
		}
	}
	return all, errors.Join(errs...)
}

// recordMembers are the members of records of the API that are not part of a definition. They
// are ignored, so that a record can be copied into a file.
var recordMembers = map[feedmill.DefinitionKind][]string{
	feedmill.DefinedConnection: {"createdAt", "updatedAt", "warnings"},
	feedmill.DefinedSQLView:    {"connectionId", "createdAt", "updatedAt"},
	feedmill.DefinedFeed: {
		"state", "stale", "rowCount", "byteSize", "version", "contentHash", "nextRefreshAt", "lastRefresh", "lastSuccessAt", "failures", "pausedReason",
		"recentRefreshes", "lastError", "warnings", "sourceLabel", "table", "rules", "createdAt", "updatedAt", "reading",
	},
	feedmill.DefinedSubscription: {"disabledReason", "pausedReason", "confirmBy", "alertId", "createdAt", "updatedAt", "overlapUntil", "lastSuccessAt", "disablingAt", "breaker", "health"},
}

// read reads a document of a file.
func (d *document) read(v strictjson.Value) error {
	if v.Kind != '{' {
		return d.errorf(v.Line, "a document must be an object with kind and name")
	}
	take := func(name string) (string, error) {
		m := v.Member(name)
		if m == nil || m.Kind == 'n' {
			return "", nil
		}
		if m.Kind != '"' {
			return "", d.errorf(m.Line, "%s must be a string", name)
		}
		text := m.Text()
		v.Remove(name)
		return text, nil
	}
	var kind string
	for name, into := range map[string]*string{"kind": &kind, "name": &d.name, "label": &d.label, "id": &d.id} {
		var err error
		if *into, err = take(name); err != nil {
			return err
		}
	}
	d.kind = feedmill.DefinitionKind(kind)
	if !slices.Contains(feedmill.DefinitionKinds, d.kind) {
		return d.errorf(0, "kind must be Connection, SQLView, Feed or Subscription; got %q", kind)
	}
	if wrong := feedmill.WrongHandle(d.name); wrong != "" {
		return d.errorf(0, "name %s; got %q. Write what people call it as label", wrong, d.name)
	}
	if d.id != "" && feedmill.DefinitionKindOf(d.id) != d.kind {
		return d.errorf(0, "id must be the id of a %s; got %q", d.kind, d.id)
	}
	if d.label == "" {
		d.label = d.name
	}
	for _, name := range append(recordMembers[d.kind], "set") {
		v.Remove(name)
	}
	if d.kind == feedmill.DefinedFeed {
		if err := d.readFeed(&v); err != nil {
			return err
		}
	}
	if d.kind == feedmill.DefinedConnection {
		if m := v.Member("serviceName"); m == nil {
			v.Set("serviceName", strictjson.String(d.label))
		} else if m.Kind == '"' {
			d.label = m.Text()
		}
	}
	if headers := v.At("/delivery/headers"); d.kind == feedmill.DefinedSubscription && headers != nil {
		for i := range headers.Members { // as the server spells them
			headers.Members[i].Name = http.CanonicalHeaderKey(headers.Members[i].Name)
		}
	}
	d.secrets = make(map[string]string)
	if err := d.resolve(&v, ""); err != nil {
		return err
	}
	d.definition = v
	return d.check()
}

// readFeed reads what is special about a feed: the file of an upload, and a record of the API,
// whose source has the definition.
func (d *document) readFeed(v *strictjson.Value) error {
	if source := v.Member("source"); source != nil && source.Kind == '{' {
		v.Remove("columns") // of a record they describe the data
		members := source.Members
		v.Remove("source")
		for _, m := range members {
			if m.Name != "reading" && m.Name != "file" {
				v.Set(m.Name, m.Value)
			}
		}
	}
	if file := v.Member("file"); file != nil {
		if file.Kind != '"' {
			return d.errorf(file.Line, "file must be the path of a file")
		}
		d.upload = filepath.Join(filepath.Dir(d.file), file.Text())
		if filepath.IsAbs(file.Text()) {
			d.upload = file.Text()
		}
		v.Remove("file")
	}
	if v.Member("type") == nil {
		queries := v.Member("query") != nil || v.Member("viewName") != nil
		for _, kind := range feedmill.FeedKinds {
			if kind.Type.HasSource() == (d.upload == "") && kind.Connected == queries {
				v.Set("type", strictjson.String(string(kind.Type)))
			}
		}
	}
	if d.upload != "" && textOf(v.Member("type")) != string(feedmill.FeedUpload) {
		return d.errorf(0, "file is only for feeds of type dataUpload")
	}
	return nil
}

// check finds what the server would only report in the middle of an apply.
func (d *document) check() error {
	switch d.kind {
	case feedmill.DefinedConnection:
		connector, _ := feedmill.FindConnector(textOf(d.definition.Member("connector")))
		for _, s := range connector.Settings {
			if m := d.definition.At("/config/" + strictjson.EscapePointer(s.Name)); s.Secret && m != nil && m.Kind == '"' && d.secretAt("/config/"+s.Name) == "" && m.Text() != feedmill.Hidden {
				return d.errorf(m.Line, "%s is a secret; write a reference: {env: NAME}, {file: path} or {keep: true}", s.Name)
			}
		}
	case feedmill.DefinedSQLView:
		for _, name := range []string{"serviceName", "sql"} {
			if textOf(d.definition.Member(name)) == "" {
				return d.errorf(0, "%s must be a string that is not empty", name)
			}
		}
	case feedmill.DefinedSubscription:
		sources, others := 0, 0
		events := d.definition.Member("events")
		if events == nil || events.Kind != '[' {
			return d.errorf(0, "events must be an array of event types")
		}
		for i := range events.Items {
			if strings.HasPrefix(textOf(&events.Items[i]), "datafeed.source.") {
				sources++
			} else {
				others++
			}
		}
		if sources > 0 && others > 0 {
			return d.errorf(events.Line, "events of datafeed.source.* cannot be combined with others; write two subscriptions")
		}
	}
	return nil
}

// textOf is the text of a string, empty for any other value.
func textOf(v *strictjson.Value) string {
	if v == nil || v.Kind != '"' {
		return ""
	}
	return v.Text()
}
