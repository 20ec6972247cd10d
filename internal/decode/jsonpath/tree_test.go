package jsonpath

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// readTree reads a document into a tree, with names that may be repeated.
func readTree(t testing.TB, document string) *Tree {
	t.Helper()
	tree := new(Tree)
	if err := fillTree(tree, document); err != nil {
		t.Fatalf("document %.80s: %v", document, err)
	}
	return tree
}

func fillTree(tree *Tree, document string) error {
	decoder := jsontext.NewDecoder(strings.NewReader(document), jsontext.AllowDuplicateNames(true))
	for {
		token, err := decoder.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := addToken(tree, decoder, token); err != nil {
			return err
		}
	}
}

func addToken(tree *Tree, decoder *jsontext.Decoder, token jsontext.Token) error {
	end := int(decoder.InputOffset())
	if kind, count := decoder.StackIndex(decoder.StackDepth()); kind == '{' && count%2 == 1 && token.Kind() == '"' {
		tree.Key([]byte(token.String()))
		return nil
	}
	switch token.Kind() {
	case '{':
		return tree.Open(Object, end-1)
	case '[':
		return tree.Open(Array, end-1)
	case '}', ']':
		tree.Close(end)
		return nil
	case 'n':
		return tree.Leaf(Null, nil, end-4, end)
	case 't':
		return tree.Leaf(True, nil, end-4, end)
	case 'f':
		return tree.Leaf(False, nil, end-5, end)
	case '0':
		text := token.String()
		return tree.Leaf(Number, []byte(text), end-len(text), end)
	default:
		// The tests have no escapes in what they select.
		text := token.String()
		return tree.Leaf(String, []byte(text), end-len(text)-2, end)
	}
}

// selected gives the texts of what a path selects in a document.
func selected(t testing.TB, path, document string) []string {
	t.Helper()
	p, err := Parse(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	tree := readTree(t, document)
	nodes, err := p.Select(NewWork(t.Context(), 0), tree)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	texts := []string{}
	for _, node := range nodes {
		start, end := tree.Range(node)
		texts = append(texts, document[start:end])
	}
	return texts
}

func TestTreeKeepsTheLastOfRepeatedNames(t *testing.T) {
	const document = `{"a":1,"b":{"c":1,"c":2},"a":[3],"a":4}`
	if got := selected(t, "$.*", document); strings.Join(got, " ") != `{"c":1,"c":2} 4` {
		t.Errorf("selected %q", got)
	}
	if got := selected(t, "$.b.*", document); strings.Join(got, " ") != "2" {
		t.Errorf("selected %q", got)
	}
}

func TestTreeIsBounded(t *testing.T) {
	tree := new(Tree)
	if err := tree.Open(Array, 0); err != nil {
		t.Fatal(err)
	}
	for range MaxNodes - 1 {
		if err := tree.Leaf(Null, nil, 1, 2); err != nil {
			t.Fatal(err)
		}
	}
	if err := tree.Leaf(Null, nil, 1, 2); !errors.Is(err, ErrTooManyNodes) {
		t.Errorf("error %v, want %v", err, ErrTooManyNodes)
	}
	tree.Reset()
	if err := tree.Leaf(Null, nil, 0, 4); err != nil || tree.Kind(0) != Null {
		t.Errorf("after Reset: %v", err)
	}
}
