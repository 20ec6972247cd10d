package worker

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/feedmill/feedmill/internal/lake/wire"
)

// The styles of cells, by their places in the style sheet. Those of decimals
// come after them, one for each scale, and then those of numbers with a unit.
const (
	stylePlain = iota
	styleHeader
	styleText
	styleInteger
	styleDate
	styleSecond
	styleMillisecond
	styleDecimal
)

// Numbers of formats: those that are built in, and the first that is not.
const (
	formatGeneral = 0
	formatInteger = 1
	formatText    = 49
	formatOwn     = 164
)

// maxShownScale is how many digits after the point a format can show.
const maxShownScale = 30

// numberStyles are the scales of the decimals among columns, and the scales of numbers with a unit, each once.
type numberStyles struct {
	decimals []int
	units    []unitStyle
}

// unitStyle is a number of a scale with a unit.
type unitStyle struct {
	unit  string
	scale int
}

func stylesOf(columns []*column, units []string) (s numberStyles) {
	for i, c := range columns {
		switch {
		case units[i] != "" && c.isExact():
			if style := (unitStyle{units[i], c.scale}); !slices.Contains(s.units, style) {
				s.units = append(s.units, style)
			}
		case c.scale > 0 && c.scale <= maxShownScale && !slices.Contains(s.decimals, c.scale):
			s.decimals = append(s.decimals, c.scale)
		}
	}
	return s
}

// isExact reports whether a column is of integers or decimals that a format can show.
func (c *column) isExact() bool {
	switch c.kind {
	case kindText, kindDate, kindTimestamp, kindBoolean, kindFloat, kindDouble:
		return false
	}
	return c.scale <= maxShownScale
}

// decimal and unit are the styles of their scales.
func (s numberStyles) decimal(scale int) int { return styleDecimal + slices.Index(s.decimals, scale) }

func (s numberStyles) unit(unit string, scale int) int {
	return styleDecimal + len(s.decimals) + slices.Index(s.units, unitStyle{unit, scale})
}

// code is the format code of a number with a unit. A currency stands before it, wherever it was written: in
// brackets, which all programs take for one.
func (u unitStyle) code() string {
	number := strings.TrimSuffix("0."+strings.Repeat("0", u.scale), ".")
	if u.unit == wire.Percent {
		return number + wire.Percent
	}
	return "[$" + html.EscapeString(strings.NewReplacer("]", "", "-", "").Replace(u.unit)) + `]\ ` + number
}

// sheet describes the styles. A decimal is shown with all of its digits,
// and what is text stays text when somebody edits it.
func (s numberStyles) sheet() string {
	own := []string{"yyyy\\-mm\\-dd", "yyyy\\-mm\\-dd\\ hh:mm:ss", "yyyy\\-mm\\-dd\\ hh:mm:ss.000"}
	for _, scale := range s.decimals {
		own = append(own, "0."+strings.Repeat("0", scale))
	}
	for _, style := range s.units {
		own = append(own, style.code())
	}
	formats := []int{stylePlain: formatGeneral, styleHeader: formatGeneral, styleText: formatText, styleInteger: formatInteger}
	for i := range own {
		formats = append(formats, formatOwn+i)
	}
	var xml strings.Builder
	fmt.Fprintf(&xml, `%s<styleSheet %s><numFmts count="%d">`, xmlHead, mainNamespace, len(own))
	for i, code := range own {
		fmt.Fprintf(&xml, `<numFmt numFmtId="%d" formatCode="%s"/>`, formatOwn+i, code)
	}
	const font = `<sz val="11"/><name val="Calibri"/><family val="2"/>`
	xml.WriteString(`</numFmts><fonts count="2"><font>` + font + `</font><font><b/>` + font + `</font></fonts>` +
		`<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
		`<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
		`<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>`)
	fmt.Fprintf(&xml, `<cellXfs count="%d">`, len(formats))
	for style, format := range formats {
		bold, applied := 0, ""
		if style == styleHeader {
			bold, applied = 1, ` applyFont="1"`
		}
		if format != formatGeneral {
			applied = ` applyNumberFormat="1"`
		}
		fmt.Fprintf(&xml, `<xf numFmtId="%d" fontId="%d" fillId="0" borderId="0" xfId="0"%s/>`, format, bold, applied)
	}
	xml.WriteString(`</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`)
	return xml.String()
}
