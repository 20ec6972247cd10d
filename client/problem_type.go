package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// ProblemType explains the problems of one type.
type ProblemType struct {
	Type  string `json:"type"`
	Title string `json:"title"`
	// Description says what happened, and Fix what to do next.
	Description string `json:"description"`
	Fix         string `json:"fix"`
}

// ProblemType explains the type of a [Problem], such as "/problems/not-found".
func (c *Client) ProblemType(ctx context.Context, name string) (ProblemType, error) {
	var out ProblemType
	_, err := c.call(ctx, http.MethodGet, "/problems/"+url.PathEscape(strings.TrimPrefix(name, "/problems/")), nil, &out)
	return out, err
}
