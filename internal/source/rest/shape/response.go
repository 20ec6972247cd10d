package shape

import (
	"context"
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// missing refuses a page that does not have what the path of the records leads
// through: there is nothing that could be empty.
func missing(p feedmill.FetchedPage, at string) error {
	if p.Format != "json" {
		return nil
	}
	path, err := jsonpath.Parse(at)
	if err != nil {
		return nil // it was read before
	}
	container, ok := container(path)
	if !ok {
		return nil
	}
	found, err := find.Values(context.Background(), p.Body, p.Body.Size(), container)
	if err != nil || found[0].Kind != 0 {
		return nil
	}
	return spec.Fail("missing-path", nil,
		"The response has nothing at %s, where response.path (%s) expects the records. Correct the path. If the source omits it when it has no records, set response.missing to \"empty\".", container, path)
}

// lacking are the pages that do not have what the path of the records leads through.
type lacking struct {
	response spec.Response
	pages    int64
	// first is the first of them, and path where its records were looked for.
	first int
	path  string
	// total counts such pages of all feeds of the fetch, nil where nobody counts them.
	total *int64
}

// page refuses a first page without it. A later one can be how the source says that there
// is no more, so it only is noted.
// Where nobody set the path, what holds the records is where those before it were found.
func (l *lacking) page(p feedmill.FetchedPage, found string) error {
	set := l.response.Path != ""
	if set {
		found = l.response.Path
	}
	err := missing(p, found)
	if err == nil || p.First && set {
		return err
	}
	if l.pages++; l.pages == 1 {
		l.first, l.path = p.Number, found
	}
	if l.total != nil {
		*l.total++
	}
	return nil
}

func (l *lacking) notes() []feedmill.Warning {
	if l.pages == 0 {
		return nil
	}
	return []feedmill.Warning{{
		Code: feedmill.WarnNothingFound, Count: l.pages,
		Detail: fmt.Sprintf("Page %d has nothing at %s, where the records are expected, so it was read as a page without records. If it is an error of the source, add a rule to errors.", l.first, l.path),
	}}
}

// container is the path to what holds the records: as far as it goes by names and
// numbers alone.
func container(path *jsonpath.Path) (*jsonpath.Path, bool) {
	steps, ok := path.Steps()
	if !ok {
		return nil, false
	}
	text := "$"
	for i := range steps {
		name, named := steps[i].Name()
		if !named {
			break
		}
		quoted := strictjson.String(name)
		text += "[" + string(quoted.Raw) + "]"
	}
	if text == "$" {
		return nil, false
	}
	container, err := jsonpath.Parse(text)
	return container, err == nil
}
