package database

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/feedmill/feedmill"
)

// maskStep is how many connections MaskErrors takes in one go.
const maskStep = 20

// masking is how far a round of MaskErrors has come.
type masking struct {
	// after is the last connection that was tried.
	after feedmill.Connection
	// failed counts the connections whose secrets cannot be read, and first is the error of the
	// first of them.
	failed int
	first  error
}

// MaskErrors masks the secrets of some connections in errors that an earlier release stored, and
// reports whether there are more. A connection whose secrets cannot be read is skipped until the
// next round; the end of a round logs how many there were. Only one goroutine may call it.
func (c *Connections) MaskErrors(ctx context.Context) (more bool, err error) {
	connections, err := c.Store.UnmaskedConnections(ctx, c.masking.after, maskStep)
	if err != nil {
		return false, fmt.Errorf("mask stored errors: %w", err)
	}
	for _, of := range connections {
		mask, err := c.secretsMask(ctx, of)
		switch {
		case ctx.Err() != nil:
			return false, fmt.Errorf("mask stored errors: %w", ctx.Err())
		case err != nil:
			c.masking.failed++
			if c.masking.first == nil {
				c.masking.first = fmt.Errorf("decrypt the secrets of %s: %w", of.ID, err)
			}
		default:
			if err := c.Store.MaskErrors(ctx, of.Workspace, of.ID, mask); err != nil {
				return false, fmt.Errorf("mask stored errors: %w", err)
			}
		}
		c.masking.after = of
	}
	if len(connections) == maskStep {
		return true, nil
	}
	if c.masking.failed > 0 {
		c.Log.Warn("stored errors of connections cannot be masked because their secrets cannot be decrypted; the errors can contain secrets", "connections", c.masking.failed, "error", c.masking.first)
	}
	c.masking = masking{}
	return false, nil
}

// secretsMask returns a function that hides the secrets of a connection in a text.
func (c *Connections) secretsMask(ctx context.Context, of feedmill.Connection) (func(string) string, error) {
	plain, err := c.Vault.Unseal(ctx, of.Secrets, of.SecretsRecord())
	if err != nil {
		return nil, err
	}
	var named map[string]string
	if err := json.Unmarshal(plain, &named); err != nil {
		return nil, errors.New("they are not an object of strings") // the error of json could quote them
	}
	return func(text string) string {
		for _, secret := range named {
			text = hide(text, secret)
		}
		return text
	}, nil
}
