package manual

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// argument is a value of a call, written as JSON.
type argument struct{ in, name, value string }

// ids are examples of path parameters, by the segment before them.
var ids = map[string]string{
	"data_feeds": "df_…", "connections": "con_…", "subscriptions": "sub_…", "deliveries": "dlv_…", "keys": "key_…", "workspaces": "ws_…", "events": "evt_…",
	"refreshes": "rfr_…", "replays": "rpl_…", "links": "lnk_…", "portal_links": "ptl_…", "problems": "not-found", "services": "warehouse", "views": "sales.orders",
}

var idInPath = regexp.MustCompile(`(\w+)/\{(\w+)\}`)

// arguments are the required parameters of an operation.
func (d *document) arguments(at string, o described) (all []argument) {
	for _, m := range idInPath.FindAllStringSubmatch(at, -1) {
		value := fmt.Sprintf("%q", cmp.Or(ids[m[1]], "…"))
		if m[2] == "version" {
			value = "3"
		}
		all = append(all, argument{"path", m[2], value})
	}
	for _, p := range o.Parameters {
		if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
			p = d.Components.Parameters[name]
		}
		if p.In == "query" && p.Required {
			var b bytes.Buffer
			d.value(&b, p.Schema, 0)
			all = append(all, argument{"query", p.Name, b.String()})
		}
	}
	return all
}

// responseKind is none, list for pages, raw for rows and streams, and data for anything else.
func (d *document) responseKind(o described) string {
	for _, p := range o.Parameters {
		if strings.HasPrefix(o.OperationID, "list") && (p.Name == "cursor" || strings.HasSuffix(p.Ref, "/cursor")) {
			return "list"
		}
	}
	for _, status := range []string{"200", "201", "202"} {
		if a, ok := o.Responses[status]; ok {
			content := d.resolve(a).Content
			_, isJSON := content["application/json"]
			if _, isRows := content["text/csv"]; isRows || !isJSON {
				return "raw"
			}
			return "data"
		}
	}
	return "none"
}

// typeScript is a call of an operation with the TypeScript SDK.
func (d *document) typeScript(at string, o described) string {
	if code := readSamples()[o.OperationID].TypeScript; code != "" {
		return code
	}
	parts := make(map[string][]string)
	for _, a := range d.arguments(at, o) {
		parts[a.in] = append(parts[a.in], a.name+": "+a.value)
	}
	var all []string
	for _, in := range []string{"path", "query"} {
		if parts[in] != nil {
			all = append(all, in+": { "+strings.Join(parts[in], ", ")+" }")
		}
	}
	if m, ok := o.RequestBody.Content["application/json"]; ok {
		all = append(all, "body: "+d.example(m))
	}
	call := "client." + o.OperationID + "()"
	if all != nil {
		call = "client." + o.OperationID + "({ " + strings.Join(all, ", ") + " })"
	}
	switch d.responseKind(o) {
	case "list":
		return "for await (const item of " + call + ") {\n  console.log(item);\n}"
	case "none":
		return "await " + call + ";"
	case "raw":
		return "const response = await " + call + ";"
	}
	return "const result = await " + call + ";"
}

// python is a call of an operation with the Python SDK.
func (d *document) python(at string, o described) string {
	if code := readSamples()[o.OperationID].Python; code != "" {
		return code
	}
	var path, query []string
	for _, a := range d.arguments(at, o) {
		if a.in == "path" {
			path = append(path, pythonValue(a.value))
		} else {
			query = append(query, snakeCase(a.name)+"="+pythonValue(a.value))
		}
	}
	if m, ok := o.RequestBody.Content["application/json"]; ok {
		path = append(path, pythonValue(d.example(m)))
	}
	call := "client." + snakeCase(o.OperationID) + "(" + strings.Join(append(path, query...), ", ") + ")"
	switch d.responseKind(o) {
	case "list":
		return "for item in " + call + ":\n    print(item)"
	case "none":
		return call
	case "raw":
		return "with " + call + " as response:\n    print(response.read())"
	}
	return "result = " + call
}

var wordEnd, acronymEnd = regexp.MustCompile(`([a-z0-9])([A-Z])`), regexp.MustCompile(`([A-Z])([A-Z][a-z])`)

func snakeCase(name string) string {
	return strings.ToLower(acronymEnd.ReplaceAllString(wordEnd.ReplaceAllString(name, "${1}_$2"), "${1}_$2"))
}

var stringOrLiteral = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b`)

// pythonValue is JSON as a literal of Python.
func pythonValue(text string) string {
	if !json.Valid([]byte(text)) {
		panic("not JSON: " + text) // the document is part of the program
	}
	return stringOrLiteral.ReplaceAllStringFunc(text, func(token string) string {
		switch token {
		case "true":
			return "True"
		case "false":
			return "False"
		case "null":
			return "None"
		}
		return token
	})
}
