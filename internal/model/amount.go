package model

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The formats of columns whose values are written with more than digits. Amounts
// of money have their currency as it is written, such as € or USD.
const (
	formatPercent    = "percent"
	formatAccounting = "accounting"
)

// amount is a number with what may stand around it.
type amount struct {
	number
	text     []byte // of the number alone, without a sign
	negative bool
	// unit is the currency as it is written, or percent, or empty.
	unit string
	// brackets says that it stands in the parentheses by which accountants
	// write negative amounts.
	brackets bool
}

// readAmount reads a number with its sign, a currency or a percent sign on one
// side of it, and parentheses.
func readAmount(text []byte) (a amount, ok bool) {
	a.text = text
	if len(text) == 0 {
		return a, false
	}
	a.sign()
	if inner, found := bytes.CutPrefix(a.text, []byte("(")); found && !a.negative {
		if inner, found = bytes.CutSuffix(inner, []byte(")")); !found {
			return a, false
		}
		a.text, a.negative, a.brackets = trim(inner), true, true
	}
	if !a.takeUnit() {
		return a, false
	}
	if a.unit != "" && !a.negative {
		a.sign()
		if inner, found := bytes.CutPrefix(a.text, []byte("(")); found && !a.negative {
			if inner, found = bytes.CutSuffix(inner, []byte(")")); !found {
				return a, false
			}
			a.text, a.negative, a.brackets = trim(inner), true, true
		}
	}
	a.number, ok = readNumber(a.text)
	if a.exponent && (a.unit != "" || a.brackets) {
		return a, false
	}
	return a, ok
}

// sign takes a minus off the number.
func (a *amount) sign() {
	if rest, found := bytes.CutPrefix(a.text, []byte("-")); found {
		a.text, a.negative = rest, true
	}
}

// takeUnit takes what is not part of the number off one of its sides. It
// reports false where that is no unit.
func (a *amount) takeUnit() bool {
	first := bytes.IndexAny(a.text, "0123456789.-(")
	last := bytes.LastIndexAny(a.text, "0123456789)")
	if first < 0 || last < first {
		return false
	}
	before, after := a.text[:first], a.text[last+1:]
	a.text = a.text[first : last+1]
	switch {
	case len(before) > 0 && len(after) > 0:
		return false
	case len(before) > 0:
		a.unit = string(trim(before))
		return isCurrency(a.unit, len(a.unit) < len(before))
	case len(after) > 0 && string(trim(after)) == "%":
		a.unit = formatPercent
	case len(after) > 0:
		a.unit = string(trim(after))
		return isCurrency(a.unit, len(a.unit) < len(after))
	}
	return true
}

// isCurrency reports whether a text is the sign of a currency, perhaps with the
// letters of a country, such as $ or US$, or a code of three letters. A code
// stands apart from the number: CAD100 may be the name of a thing.
func isCurrency(text string, apart bool) bool {
	letters, signs := 0, 0
	for _, r := range text {
		switch {
		case 'A' <= r && r <= 'Z':
			letters++
		case unicode.Is(unicode.Sc, r):
			signs++
		default:
			return false
		}
	}
	if signs == 0 {
		return apart && letters == 3 && strings.Contains(currencies, text)
	}
	return signs == 1 && letters <= 3
}

// currencies are the codes of ISO 4217 that are in use.
const currencies = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY COP CRC " +
	"CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES " +
	"KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR " +
	"PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD " +
	"TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG"

// trim takes spaces off both sides, of the widths that stand in numbers.
func trim(text []byte) []byte {
	for len(text) > 0 {
		if text[0] == ' ' {
			text = text[1:]
		} else if r, size := utf8.DecodeRune(text); r == '\u00a0' || r == '\u202f' {
			text = text[size:]
		} else {
			break
		}
	}
	for len(text) > 0 {
		if text[len(text)-1] == ' ' {
			text = text[:len(text)-1]
		} else if r, size := utf8.DecodeLastRune(text); r == '\u00a0' || r == '\u202f' {
			text = text[:len(text)-size]
		} else {
			break
		}
	}
	return text
}
