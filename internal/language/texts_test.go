package language

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A text is something that a person reads, with its place.
type text struct {
	file string
	line int
	body string
	kind kind
}

// kind is what a text is for; some rules apply to some kinds only.
type kind int

const (
	prose   kind = iota // whole sentences: documentation, descriptions
	message             // strings of the program: errors, warnings, log lines, help
	heading             // headings of documents and pages
)

// root is the folder of the repository.
const root = "../.."

// readTexts returns every text of the repository that people read.
func readTexts(t *testing.T) []text {
	t.Helper()
	var texts []text
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if entry.IsDir() {
			switch {
			case name != "." && strings.HasPrefix(entry.Name(), "."), entry.Name() == "testdata", entry.Name() == "node_modules", strings.HasSuffix(entry.Name(), "test"), name == "bench", name == "bin":
				return filepath.SkipDir
			}
			return nil
		}
		var read func(file string, data []byte) ([]text, error)
		switch {
		case strings.HasSuffix(name, "_test.go"), name == "CHANGELOG.md":
			return nil
		case strings.HasSuffix(name, ".go"):
			read = goTexts
		case strings.HasSuffix(name, ".md"):
			read = markdownTexts
		case strings.HasSuffix(name, ".html"):
			read = htmlTexts
		case strings.HasPrefix(name, "internal/api/openapi/") && strings.HasSuffix(name, ".yaml"):
			read = yamlTexts
		default:
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found, err := read(name, data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		texts = append(texts, found...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

var (
	statement = regexp.MustCompile(`(?i)^\s*(select|insert|update|delete|with|create|alter|drop|pragma|copy|from|where|and|or|order by|group by|on|set|join|left join|union|values|begin|returning|limit|case|exists|not exists)\b.*([=(*,$?]|\bfrom\b|\bnull\b)`)
	// verb is a directive of fmt; it is replaced with one word.
	verb = regexp.MustCompile(`%[-+# 0]*\d*(\.\d+)?[a-zA-Z]`)
)

// goTexts returns the strings of a program that have three words or more and are neither SQL nor
// codes in capital letters.
func goTexts(file string, data []byte) ([]text, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, data, 0)
	if err != nil {
		return nil, err
	}
	var texts []text
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil // tags are not read by people
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				return true
			}
			body, err := strconv.Unquote(n.Value)
			if err != nil || statement.MatchString(body) || body == strings.ToUpper(body) || strings.ContainsAny(body, "<{\t") && strings.ContainsAny(body, ">}\n") {
				return true
			}
			if body = verb.ReplaceAllString(body, "X"); len(strings.Fields(body)) >= 3 {
				texts = append(texts, text{file, set.Position(n.Pos()).Line, body, message})
			}
		}
		return true
	})
	return texts, nil
}

var (
	code      = regexp.MustCompile("`[^`]*`")
	link      = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	listItem  = regexp.MustCompile(`^\s*([-*]|\d+\.)\s+`)
	emphasis  = regexp.MustCompile(`\*\*|__`)
	tableRule = regexp.MustCompile(`^[|:\s-]+$`)
)

// markdownTexts returns the paragraphs, list items, table cells and headings of a document.
// Code is left out; a piece of code in a sentence is one word.
func markdownTexts(file string, data []byte) ([]text, error) {
	var texts []text
	var paragraph []string
	began := 0
	end := func() {
		if len(paragraph) > 0 {
			texts = append(texts, text{file, began, strings.Join(paragraph, " "), prose})
			paragraph = nil
		}
	}
	fenced := false
	for i, line := range strings.Split(string(data), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			end()
			continue
		}
		if fenced {
			continue
		}
		line = link.ReplaceAllString(emphasis.ReplaceAllString(code.ReplaceAllString(line, "X"), ""), "$1")
		switch {
		case strings.HasPrefix(line, "#"):
			end()
			texts = append(texts, text{file, i + 1, strings.TrimSpace(strings.TrimLeft(line, "#")), heading})
		case strings.HasPrefix(line, "|"):
			end()
			if tableRule.MatchString(line) {
				continue
			}
			for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
				texts = append(texts, text{file, i + 1, strings.TrimSpace(cell), prose})
			}
		case strings.TrimSpace(line) == "":
			end()
		default:
			if listItem.MatchString(line) {
				end()
				line = listItem.ReplaceAllString(line, "")
			}
			if len(paragraph) == 0 {
				began = i + 1
			}
			paragraph = append(paragraph, strings.TrimSpace(line))
		}
	}
	end()
	return texts, nil
}

var (
	action = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	hidden = regexp.MustCompile(`(?is)<!--.*?-->|<(script|style|svg|code|pre)\b.*?</(script|style|svg|code|pre)>`)
	title  = regexp.MustCompile(`(?is)<(h[1-6]|legend|summary)\b[^>]*>(.*?)</(h[1-6]|legend|summary)>`)
	inline = regexp.MustCompile(`(?i)</?(a|b|i|em|strong|span|kbd|abbr|time|br)\b[^>]*>`)
	tag    = regexp.MustCompile(`(?s)<[^>]*>`)
)

// htmlTexts returns the texts of a page. An action of the template is one word.
func htmlTexts(file string, data []byte) ([]text, error) {
	var texts []text
	blank := func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) }
	body := action.ReplaceAllStringFunc(string(data), func(s string) string {
		if control := strings.Fields(strings.Trim(s, "{}- ")); len(control) > 0 && strings.Contains(" if else end range with define template block ", " "+control[0]+" ") {
			return "<hr>" + blank(s)
		}
		return "X" + blank(s)
	})
	body = hidden.ReplaceAllStringFunc(body, func(s string) string { return " X " + blank(s) })
	for _, m := range title.FindAllStringSubmatchIndex(body, -1) {
		texts = append(texts, text{file, 1 + strings.Count(body[:m[0]], "\n"), words(tag.ReplaceAllString(body[m[4]:m[5]], " ")), heading})
	}
	body = title.ReplaceAllStringFunc(body, blank)
	body = inline.ReplaceAllString(body, "")
	line := 1
	for _, part := range tag.Split(body, -1) {
		if w := words(html.UnescapeString(part)); len(strings.Fields(w)) >= 3 {
			texts = append(texts, text{file, line, w, prose})
		}
		line += strings.Count(part, "\n")
	}
	return texts, nil
}

func words(s string) string { return strings.Join(strings.Fields(s), " ") }

// yamlTexts returns the descriptions and summaries of a part of the OpenAPI document.
func yamlTexts(file string, data []byte) ([]text, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	var texts []text
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.MappingNode {
			for i := 0; i+1 < len(n.Content); i += 2 {
				key, value := n.Content[i], n.Content[i+1]
				if (key.Value == "description" || key.Value == "summary") && value.Kind == yaml.ScalarNode {
					k := prose
					if key.Value == "summary" {
						k = heading
					}
					texts = append(texts, text{file, value.Line, code.ReplaceAllString(value.Value, "X"), k})
				}
			}
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(&document)
	return texts, nil
}
