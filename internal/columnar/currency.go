package columnar

import (
	"strings"
	"unicode"
)

// IsCurrency reports whether a text is the sign of a currency, perhaps with the
// letters of a country, such as $ or US$, or a code of three letters. A code
// stands apart from the number: CAD100 may be the name of a thing.
func IsCurrency(text string, apart bool) bool {
	switch text {
	// Those of letters that are no code, or no code of capitals.
	case "kr", "kr.", "Kr", "Kr.", "Ft", "Fr", "Fr.", "SFr", "SFr.", "Rs", "Rs.", "Rp", "Rp.", "Bs", "Bs.", "lei", "TL", "RM",
		"din", "din.", "RMB", "NTD", "Euro", "euro", "EURO", "eur", "Eur", "usd", "gbp", "chf":
		return apart
	// Those of letters that are not ASCII, which nobody takes for part of the name of a thing.
	case "Kč", "zł", "руб", "руб.", "р.", "лв", "лв.", "грн", "грн.", "дин", "дин.", "ден", "ден.", "сом", "сум", "тг", "тенге",
		"円", "圓", "元", "人民币", "원", "บาท", "đ", "đồng", "₫", "د.إ", "ر.س", "﷼", "دينار", "ريال", "درهم":
		return true
	}
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
