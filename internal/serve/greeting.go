package serve

import (
	"fmt"
	"io"
)

// Greeting is what the server prints at start. Key and Link are only set at the first
// start; the link signs in once.
type Greeting struct{ Version, URL, Data, Key, Link string }

// Print writes the greeting to out.
func (g Greeting) Print(out io.Writer) {
	fmt.Fprintf(out, "Feedmill %s is listening on %s (data in %s)\n", g.Version, g.URL, g.Data)
	if g.Key == "" {
		fmt.Fprintf(out, "Open %s/ui/ in a browser.\n", g.URL)
		return
	}
	fmt.Fprintf(out, `
Your admin key, shown only once:

  %s

Open this link in a browser to sign in; it works only once:

  %s/ui/first?link=%s

Three more things to try:

  export FEEDMILL_API_KEY=%s
  curl -H "Authorization: Bearer $FEEDMILL_API_KEY" %s/keys
  curl %s/readyz          # and open %s/docs in a browser

`, g.Key, g.URL, g.Link, g.Key, g.URL, g.URL, g.URL)
}
