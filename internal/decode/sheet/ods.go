package sheet

import (
	"context"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/xml"
)

// odsBook is a workbook in OpenDocument, all of whose sheets are in one part. What they are called is known once that was
// read, which is done once where the sheet has a number.
type odsBook struct {
	parts archive
	list  []feedmill.Sheet
	ranges
}

const odsContent = "content.xml"

func openODS(ctx context.Context, data input.Source) (*odsBook, error) {
	parts, err := openArchive(data)
	if err != nil {
		return nil, err
	}
	b := &odsBook{parts: parts, ranges: make(ranges)}
	if parts.has("META-INF/manifest.xml") {
		err := parts.read(ctx, "META-INF/manifest.xml", maxSmall, func(r *xml.Reader) error {
			return elements(r, func(local string) error {
				if local == "encryption-data" {
					return errEncrypted
				}
				return nil
			})
		})
		if err != nil {
			return nil, err
		}
	}
	if !parts.has(odsContent) {
		return nil, input.Refuse("invalid-workbook", "the data is a ZIP file but not a workbook; it has no %s", odsContent)
	}
	return b, nil
}

// survey finds the sheets and the ranges that have names, and gives the rows of one sheet to fn on the way, unless
// it is nil.
func (b *odsBook) survey(ctx context.Context, sheet int, fn func(*line) error) error {
	hidden := make(map[string]bool) // styles
	style := ""
	var names [][2]string
	var list []feedmill.Sheet
	cells := odsStyles{elapsed: make(map[string]bool), times: make(map[string]bool)}
	if b.parts.has("styles.xml") {
		err := b.parts.read(ctx, "styles.xml", maxSmall, func(r *xml.Reader) error {
			return elements(r, func(local string) error { cells.element(r, local); return nil })
		})
		if err != nil {
			return err
		}
	}
	err := b.parts.read(ctx, odsContent, maxPart, func(r *xml.Reader) error {
		return elements(r, func(local string) error {
			cells.element(r, local)
			switch local {
			case "style":
				style = string(attribute(r, "name"))
			case "table-properties":
				hidden[style] = string(attribute(r, "display")) == "false"
			case "table":
				if !isTable(r) {
					return nil
				}
				list = append(list, feedmill.Sheet{Index: len(list) + 1, Name: string(attribute(r, "name")), Hidden: hidden[string(attribute(r, "style-name"))]})
				if fn == nil || len(list) != sheet+1 {
					return r.Skip()
				}
				return (&odsReader{Reader: r, fn: fn, elapsed: cells.elapsed}).readTable()
			case "named-range":
				names = append(names, [2]string{string(attribute(r, "name")), string(attribute(r, "cell-range-address"))})
			case "database-range":
				names = append(names, [2]string{string(attribute(r, "name")), string(attribute(r, "target-range-address"))})
			}
			return nil
		})
	})
	if b.list = list; err == nil {
		err = checkSheets(b.list)
	}
	if err == nil && len(b.list) == 0 {
		err = input.Refuse("invalid-workbook", "the document has no sheets")
	}
	for _, n := range names {
		if within, ok := b.parseArea(n[1]); ok {
			b.add(n[0], within)
		}
	}
	return err
}

// odsStyles tells the styles of cells whose times are durations.
type odsStyles struct {
	elapsed map[string]bool
	// times are the formats of durations, which stand before the styles that have them.
	times map[string]bool
}

// element takes the element that starts.
func (s *odsStyles) element(r *xml.Reader, local string) {
	switch local {
	case "time-style":
		s.times[string(attribute(r, "name"))] = string(attribute(r, "truncate-on-overflow")) == "false"
	case "style":
		if s.times[string(attribute(r, "data-style-name"))] || s.elapsed[string(attribute(r, "parent-style-name"))] && attribute(r, "data-style-name") == nil {
			s.elapsed[string(attribute(r, "name"))] = true
		}
	}
}

// isTable reports whether the element that starts is a sheet, and no table in something else.
func isTable(r *xml.Reader) bool { return r.Depth() == 4 }

func (b *odsBook) sheets() []feedmill.Sheet { return b.list }

// parseArea reads a range with the name of its sheet, such as $'My sheet'.$B$3:.$H$200.
func (b *odsBook) parseArea(text string) (area, bool) {
	from, to, two := strings.Cut(text, ":")
	at := strings.LastIndexByte(from, '.')
	if at < 0 {
		return area{}, false
	}
	name := strings.TrimPrefix(from[:at], "$")
	if len(name) > 1 && name[0] == '\'' {
		name = strings.ReplaceAll(strings.Trim(name, "'"), "''", "'")
	}
	span := from[at+1:]
	if two {
		span += ":" + to[strings.LastIndexByte(to, '.')+1:]
	}
	within, err := parseRange(span)
	if err != nil {
		return area{}, false
	}
	for i, s := range b.list {
		if s.Name == name {
			within.sheet = i
			return within, true
		}
	}
	return area{}, false
}

func (b *odsBook) read(ctx context.Context, sheet int, _ *merged, fn func(*line) error) ([]area, error) {
	return nil, b.survey(ctx, sheet, fn)
}
