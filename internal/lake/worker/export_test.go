package worker

import (
	"io"
	"regexp"
	"strconv"

	"github.com/feedmill/feedmill/internal/lake/wire"
)

// Bare is a database in this process, to compare with: it fetches all rows of
// a query and does nothing with them.
func Bare(folder string) (query func(sql string, args []string) (int, error), closeIt func(), err error) {
	d, err := open(wire.Hello{Folder: folder, Memory: 512 << 20, Threads: 2})
	if err != nil {
		return nil, nil, err
	}
	return func(sql string, args []string) (int, error) {
		r, err := d.query(sql, args, false)
		if err != nil {
			return 0, err
		}
		defer r.close()
		rows := 0
		for {
			n, err := r.next()
			if err != nil || n == 0 {
				return rows, err
			}
			rows += n
		}
	}, d.close, nil
}

// MainOfFree is [Main] with a database that is not kept from anything, so that only
// the kernel keeps it.
func MainOfFree() error {
	return serveSocket(func(conn io.ReadWriter) error {
		return run(conn, func(h wire.Hello) (engine, error) { return openFree(h) })
	})
}

// SheetRows is how many rows a sheet can have, and SmallSheet how many those of
// [MainOfSmallSheets].
var SheetRows = sheetRows

const SmallSheet = 10_000

// MainOfSmallSheets is [Main] with sheets that are soon full.
func MainOfSmallSheets() error {
	sheetRows = SmallSheet
	return Main()
}

// escape is how a cell's text has a character by its number.
var escape = regexp.MustCompile(`_x([0-9A-Fa-f]{4})_`)

// Unescape is the text of a cell as a spreadsheet shows it.
func Unescape(text string) string {
	return escape.ReplaceAllStringFunc(text, func(found string) string {
		code, err := strconv.ParseUint(found[2:6], 16, 16)
		if err != nil {
			panic(err) // the pattern takes hexadecimal digits alone
		}
		return string(rune(code))
	})
}
