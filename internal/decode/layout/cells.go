package layout

import (
	"slices"
	"strconv"
	"strings"
)

// names reports whether a row holds names of columns and no values. Years, months,
// days and numbers in a row may be names: tables with a column for each of them
// have such names, in order, and other things below them.
func (f *finder) names(i int) bool {
	r := &f.rows[i]
	names := 0
	var periods []int
	for j, cell := range r.Cells {
		switch {
		case cell == "":
		case isValue(cell):
			return false
		case LooksTyped(cell):
			periods = append(periods, j)
		default:
			names++
		}
	}
	switch {
	case len(periods) > 0:
		return (names > 0 || r.cell(0) == "") && f.inOrder(i, periods)
	case names == 0:
		return false
	}
	return !f.recurs(i)
}

// inOrder reports whether the cells of a row are days, months or years in order,
// or numbers that count, and those below them are not.
func (f *finder) inOrder(i int, columns []int) bool {
	keys, counting := f.keys(i, columns)
	if keys == nil {
		return false
	}
	if next := f.next(i + 1); next < len(f.rows) {
		below, alike := f.keys(next, columns)
		return below == nil || alike != counting
	}
	return true
}

// keys are numbers by which the cells of a row are in order, nil where they are not;
// counting says that they are no days, months or years.
func (f *finder) keys(i int, columns []int) (keys []int, counting bool) {
	counting = true
	for n, j := range columns {
		cell := f.rows[i].cell(j)
		key, period := periodKey(cell)
		if !period {
			number, err := strconv.Atoi(cell)
			if err != nil {
				return nil, false
			}
			key = number
		}
		counting = counting && !period
		if n > 0 {
			if before := keys[n-1]; before == key || n > 1 && before > key != (keys[0] > keys[1]) || counting && key != before+1 {
				return nil, false
			}
		}
		keys = append(keys, key)
	}
	if len(keys) < 2 || counting && len(keys) < 3 {
		return nil, false
	}
	return keys, counting
}

// periodKey is a number by which years, months and days are in order.
func periodKey(text string) (key int, ok bool) {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '-' || r == '/' || r == '.' })
	if len(parts) > 3 || len(parts) == 0 {
		return 0, false
	}
	if len(parts[0]) != 4 { // the year comes last
		for a, b := 0, len(parts)-1; a < b; a, b = a+1, b-1 {
			parts[a], parts[b] = parts[b], parts[a]
		}
	}
	for n, part := range parts {
		value, err := strconv.Atoi(part)
		if err != nil || n == 0 && (len(part) != 4 || value < 1800 || value > 2200) || n > 0 && (len(part) > 2 || value > 31) {
			return 0, false
		}
		key = key*100 + value
	}
	for range 3 - len(parts) {
		key *= 100
	}
	return key, true
}

// recurs reports whether most cells of a row stand again in their columns: they
// are values then, and no names.
func (f *finder) recurs(i int) bool {
	r := &f.rows[i]
	if f.width < 2 || f.hasTyped() {
		return false
	}
	var below []*Row // without copies of the row
	for k := i + 1; k < len(f.rows); k++ {
		if other := &f.rows[k]; !sameCells(other, r) {
			below = append(below, other)
		}
	}
	again := 0
	for j, cell := range r.Cells {
		if cell != "" && slices.ContainsFunc(below, func(other *Row) bool { return other.cell(j) == cell }) {
			again++
		}
	}
	return again*2 > r.filled()
}

func sameCells(a, b *Row) bool {
	for j := range max(len(a.Cells), len(b.Cells)) {
		if a.cell(j) != b.cell(j) {
			return false
		}
	}
	return true
}

// isToken reports whether a text means that there is no value.
func isToken(text string) bool {
	switch text {
	case "NULL", "null", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "None", "-", "--", `\N`, "?":
		return true
	}
	return false
}

// isValue reports whether a text is a value that no column is called after,
// although it is neither a number nor a date.
func isValue(text string) bool {
	switch text {
	case "NULL", "null", "#N/A", "NaN", "nan", `\N`:
		return true
	}
	if at := strings.IndexByte(text, '@'); at > 0 && strings.Contains(text[at:], ".") && !strings.Contains(text, " ") {
		return true
	}
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

// LooksTyped reports whether a text looks like a number, an amount, a date, a
// time or a truth value: like a value and not like the name of a column.
func LooksTyped(text string) bool {
	text = strings.TrimSpace(text)
	if strings.EqualFold(text, "true") || strings.EqualFold(text, "false") {
		return true
	}
	digits, others := 0, 0
	for _, r := range text {
		switch {
		case '0' <= r && r <= '9':
			digits++
		case r == 'T' || r == 'Z' || r == 'e' || r == 'E':
			if digits == 0 {
				return false
			}
			others++
		case strings.ContainsRune("+-.,:/ $%()'€£¥₹₽₩\u00a0\u202f", r):
			others++
		default:
			return false
		}
	}
	return digits*3 >= digits+others && digits > 0
}

// isUnit reports whether a text is the unit of values.
func isUnit(text string) bool {
	if n := len(text); n > 2 && (text[0] == '[' && text[n-1] == ']' || text[0] == '(' && text[n-1] == ')') {
		return !LooksTyped(text[1 : n-1])
	}
	for part := range strings.SplitSeq(text, "/") {
		words := strings.Fields(part)
		if len(words) > 1 && (words[0] == "1000" || words[0] == "1.000" || words[0] == "1,000") {
			words = words[1:]
		}
		if len(words) == 0 || slices.ContainsFunc(words, func(word string) bool { return !units[word] }) {
			return false
		}
	}
	return true
}

var units = func() map[string]bool {
	set := make(map[string]bool)
	for unit := range strings.FieldsSeq(`m cm mm km µm um nm m2 m² m3 m³ km2 km² ha kg g mg µg t lb lbs oz s sec secs ms µs ns min mins h hr hrs d day days
		yr year °C °F C F K % ‰ ppm ppb EUR USD GBP CHF JPY CNY € $ £ ¥ kEUR TEUR T€ Mio. V mV kV A mA W kW MW GW Wh kWh MWh GWh VA kVA var Hz kHz MHz GHz
		Pa hPa kPa MPa bar mbar psi N kN Nm J kJ MJ kcal cal l L ml mL cl dl gal mph kph kmh rpm U dB dBm mol mmol Stk Stk. Stück Anzahl number Number Prozent percent Tsd. Mill. Mrd. thousand million pcs pc ea qty count units # deg rad
		MB GB kB TB bytes bit lx lm cd ft in inch yd mi °`) {
		set[unit] = true
	}
	return set
}()
