package record

import (
	"context"
	"slices"
	"time"
)

// TakePermit takes the first free permit of a pool, in the order from the first number to the
// last, which may be lower. The ticket identifies the permit and is used only once. TakePermit
// reports whether a permit was free.
func (s Store) TakePermit(ctx context.Context, pool string, first, last int, holder, ticket string, lease time.Duration) (taken bool, err error) {
	var held []int
	err = s.db.Each(ctx, func(row Row) error {
		var number int
		err := row.Scan(&number)
		held = append(held, number)
		return err
	}, `SELECT number FROM permits WHERE pool = ?1 AND until > `+s.d.Now, pool)
	if err != nil {
		return false, err
	}
	step := 1
	if last < first {
		step = -1
	}
	for number := first; !taken && number != last+step; number += step {
		if slices.Contains(held, number) {
			continue
		}
		err := s.db.Write(ctx, func(tx Tx) error {
			n, err := tx.Run(ctx, `INSERT INTO permits (pool, number, ticket, holder, until) VALUES (?1, ?2, ?3, ?4, `+s.d.Plus(s.d.Now, lease)+`)
				ON CONFLICT (pool, number) DO UPDATE SET ticket = excluded.ticket, holder = excluded.holder, until = excluded.until WHERE permits.until <= `+s.d.Now,
				pool, number, ticket, holder)
			taken = n == 1
			return err
		})
		if err != nil {
			return false, err
		}
	}
	return taken, nil
}

// ReleasePermit frees the permit of a ticket.
func (s Store) ReleasePermit(ctx context.Context, ticket string) error {
	return s.db.Write(ctx, func(tx Tx) error {
		return tx.Send(ctx, Statement{`DELETE FROM permits WHERE ticket = ?1`, []any{ticket}})
	})
}

// RenewPermits extends the permits of tickets, and removes permits that have expired.
func (s Store) RenewPermits(ctx context.Context, tickets []string, lease time.Duration) error {
	return s.db.Write(ctx, func(tx Tx) error {
		return tx.Send(ctx,
			Statement{`UPDATE permits SET until = ` + s.d.Plus(s.d.Now, lease) + ` WHERE ticket IN (SELECT name FROM ` + s.d.Names + ` n)`, []any{JSON(&tickets)}},
			Statement{`DELETE FROM permits WHERE until <= ` + s.d.Now, nil},
		)
	})
}

// ReleasePermits frees all permits of a holder.
func (s Store) ReleasePermits(ctx context.Context, holder string) error {
	return s.db.Write(ctx, func(tx Tx) error {
		return tx.Send(ctx, Statement{`DELETE FROM permits WHERE holder = ?1`, []any{holder}})
	})
}
