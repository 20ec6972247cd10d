package input

import (
	"strings"
	"unicode"

	"golang.org/x/text/encoding/charmap"
)

// legacyEncoding is the encoding that text speaks for which is not UTF-8, by the
// statistics of its bytes: how they come in pairs, and which letters they would
// be. Windows-1252 is taken where nothing speaks for another.
func legacyEncoding(text []byte) Encoding {
	p := pairsOf(text)
	if p.runs > 0 {
		if encoding := p.eastAsian(); encoding != "" {
			return encoding
		}
	}
	best, most := Windows1252, 0.0
	for _, candidate := range alphabets {
		if score := candidate.score(text, p.longRuns*3 >= p.runs); score > most {
			best, most = candidate.encoding, score
		}
	}
	return best
}

// pairs are counts of how the bytes above ASCII follow each other.
type pairs struct {
	// runs are those of such bytes, of which even have an even length and
	// longRuns more than two.
	runs, even, longRuns int
	// whole are pairs inside runs of even length, by their first byte.
	whole, hangul, common, kana int
	// shifted are pairs of a first byte and any second one as Shift_JIS has them, and
	// big as Big5 has them, of which low have a second byte of ASCII.
	shifted, shiftedKana, shiftedBad int
	big, bigCommon, bigLow, bigBad   int
}

func pairsOf(text []byte) (p pairs) {
	for i := 0; i < len(text); {
		if text[i] < 0x80 {
			i++
			continue
		}
		end := i
		for end < len(text) && text[end] >= 0x80 {
			end++
		}
		p.runs++
		if end-i > 2 {
			p.longRuns++
		}
		if (end-i)%2 == 0 {
			p.even++
			for k := i; k < end; k += 2 {
				p.pair(text[k], text[k+1])
			}
		}
		i = end
	}
	p.countShifted(text)
	p.countBig(text)
	return p
}

func (p *pairs) pair(lead, trail byte) {
	if lead < 0xa1 || trail < 0xa1 {
		return
	}
	p.whole++
	switch {
	case lead == 0xa4 || lead == 0xa5:
		p.kana++
	case lead >= 0xb0 && lead <= 0xc8:
		p.hangul++
	}
	if lead >= 0xb0 && lead <= 0xd7 {
		p.common++
	}
}

// countShifted counts characters as Shift_JIS has them.
func (p *pairs) countShifted(text []byte) {
	for i := 0; i < len(text); i++ {
		lead := text[i]
		switch {
		case lead < 0x80 || lead >= 0xa1 && lead <= 0xdf: // ASCII, and katakana of half the width
		case i+1 < len(text) && (lead >= 0x81 && lead <= 0x9f || lead >= 0xe0 && lead <= 0xfc) && text[i+1] >= 0x40 && text[i+1] != 0x7f && text[i+1] <= 0xfc:
			p.shifted++
			if lead == 0x82 && text[i+1] >= 0x9f || lead == 0x83 && text[i+1] <= 0x96 {
				p.shiftedKana++
			}
			if lead >= 0xe0 {
				p.shiftedBad++
			}
			i++
		default:
			p.shiftedBad += 4
		}
	}
}

// countBig counts characters as Big5 has them.
func (p *pairs) countBig(text []byte) {
	for i := 0; i < len(text); i++ {
		lead := text[i]
		if lead < 0x80 {
			continue
		}
		if i+1 >= len(text) || lead < 0xa1 || lead > 0xf9 || !(text[i+1] >= 0x40 && text[i+1] <= 0x7e || text[i+1] >= 0xa1 && text[i+1] <= 0xfe) {
			p.bigBad++
			continue
		}
		p.big++
		if lead >= 0xa4 && lead <= 0xc6 {
			p.bigCommon++
		}
		if text[i+1] < 0x80 {
			p.bigLow++
		}
		i++
	}
}

