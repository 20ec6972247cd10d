package feed

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/model"
)

// open finds the records of data in its format.
func (m *Mill) open(ctx context.Context, data decode.Source, r feedmill.Reading) (decode.Table, error) {
	return decode.Open(ctx, r.Format, data, m.decodeOptions(r))
}

// openArriving is open for data that is not yet there in full.
func (m *Mill) openArriving(ctx context.Context, data decode.Arriving, r feedmill.Reading) (decode.Table, error) {
	return decode.OpenArriving(ctx, r.Format, data, m.decodeOptions(r))
}

// openPages begins a table whose records come page by page. Each is given to
// the inference as it comes.
func (m *Mill) openPages(r feedmill.PageReading, inference *model.Inference) *decode.Pages {
	options := m.decodeOptions(r.Reading)
	options.List, options.Paginated = r.List, r.Paginated
	pages := decode.NewPages(options, func(cells *columnar.Cells) error { inference.Block(cells); return nil })
	if r.Watch != "" {
		pages.Watch(r.Watch, r.See)
	}
	if r.Reshape != nil {
		pages.Arrange(r.Columns)
	}
	pages.Note(r.Notes)
	return pages
}

func (m *Mill) decodeOptions(r feedmill.Reading) decode.Options {
	return decode.Options{Path: r.Path, Explode: r.Explode, Sheet: r.Sheet, Rules: r.Rules, ReadingOptions: r.ReadingOptions, Charset: r.Charset, Before: r.Before, Temp: m.Temp}
}

// modelOptions are how the values of data are read.
func modelOptions(r feedmill.Reading) (model.Options, error) {
	if r.Year == 0 {
		r.Year = now().Year()
	}
	o := model.Options{Text: r.Text, Rules: r.Rules, Year: r.Year, Set: r.ReadingOptions, Before: r.Before}
	if r.Timezone == "" || r.Timezone == "UTC" {
		return o, nil
	}
	var err error
	o.Location, err = time.LoadLocation(r.Timezone)
	return o, err
}
