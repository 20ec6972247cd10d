package record

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

func processReport(r *feedmill.ProcessReport, k Kinds) []any {
	return []any{&r.Process, k.Time(&r.At), &r.Text}
}

// ReportProcess writes what a process says of itself, in place of what it said before,
// and a point of what it did, where there is one. What is too old goes.
func (s Store) ReportProcess(ctx context.Context, report feedmill.ProcessReport, point *feedmill.ProcessReport) error {
	const put = `INSERT INTO processes (process, at, report) VALUES (?1, ?2, ?3) ON CONFLICT (process) DO UPDATE SET at = excluded.at, report = excluded.report`
	all := []Statement{{put, processReport(&report, s.d)}}
	if point != nil {
		old := s.time(point.At.Add(-feedmill.KeepProcessPoints))
		all = append(all,
			Statement{`INSERT INTO process_points (process, at, report) VALUES (?1, ?2, ?3) ON CONFLICT (at, process) DO UPDATE SET report = excluded.report`, processReport(point, s.d)},
			Statement{`DELETE FROM process_points WHERE at < ?1`, []any{old}},
			Statement{`DELETE FROM processes WHERE at < ?1`, []any{old}})
	}
	return s.db.Write(ctx, func(tx Tx) error { return tx.Send(ctx, all...) })
}

// ForgetProcess removes what a process that ends has said of itself. Its points stay.
func (s Store) ForgetProcess(ctx context.Context, process string) error {
	return s.db.Write(ctx, func(tx Tx) error {
		return tx.Send(ctx, Statement{`DELETE FROM processes WHERE process = ?1`, []any{process}})
	})
}

// Processes are those that have said something of themselves since a time.
func (s Store) Processes(ctx context.Context, since time.Time) ([]feedmill.ProcessReport, error) {
	return list(ctx, s.db, s, processReport, `SELECT process, at, report FROM processes WHERE at >= ?1 ORDER BY process`, s.time(since))
}

// ProcessPoints are the points of all processes since a time, oldest first.
func (s Store) ProcessPoints(ctx context.Context, since time.Time) ([]feedmill.ProcessReport, error) {
	return list(ctx, s.db, s, processReport, `SELECT process, at, report FROM process_points WHERE at >= ?1 ORDER BY at, process`, s.time(since))
}
