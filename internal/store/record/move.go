package record

import (
	"context"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
)

// FileLocation returns the id of the location that the files of this store were moved to, and its
// address. Both are empty for files that were never moved.
func (s Store) FileLocation(ctx context.Context) (location, place string, err error) {
	err = s.db.One(ctx, `SELECT location, place FROM store_identity WHERE only_row = 1`, nil, &location, &place)
	if errors.Is(err, feedmill.ErrNotFound) {
		return "", "", nil
	}
	return location, place, err
}

// CloseFiles refuses new files until [Store.OpenFiles] or [Store.EndMove] of the same move, or
// until a lease ends. It replaces an interrupted move to the same target; another move that is
// running is [feedmill.ErrConflict].
func (s Store) CloseFiles(ctx context.Context, move, target string, lease time.Duration) error {
	return s.db.Write(ctx, func(tx Tx) error {
		n, err := tx.Run(ctx, `UPDATE store_identity SET moving = ?2 || ' ' || ?1, moving_until = `+s.d.Plus(s.d.Now, lease)+`
			WHERE only_row = 1 AND (moving = '' OR moving LIKE ?2 || ' %' OR moving_until <= `+s.d.Now+`)`, move, target)
		return orNone(n, err, feedmill.ErrConflict)
	})
}

// KeepClosed extends the lease of [Store.CloseFiles]. If it has ended, it is [feedmill.ErrConflict].
func (s Store) KeepClosed(ctx context.Context, move, target string, lease time.Duration) error {
	return s.db.Write(ctx, func(tx Tx) error {
		n, err := tx.Run(ctx, `UPDATE store_identity SET moving_until = `+s.d.Plus(s.d.Now, lease)+` WHERE only_row = 1 AND moving = ?2 || ' ' || ?1`, move, target)
		return orNone(n, err, feedmill.ErrConflict)
	})
}

// OpenFiles ends what [Store.CloseFiles] of a move began.
func (s Store) OpenFiles(ctx context.Context, move, target string) error {
	return s.db.Write(ctx, func(tx Tx) error {
		return tx.Send(ctx, Statement{`UPDATE store_identity SET moving = '' WHERE only_row = 1 AND moving = ?2 || ' ' || ?1`, []any{move, target}})
	})
}

// LoseWriting gives up files whose writers have not renewed their lease for so long, so that no
// record can name them. It returns how many files are still being written.
func (s Store) LoseWriting(ctx context.Context, lease time.Duration) (writing int, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		err := tx.Send(ctx, Statement{`UPDATE objects SET state = 'deleting', holder = '', since = ` + s.d.Now + ` WHERE state = 'writing' AND ` + s.d.Plus("since", lease) + ` <= ` + s.d.Now, nil})
		if err != nil {
			return err
		}
		return tx.One(ctx, `SELECT count(*) FROM objects WHERE state = 'writing'`, nil, &writing)
	})
	return writing, err
}

// StoredObjects lists files behind a name that a record has, or that could get a record again.
func (s Store) StoredObjects(ctx context.Context, after string, limit int) (names []string, err error) {
	err = s.db.Each(ctx, scanNames(&names), `SELECT file FROM objects WHERE file > ?1 AND state NOT IN ('writing', 'deleting', 'deleted') ORDER BY file LIMIT ?2`, after, limit)
	return names, err
}

// EndMove records that the files of this store are at another location. Servers that use the
// former one can write no files any more. It is [feedmill.ErrConflict] if files were accepted
// since [Store.CloseFiles], or if the files were moved meanwhile.
func (s Store) EndMove(ctx context.Context, move, from, to, place string) error {
	return s.db.Write(ctx, func(tx Tx) error {
		// Files that are being recorded are counted, because their writers share the lock.
		if err := s.lock(ctx, tx, `store_identity`); err != nil {
			return err
		}
		var writing int
		if err := tx.One(ctx, `SELECT count(*) FROM objects WHERE state = 'writing'`, nil, &writing); err != nil {
			return err
		}
		n, err := tx.Run(ctx, `UPDATE store_identity SET location = ?3, place = ?4, moving = '' WHERE only_row = 1 AND moving = ?3 || ' ' || ?1 AND location = ?2`, move, from, to, place)
		if err := orNone(n, err, feedmill.ErrConflict); err != nil {
			return err
		}
		if writing > 0 {
			return feedmill.ErrConflict
		}
		// The metadata of tables has the location. It is written anew, for the new one.
		return tx.Send(ctx, forgetTables...)
	})
}

// mayWrite holds that a process may write a file at a location: that the files of the store are
// there, and are not about to be moved. Until the end of the transaction they are not moved.
func (s Store) mayWrite(ctx context.Context, tx Tx, location string) error {
	var at, moving string
	var closed bool
	err := tx.One(ctx, `SELECT location, moving, moving_until > `+s.d.Now+` FROM store_identity WHERE only_row = 1`+s.d.ForShare, nil, &at, &moving, &closed)
	switch {
	case errors.Is(err, feedmill.ErrNotFound):
		return nil
	case err != nil:
		return err
	case at != location:
		return errMoved
	case moving != "" && closed:
		return errMoving
	case moving != "":
		return errStaleMove
	}
	return nil
}

// Why a file cannot be written. They are not [feedmill.ErrUnavailable], which would end the changes
// that share the transaction.
var (
	errMoved     = errors.New("the files were moved")
	errMoving    = errors.New("the files are being moved")
	errStaleMove = errors.New("a move of the files has ended without a result")
)

// refusedWrite is the error of a file that cannot be written, as clients see it.
func refusedWrite(err error) error {
	refusal := feedmill.Error{Kind: feedmill.ErrUnavailable, Type: "storage-unavailable", Title: "The file storage is not available", Transient: true}
	switch {
	case errors.Is(err, errMoved):
		refusal.Detail = "The files of feeds were moved to another location, and this server uses the former one. The operator must restart it with the new location."
	case errors.Is(err, errMoving):
		refusal.Detail, refusal.RetryAfter = "The files of feeds are being moved to another location. Nothing was changed. Retry in a few seconds.", 5*time.Second
	default:
		return err
	}
	return &refusal
}

// endStaleMove ends a move whose lease has ended, so that it cannot succeed after files were written.
func (s Store) endStaleMove(ctx context.Context) error {
	return s.db.Write(ctx, func(tx Tx) error {
		return tx.Send(ctx, Statement{`UPDATE store_identity SET moving = '' WHERE only_row = 1 AND moving_until <= ` + s.d.Now, nil})
	})
}
