// Package picture draws charts as SVG: as a picture of its own, and as the parts of which a page makes one.
package picture
