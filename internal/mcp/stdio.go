package mcp

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/feedmill/feedmill"
)

// Remote is the server that a process calls for an assistant on the same machine.
type Remote struct {
	// Server is its address, such as http://127.0.0.1:8080, and Key an API key.
	Server, Key string
	// Version is that of the program, which the assistant and the server learn.
	Version string
}

// Serve serves the protocol on standard input and output until the input ends or ctx does. A
// server that refuses the key is an error before the first message.
func (o Remote) Serve(ctx context.Context) error {
	a := &api{
		base: strings.TrimSuffix(o.Server, "/"), authorization: "Bearer " + o.Key, agent: "feedmill-mcp/" + o.Version, until: ctx,
		http: &http.Client{Timeout: responseTimeout, CheckRedirect: noRedirects},
	}
	scopes, refusal, err := a.scopes(ctx)
	if err != nil {
		return err
	}
	if refusal != nil {
		return refused(refusal)
	}
	err = a.server(o.Version, slices.Contains(scopes, feedmill.ScopeWrite)).Run(ctx, &sdk.StdioTransport{})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("standard input or output: %w", err)
	}
	return ctx.Err()
}
