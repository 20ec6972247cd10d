package xml

import (
	"fmt"
	"io"
	"strings"
)

// tokensOf writes what a reader of the document gives, with neighbouring text in one. Text right
// before a fault is left out, because it depends on the blocks that are read whether it comes.
func tokensOf(r *Reader) (string, error) {
	var out, text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			fmt.Fprintf(&out, "%q", text.String())
			text.Reset()
		}
	}
	for {
		kind, err := r.Next()
		if kind == Text {
			text.Write(r.Text())
			continue
		}
		if err == io.EOF {
			return out.String(), nil
		}
		if err != nil {
			return out.String(), err
		}
		flush()
		if kind == EndElement {
			fmt.Fprintf(&out, "</%s>", expandedText(r.Name()))
			continue
		}
		fmt.Fprintf(&out, "<%s", expandedText(r.Name()))
		for _, a := range r.Attributes() {
			fmt.Fprintf(&out, " %s=%q", expandedText(a.Name), a.Value)
		}
		out.WriteString(">")
	}
}

// expandedText is a name with its namespace.
func expandedText(n *Name) string {
	if n.Space == "" {
		return n.Local
	}
	return "{" + n.Space + "}" + n.Local
}
