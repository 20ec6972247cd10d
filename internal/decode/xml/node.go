package xml

// node is a place in the document: an element by its name and by those around it, whatever
// number of elements stand there.
type node struct {
	parent *node
	// name is the name as it is spelled; local and space are what is behind its prefix
	// and what that means at the first element.
	name, prefix, local, space string
	// order is that in which the nodes and attributes first appear.
	order    int
	depth    int
	children []*node
	byName   map[string]*node
	// spelled is the name that was met last, and first and next are the nodes that are
	// expected: the first child and the next sibling of the last time. After is what followed
	// an element before.
	spelled     *Name
	first, next *node
	after       follows[node]
	attributes  []*nodeAttribute
	attribute   map[string]*nodeAttribute

	// count is how many elements stand here, most how many of them stand in one
	// element, and bytes how long all are together.
	count, most, bytes int64
	// largest is how long the longest is, and largestAt where it begins.
	largest, largestAt int64
	// text says that an element has text of its own, which textOrder puts in order.
	text      bool
	textOrder int
	// in is the element around that run of these elements stand in.
	in, run int64

	// taken is how far the path leads here. A record node has records, and a lost
	// one leads to none.
	taken        uint64
	record, lost bool
	// leads says that records are here or below.
	leads bool
}

// nodeAttribute is an attribute of the elements of a node.
type nodeAttribute struct {
	name    string
	spelled *Name
	kind    attributeKind
	order   int
}

// attributeKind is what an attribute is about.
type attributeKind uint8

const (
	dataAttribute   attributeKind = iota
	markupAttribute               // it is about the markup, such as the type of an element
	nilAttribute                  // it says that the element is null
	spaceAttribute                // it says whether white space counts
)

const (
	instanceSpace = "http://www.w3.org/2001/XMLSchema-instance"
	odataSpace    = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
	odata4Space   = "http://docs.oasis-open.org/odata/ns/metadata"
)

// kindOf is what an attribute of a name is about.
func kindOf(name *Name) attributeKind {
	switch name.Space {
	case "":
		return dataAttribute
	case instanceSpace:
		if name.Local == "nil" {
			return nilAttribute
		}
		return markupAttribute
	case odataSpace, odata4Space:
		switch name.Local {
		case "null":
			return nilAttribute
		case "type":
			return markupAttribute
		}
	case xmlSpace:
		if name.Local == "space" {
			return spaceAttribute
		}
	}
	return dataAttribute
}

// isTrue reports whether an attribute that says yes or no says yes.
func isTrue(value []byte) bool { return string(value) == "true" || string(value) == "1" }

// begin notes that an element begins here, in one that stands at the node around.
func (n *node) begin(around *node) {
	n.count++
	if in := around.count; n.in != in || n.run == 0 {
		n.in, n.run = in, 0
	}
	n.run++
	n.most = max(n.most, n.run)
}

// path is the way to the node, as a client can write it.
func (n *node) path() string {
	if n.parent == nil {
		return ""
	}
	return n.parent.path() + "/" + n.name
}

// hasData reports whether the elements have attributes or elements in them.
func (n *node) hasData() bool {
	if len(n.children) > 0 {
		return true
	}
	for _, a := range n.attributes {
		if a.kind == dataAttribute {
			return true
		}
	}
	return false
}

// repeats reports whether several of the elements stand in one.
func (n *node) repeats() bool { return n.most > 1 }
