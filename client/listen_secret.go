package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"

	"github.com/feedmill/feedmill"
)

// ListenSecret is a signing secret for the listeners of this client: the same for each server
// and credential, and no hint of the credential.
func (c *Client) ListenSecret() string {
	mac := hmac.New(sha256.New, []byte(c.key))
	mac.Write([]byte("feedmill listen secret\x00" + c.base))
	return feedmill.SecretPrefix + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
