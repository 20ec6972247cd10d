package feed

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
)

// A cursor has values of the feed in it and goes into a query. So it is sealed:
// nobody reads it, and nobody makes one up.

func cursorRecord(v feedmill.FeedVersion) string { return "cursor/" + string(v.Feed) }

// sealCursor is a cursor as clients carry it.
func (m *Mill) sealCursor(v feedmill.FeedVersion, c lake.Cursor) (string, error) {
	sealed, err := m.Vault.Seal([]byte(c.String()), cursorRecord(v))
	if err != nil {
		return "", fmt.Errorf("seal a cursor: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// openCursor reads what sealCursor made; nil where no cursor is given.
func (m *Mill) openCursor(ctx context.Context, v feedmill.FeedVersion, text string) (*lake.Cursor, error) {
	if text == "" {
		return nil, nil
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, noCursor()
	}
	plain, err := m.Vault.Unseal(ctx, sealed, cursorRecord(v))
	if errors.Is(err, feedmill.ErrUnavailable) || ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		return nil, noCursor()
	}
	cursor, err := lake.ParseCursor(string(plain))
	if err != nil {
		return nil, noCursor()
	}
	return cursor, nil
}

func noCursor() error {
	return feedmill.Invalid("", feedmill.Fault{Parameter: "cursor", Detail: "cursor is not valid for this feed. Use the cursor from the previous page's Link header."})
}
