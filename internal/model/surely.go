package model

// surelyText reports whether a text can be neither a number nor a date, a truth
// value nor a text that means null, judged by its ends: it is for columns of
// text, where the close look at each value would take most of the time. It may
// report false for any text. It is a table: the first case that applies to the ends decides.
func surelyText(text []byte) bool {
	first, last, n := text[0], text[len(text)-1], len(text)
	switch {
	case first >= 0x80:
		// Signs of currencies, spaces that are not ASCII and other digits begin so.
		return first != 0xc2 && first != 0xe2 && first != 0xef && !beginsForeign(text)
	case isDigit(first):
		return surelyNoNumber(text)
	case !isLetter(first):
		return false
	case n <= 5 && (isLetter(last) || last >= 0x80):
		// true and false, the words for null, and short currencies.
		return first|0x20 != 't' && first|0x20 != 'f' && first|0x20 != 'n'
	case isLetter(last):
		return !isHalf(last, text[n-2]) && (n < 20 || last != 'T' && last != 'C')
	case last >= 0x80:
		return true
	case !isDigit(last):
		return false
	}
	word := 1
	for word < n && isLetter(text[word]) {
		word++
	}
	switch text[word] {
	case '-':
		return !isDateWord(text[:word])
	case ' ':
		return word > 3 && !isDateWord(text[:word])
	case '.', ',', '$', '\'':
		return false
	}
	return text[word] < 0x80 && !(word <= 3 && isDigit(text[word]) && isCurrency(text[:word])) // SKU1234, user_17, but not EUR1234
}

// isDateWord reports whether a word is the name of a month or a day.
func isDateWord(word []byte) bool {
	var room [16]byte
	if len(word) > len(room) {
		return false
	}
	for i, c := range word {
		room[i] = c | 0x20
	}
	return months[string(room[:len(word)])] > 0 || weekdays[string(room[:len(word)])]
}

// surelyNoNumber is surelyText for one that begins with a digit.
func surelyNoNumber(text []byte) bool {
	n := len(text)
	last := text[n-1]
	if text[0] == '0' && n > 1 && isDigit(text[1]) && leadingDigits(text) == n {
		return true // a number that begins with zeros is none
	}
	if n > 20 && isLetter(last) && !isHalf(last, text[n-2]) && last != 'Z' && last != 'T' && last != 'C' && !endsInUnit(text) {
		return true // 12 Main Street, Springfield
	}
	if n < 32 {
		return false
	}
	// Identifiers of hexadecimal digits.
	for _, c := range text[:12] {
		if isLetter(c) && c|0x20 != 'e' && c|0x20 != 't' {
			return text[8] == '-' || !isSpaced(text)
		}
	}
	return false
}

// endsInUnit reports whether a text of more than 20 characters may be a number with a unit behind
// it. It may report true for any text.
func endsInUnit(text []byte) bool {
	end := text[len(text)-maxUnit-1:]
	for _, c := range end {
		if isDigit(c) {
			return true
		}
	}
	return end[0] <= ' ' || end[0] >= 0x80 // a space before the unit, perhaps
}

// isSpaced reports whether a text has a space among its first characters.
func isSpaced(text []byte) bool {
	for _, c := range text[:12] {
		if c == ' ' {
			return true
		}
	}
	return false
}

// isHalf reports whether a text can end in AM or PM.
func isHalf(last, before byte) bool {
	return last|0x20 == 'm' && (before|0x20 == 'a' || before|0x20 == 'p')
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// A text of more than five characters that begins and ends with such ones is
// nothing else.
const (
	begins = 1 << iota
	closes
)

// ends says of each character whether it is one of them.
var ends = func() (ends [256]uint8) {
	for i := range ends {
		c := byte(i)
		switch {
		case isLetter(c):
			ends[i] = begins
			if c|0x20 != 'm' && c != 'T' && c != 'C' {
				ends[i] |= closes
			}
		case c >= 0xc3 && c != 0xd9 && c != 0xdb && c != 0xe0 && c != 0xe2 && c != 0xef:
			ends[i] = begins
		}
	}
	return ends
}()
