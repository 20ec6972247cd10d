package model

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// months are the names of months and their short forms in English, German, French,
// Spanish, Italian, Dutch and Portuguese, in small letters.
var months = monthNames(
	"jan january januar jänner jän jaenner janvier janv enero ene gennaio gen januari janeiro",
	"feb february februar février févr fév fevrier fevr fev febrero febbraio februari fevereiro",
	"mar march märz mär mrz maerz mars marzo maart mrt março marco",
	"apr april avril avr abril abr aprile",
	"may mai mayo maggio mag mei maio",
	"jun june juni juin junio giugno giu junho",
	"jul july juli juillet juil julio luglio lug julho",
	"aug august août aout agosto ago augustus",
	"sep sept september septembre septiembre setiembre settembre set setembro",
	"oct october oktober okt octobre octubre ottobre ott outubro out",
	"nov november novembre noviembre novembro",
	"dec december dezember dez décembre déc decembre diciembre dic dicembre dezembro",
)

func monthNames(lists ...string) map[string]int {
	names := make(map[string]int)
	for i, list := range lists {
		for name := range strings.FieldsSeq(list) {
			names[name] = i + 1
		}
	}
	return names
}

// weekdays are the names of days in the same languages. What they say is not
// checked: the date says it already.
var weekdays = wordSet(`monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
	montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so
	lundi mardi mercredi jeudi vendredi samedi dimanche lun mar mer jeu ven sam dim
	lunes martes miércoles jueves viernes sábado domingo mié jue vie sáb dom
	lunedì martedì mercoledì giovedì venerdì sabato domenica gio sab
	maandag dinsdag woensdag donderdag vrijdag zaterdag zondag ma wo vr za zo
	segunda-feira terça-feira quarta-feira quinta-feira sexta-feira segunda terça quarta quinta sexta seg ter qua qui sex`)

// between are words that stand between the parts of a date.
var between = wordSet("de of del the le el il")

// ordinals are what stands behind the number of a day.
var ordinals = wordSet("st nd rd th er ro do º ª °")

func wordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

// namedDate reads a date whose month has a name: 15 November 2026, Nov 15, 2026,
// 15-NOV-26, Sun, 15 Nov 2026 12:00:00 +0000.
type namedDate struct {
	rest string
	// parts are the day, the month and the year in the order in which they
	// stand, as the letters d, m and y, Y being a year of two digits.
	parts            []byte
	day, month, year int
	// two are the digits of a year that has two, which is up to the latest.
	two, latest int
}

// readNamed reads such a date. The format says how it is written.
func readNamed(text []byte, latest int) (m moment, format string, ok bool) {
	d := namedDate{rest: string(text), latest: latest}
	d.weekday()
	for len(d.parts) < 3 {
		if !d.part() {
			return m, "", false
		}
		if len(d.parts) < 3 {
			d.separator()
		}
	}
	switch order := string(d.parts); order {
	case "dmy", "dmY", "mdy", "mdY", "ymd":
		format = strings.NewReplacer("d", "dd ", "m", "mmm ", "y", "yyyy ", "Y", "yy ").Replace(order)
	default:
		return m, "", false
	}
	if m.day, ok = dayOf(d.year, d.month, d.day); !ok {
		return m, "", false
	}
	m.short, m.two = strings.Contains(string(d.parts), "Y"), d.two
	format = strings.TrimSpace(format)
	if d.rest = strings.TrimRight(d.rest, " "); d.rest == "" {
		return m, format, true
	}
	d.rest = strings.TrimPrefix(strings.TrimPrefix(d.rest, " um"), " at")
	return m, format + " hh:mm", m.readTime([]byte(d.rest))
}

// word is the letters at the beginning of the rest, in small letters.
func (d *namedDate) word() (word string, size int) {
	for size < len(d.rest) {
		r, n := utf8.DecodeRuneInString(d.rest[size:])
		if !unicode.IsLetter(r) && r != 'º' && r != '°' {
			break
		}
		size += n
	}
	return strings.ToLower(d.rest[:size]), size
}

// weekday passes over the name of a day.
func (d *namedDate) weekday() {
	word, size := d.word()
	if size == 0 || size == len(d.rest) {
		return
	}
	if strings.HasPrefix(strings.ToLower(d.rest[size:]), "-feira") {
		word, size = word+"-feira", size+len("-feira")
	}
	if !weekdays[word] || size == len(d.rest) {
		return
	}
	// The short names of Tuesday and March are the same in some languages: a
	// month has its day or its year right behind it.
	after := strings.TrimLeft(d.rest[size:], "., ")
	if _, month := months[word]; month && strings.IndexFunc(after, unicode.IsLetter) < 0 {
		return
	}
	d.rest = after
}

// part reads the next part.
func (d *namedDate) part() bool {
	if digits := leadingDigits([]byte(d.rest)); digits > 0 {
		return d.number(digits)
	}
	word, size := d.word()
	month, ok := months[word]
	if !ok || d.month != 0 {
		return false
	}
	d.month = month
	d.rest = strings.TrimPrefix(d.rest[size:], ".")
	d.parts = append(d.parts, 'm')
	return true
}

func (d *namedDate) number(digits int) bool {
	value := int(digitsValue([]byte(d.rest), 0, min(digits, 8)))
	d.rest = d.rest[digits:]
	switch {
	case digits == 4 && d.year == 0:
		d.year = value
		d.parts = append(d.parts, 'y')
	case digits == 2 && d.day != 0 && d.year == 0:
		d.year, d.two = yearUpTo(value, d.latest), value
		d.parts = append(d.parts, 'Y')
	case digits <= 2 && d.day == 0 && value > 0:
		d.day = value
		d.parts = append(d.parts, 'd')
		if word, size := d.word(); ordinals[word] {
			d.rest = d.rest[size:]
		}
	default:
		return false
	}
	return true
}

// separator passes over what stands between two parts.
func (d *namedDate) separator() {
	for {
		d.rest = strings.TrimLeft(d.rest, " -/.,'")
		word, size := d.word()
		if !between[word] || size == len(d.rest) || d.rest[size] != ' ' {
			return
		}
		d.rest = d.rest[size:]
	}
}
