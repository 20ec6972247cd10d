package table

import (
	"math/rand/v2"
	"strconv"
)

// order is a row as people have them: of all types, with leading zeros, line
// breaks and quotes in text, and empty fields.
type order struct {
	id       int64
	customer int
	zip      int
	cents    int
	quantity int
	paid     bool
	day      int
	second   int
	city     string
	note     string
	// weight is in tenths of a gram, and zero where it is not known.
	weight int
	code   int
}

var (
	cities = []string{"Paris", "Lyon", "Köln", "San Francisco", "Łódź", "Aarhus"}
	notes  = []string{"ordered by telephone", "leave it at the door,\nand ring twice", `the "large" one, please`, "", "a present", "call before delivery"}
)

func newOrder(random *rand.Rand, id int64) order {
	x, y := random.Uint64(), random.Uint64()
	// take uses up some of the bits.
	take := func(bits *uint64, n uint64) int {
		v := *bits % n
		*bits /= n
		return int(v)
	}
	return order{
		id: id, customer: take(&x, 100_000), zip: take(&x, 100_000), cents: take(&x, 1_000_000), quantity: take(&x, 50),
		paid: y&1 == 0, day: take(&y, 336), second: take(&y, 86_400), city: cities[take(&y, 6)], note: notes[take(&y, 6)],
		weight: take(&y, 7) * take(&y, 100_000), code: take(&y, 26_000),
	}
}

// Mixed is a table of many types as CSV.
var Mixed = Kind{
	Name: "mixed", Format: "csv",
	Check:  orderCheck,
	header: "id,customer,zip,amount,quantity,paid,day,placed_at,city,note,weight,code\n",
	row: func(dst []byte, random *rand.Rand, id int64) []byte {
		o := newOrder(random, id)
		dst = strconv.AppendInt(dst, o.id, 10)
		dst = strconv.AppendInt(append(dst, ",customer-"...), int64(o.customer), 10)
		dst = appendPadded(append(dst, ','), o.zip, 5)
		dst = appendCents(append(dst, ','), o.cents)
		dst = strconv.AppendInt(append(dst, ','), int64(o.quantity), 10)
		dst = strconv.AppendBool(append(dst, ','), o.paid)
		dst = appendDay(append(dst, ','), o.day)
		dst = appendTime(append(dst, ','), o.day, o.second)
		dst = append(append(dst, ','), o.city...)
		dst = appendQuoted(append(dst, ','), o.note)
		dst = append(dst, ',')
		if o.weight > 0 {
			dst = appendTenths(dst, o.weight)
		}
		dst = append(dst, ',', 'A'+byte(o.code%26))
		dst = strconv.AppendInt(dst, int64(o.code/26), 10)
		return append(dst, '\n')
	},
}

// Objects is the same table as NDJSON.
var Objects = Kind{
	Name: "ndjson", Format: "ndjson",
	Check: orderCheck,
	row: func(dst []byte, random *rand.Rand, id int64) []byte {
		o := newOrder(random, id)
		dst = strconv.AppendInt(append(dst, `{"id":`...), o.id, 10)
		dst = strconv.AppendInt(append(dst, `,"customer":"customer-`...), int64(o.customer), 10)
		dst = appendPadded(append(dst, `","zip":"`...), o.zip, 5)
		dst = appendCents(append(dst, `","amount":`...), o.cents)
		dst = strconv.AppendInt(append(dst, `,"quantity":`...), int64(o.quantity), 10)
		dst = strconv.AppendBool(append(dst, `,"paid":`...), o.paid)
		dst = appendDay(append(dst, `,"day":"`...), o.day)
		dst = appendTime(append(dst, `","placed_at":"`...), o.day, o.second)
		dst = append(append(dst, `","city":"`...), o.city...)
		dst = append(dst, `","note":`...)
		if o.note == "" {
			dst = append(dst, "null"...)
		} else {
			dst = strconv.AppendQuote(dst, o.note) // of these texts it makes JSON
		}
		dst = append(dst, `,"weight":`...)
		if o.weight > 0 {
			dst = appendTenths(dst, o.weight)
		} else {
			dst = append(dst, "null"...)
		}
		dst = append(append(dst, `,"code":"`...), 'A'+byte(o.code%26))
		dst = strconv.AppendInt(dst, int64(o.code/26), 10)
		return append(dst, "\"}\n"...)
	},
}

// Document is the same table as one JSON array.
var Document = Kind{
	Name: "json", Format: "json",
	Check:  orderCheck,
	header: "[\n", footer: "]\n",
	row: func(dst []byte, random *rand.Rand, id int64) []byte {
		if id > 1 {
			dst = append(dst, ',')
		}
		return Objects.row(dst, random, id)
	},
}

// Elements is the same table as XML.
var Elements = Kind{
	Name: "xml", Format: "xml",
	Check:  orderCheck,
	header: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<orders>\n", footer: "</orders>\n",
	row: func(dst []byte, random *rand.Rand, id int64) []byte {
		o := newOrder(random, id)
		dst = strconv.AppendInt(append(dst, "  <order>\n    <id>"...), o.id, 10)
		dst = strconv.AppendInt(append(dst, "</id>\n    <customer>customer-"...), int64(o.customer), 10)
		dst = appendPadded(append(dst, "</customer>\n    <zip>"...), o.zip, 5)
		dst = appendCents(append(dst, "</zip>\n    <amount>"...), o.cents)
		dst = strconv.AppendInt(append(dst, "</amount>\n    <quantity>"...), int64(o.quantity), 10)
		dst = strconv.AppendBool(append(dst, "</quantity>\n    <paid>"...), o.paid)
		dst = appendDay(append(dst, "</paid>\n    <day>"...), o.day)
		dst = appendTime(append(dst, "</day>\n    <placed_at>"...), o.day, o.second)
		dst = append(append(dst, "</placed_at>\n    <city>"...), o.city...)
		dst = append(append(dst, "</city>\n    <note>"...), o.note...)
		dst = append(dst, "</note>\n    <weight>"...)
		if o.weight > 0 {
			dst = appendTenths(dst, o.weight)
		}
		dst = append(append(dst, "</weight>\n    <code>"...), 'A'+byte(o.code%26))
		dst = strconv.AppendInt(dst, int64(o.code/26), 10)
		return append(dst, "</code>\n  </order>\n"...)
	},
}

// orderCheck sums up what both sides must have read alike. Leading zeros are
// not in it: DuckDB takes a column of such digits for numbers.
const orderCheck = "count(*)::BIGINT, sum(id)::BIGINT, sum(CAST(amount * 100 AS BIGINT))::BIGINT, count(weight)::BIGINT, " +
	"sum(CAST(paid AS BIGINT))::BIGINT, sum(epoch_us(placed_at) // 1000000)::BIGINT, sum(hash(note) % 1000003)::BIGINT, sum(hash(customer) % 1000003)::BIGINT"
