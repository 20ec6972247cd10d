package worker

import "github.com/feedmill/feedmill/internal/lake/wire"

// Bare is a database in this process, to compare with: it fetches all rows of
// a query and does nothing with them.
func Bare(folder string) (query func(sql string, args []string) (int, error), closeIt func(), err error) {
	d, err := open(wire.Hello{Folder: folder, Memory: 512 << 20, Threads: 2})
	if err != nil {
		return nil, nil, err
	}
	return func(sql string, args []string) (int, error) {
		r, err := d.query(sql, args)
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
