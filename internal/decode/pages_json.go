package decode

import (
	"context"

	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// jsonPages is what the pages of JSON have in common. They share their columns,
// so that no cell has to change its place, and the readers, so that a name that
// one page has is known in the next.
type jsonPages struct {
	path    *jsonpath.Path
	explode []explodeStep
	columns *jsonColumns
	readers *jsonReaders

	// place is where the records are in the first page that has any, and
	// opening the first byte of that page.
	place   *recordPlace
	opening byte
	// superseded counts those of all pages.
	superseded int
}

// minPageBlock is the least that a goroutine reads of a page in one go.
const minPageBlock = 64 << 10

// addJSON reads a page.
func (p *Pages) addJSON(ctx context.Context, data Source, lines bool) (page, error) {
	workers := pageWorkers(data)
	j := &JSON{
		jsonInput: jsonInput{
			blockBytes: int(min(max(data.Size()/int64(2*workers), minPageBlock), jsonBlockBytes)),
			readBytes:  jsonReadBytes,
		},
		lines: lines, path: p.json.path, explode: p.json.explode, columns: p.json.columns, readers: p.json.readers,
		base: p.rows, before: p.bytes, emptyCells: maxEmptyCells, spool: &p.spool,
	}
	if err := j.read(ctx, data); err != nil {
		return page{}, j.refusal(err)
	}
	if !lines && j.src.Size() <= jsonReadBytes {
		workers, j.blockBytes, j.oneBlock = 1, jsonBlockBytes, true
	}
	if !lines {
		if err := p.json.locate(ctx, j, p.options.List); err != nil {
			return page{}, j.refusal(err)
		}
	}
	p.format = "json"
	if err := j.readBlocks(ctx, workers, p.watching(p.json.columns.index, p.each)); err != nil {
		return page{}, err
	}
	if err := p.json.count(j); err != nil {
		return page{}, err
	}
	return page{table: j, whole: j.tree}, nil
}

// locate finds the records of a page.
func (p *jsonPages) locate(ctx context.Context, j *JSON, list bool) error {
	var err error
	switch {
	case j.path != nil:
		err = j.locate(ctx)
	case p.place != nil && p.opening == j.opening:
		err = j.follow(ctx, p.place.steps)
	default:
		err = p.discover(ctx, j, list)
	}
	return err
}

// count counts what was superseded in a page.
func (p *jsonPages) count(j *JSON) error {
	if len(j.superseded) == 0 {
		j.superseded = nil
	}
	if p.superseded += len(j.superseded); p.superseded > maxSuperseded {
		return refuse(jsonProblem, "names on the way to the records stand in their objects again more than %d times in all pages", maxSuperseded)
	}
	return nil
}

// discover looks for the records of a page by itself.
func (p *jsonPages) discover(ctx context.Context, j *JSON, list bool) error {
	place, err := locateRecords(ctx, j.jsonInput)
	if err != nil {
		return err
	}
	if place.hollow && list {
		place.steps = []jsonpath.Step{jsonpath.IndexStep(-1)}
	} else if len(place.steps) > 0 && p.place == nil {
		p.place, p.opening = &place, j.opening
	}
	j.steps, j.sequence = place.steps, place.sequence
	if place.repeated {
		j.superseded, err = locateSuperseded(ctx, j.jsonInput, j.steps)
	}
	return err
}

func (j *JSON) forget() { j.inMemory, j.summary = nil, jsonSummary{} }
