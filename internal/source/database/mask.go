package database

import (
	"context"
	"encoding/json"
	"fmt"
)

// maskStep is how many connections MaskErrors takes in one go.
const maskStep = 20

// MaskErrors masks the secrets of some connections in errors that an earlier release stored, and
// reports whether there are more.
func (c *Connections) MaskErrors(ctx context.Context) (more bool, err error) {
	connections, err := c.Store.UnmaskedConnections(ctx, maskStep)
	if err != nil {
		return false, fmt.Errorf("mask stored errors: %w", err)
	}
	for _, of := range connections {
		plain, err := c.Vault.Unseal(ctx, of.Secrets, of.SecretsRecord())
		if err != nil {
			return false, fmt.Errorf("mask stored errors: the secrets of a connection: %w", err)
		}
		var named map[string]string
		if err := json.Unmarshal(plain, &named); err != nil {
			return false, fmt.Errorf("mask stored errors: the secrets of a connection: %w", err)
		}
		mask := func(text string) string {
			for _, secret := range named {
				text = hide(text, secret)
			}
			return text
		}
		if err := c.Store.MaskErrors(ctx, of.Workspace, of.ID, mask); err != nil {
			return false, fmt.Errorf("mask stored errors: %w", err)
		}
	}
	return len(connections) == maskStep, nil
}
