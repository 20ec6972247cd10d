// Package docs holds the documentation, so that the server can serve it without other files.
package docs

import (
	"embed"
	"strings"
	"unicode"
)

// Files are the pages, as Markdown. The README of a folder is its index.
//
//go:embed *.md */*.md
var Files embed.FS

// Anchor returns the fragment that links to a heading. It is the one that GitHub uses.
func Anchor(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(heading)) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}