// eastAsian is the encoding of two bytes for a character that the counts speak for,
// empty where they do not.
func (p *pairs) eastAsian() Encoding {
	switch {
	case p.shifted > 1 && p.shiftedBad*4 <= p.shifted && (p.shiftedKana*8 >= p.shifted || p.shifted > 3):
		return "shift_jis"
	case p.big > 1 && p.bigBad*50 <= p.big && p.bigCommon*10 >= p.big*8 && p.bigLow*8 >= p.big:
		return "big5"
	case p.even*50 < p.runs*49 || p.whole < 2:
		return ""
	case p.kana*5 >= p.whole:
		return "euc-jp"
	case p.hangul*10 >= p.whole*9:
		return "euc-kr"
	case p.common*10 >= p.whole*7:
		return "gb18030"
	}
	return ""
}

// alphabet is an encoding of one byte for each character and the letters of the
// languages that are written in it.
type alphabet struct {
	encoding  Encoding
	charmap   *charmap.Charmap
	languages []string
	// whole says that all letters are above ASCII, as those of Russian are.
	whole bool
	// telling are letters whose bytes are those of rare letters in another alphabet that
	// has all of them, too: from this share of the letters on, in hundredths, they speak
	// for this one, if nothing speaks against it.
	telling string
	share   int
}

var alphabets = []alphabet{
	{Windows1252, charmap.Windows1252, []string{
		"äöüß", "éèêëàâçîïôûùœæ", "áéíóúñü", "àèéìòù", "ãõáâàéêíóôúç", "åäöéü", "åæøéö", "ëïéèöü", "áéíóúýþæöð", "àéèíïóòúüç",
	}, false, "", 0},
	{"windows-1250", charmap.Windows1250, []string{
		"ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíľĺňóôŕšťúýž", "áéíóöőúüű", "ăâîşţ", "čćđšž",
	}, false, "", 0},
	{"windows-1254", charmap.Windows1254, []string{"çğıiöşüâîû"}, false, "ğışi", 1},
	{"windows-1257", charmap.Windows1257, []string{"ąčęėįšųūž", "āčēģīķļņšūž", "äöõüšž"}, false, "", 0},
	{"windows-1251", charmap.Windows1251, []string{"оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфёъєіїґ"}, true, "", 0},
	{"koi8-r", charmap.KOI8R, []string{"оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфёъ"}, true, "", 0},
	{"windows-1253", charmap.Windows1253, []string{"αοιετνσςρκπμλυηδγωθφχβξζψάέήίόύώϊϋ"}, true, "", 0},
	{"windows-1255", charmap.Windows1255, []string{"אבגדהוזחטיכךלמםנןסעפףצץקרשת"}, true, "יפצרשת", 12},
	{"windows-1256", charmap.Windows1256, []string{"ابتثجحخدذرزسشصضطظعغفقكلمنهويىةأإآؤئء"}, true, "", 0},
	{"windows-874", charmap.Windows874, []string{"กขคงจชซญดตถทธนบปผพฟภมยรลวศษสหอฮะาำิีึืุูเแโใไ่้๊๋์็ั"}, true, "", 0},
}

// score is how well the text goes with one of the languages of the alphabet, and
// less well with all of them. Words of such letters alone are what whole is for.
func (a *alphabet) score(text []byte, whole bool) float64 {
	if whole != a.whole {
		return 0
	}
	counts := make(map[rune]int)
	all, changes := 0, 0
	for i, c := range text {
		if c < 0x80 {
			continue
		}
		r := a.charmap.DecodeByte(c)
		all++
		if i > 0 && text[i-1] >= 0x80 && unicode.IsUpper(r) && unicode.IsLower(a.charmap.DecodeByte(text[i-1])) {
			changes++ // a capital behind a small letter
		}
		counts[unicode.ToLower(r)]++
	}
	one, union := 0.0, 0
	seen := strings.Join(a.languages, "")
	for _, language := range a.languages {
		covered := 0
		for r, n := range counts {
			if strings.ContainsRune(language, r) {
				covered += n
			}
		}
		one = max(one, float64(covered)/float64(max(all, 1)))
	}
	for r, n := range counts {
		if strings.ContainsRune(seen, r) {
			union += n
		}
	}
	if told := 0; one == 1 && a.telling != "" {
		for r, n := range counts {
			if strings.ContainsRune(a.telling, r) {
				told += n
			}
		}
		if told*100 >= all*a.share {
			one += 0.01
		}
	}
	return max(one, float64(union)/float64(max(all, 1))*0.85) - float64(changes)/float64(max(all, 1))
}
