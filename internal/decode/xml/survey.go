package xml

import (
	"bytes"
	"fmt"
	"io"
)

// survey is the first look at a document: what elements stand where and how often, and some
// places where a later reading can begin. It tells where the records are and what is in them.
type survey struct {
	xml  *Reader
	path recordPath
	// document is the node around the root element.
	document *node
	open     []openNode
	// known counts the nodes and attributes.
	known, order int
	scratch      []byte

	follow follower[node]

	// marks are places about so many bytes from each other, and next is where the next is due.
	marks      []mark
	blockBytes int64
	next       int64
}

// openNode is an element that is open.
type openNode struct {
	node *node
	at   int64
	// last is the child that ended last.
	last *node
	text bool
	// keeps says that the element keeps its white space.
	keeps bool
}

const (
	// maxNodes is how many nodes and attributes a document can have.
	maxNodes = 80_000
	// fewNames is how many names are compared one by one.
	fewNames = 16
	// maxMarkDepth is how deep the records can be that are read in several blocks.
	maxMarkDepth = 32
)

// mark is a place in the document, by the elements that are open there.
type mark []markFrame

type markFrame struct {
	node *node
	at   int64
	tag  string
}

// surveyDocument reads a document to its end.
func surveyDocument(xml *Reader, path recordPath, blockBytes int64, tagByTag bool) (*survey, error) {
	s := &survey{xml: xml, path: path, document: &node{taken: 1}, blockBytes: blockBytes, next: blockBytes}
	s.follow.off = tagByTag
	s.open = append(s.open, openNode{node: s.document})
	xml.DropBlank = true
	for {
		kind, err := xml.Next()
		if err == io.EOF {
			return s, nil
		}
		if err != nil {
			return nil, err
		}
		switch kind {
		case StartElement:
			err = s.startElement()
		case EndElement:
			s.endElement()
		case Text:
			s.follow.cancel()
			top := &s.open[len(s.open)-1]
			top.text = top.text || !isBlank(xml.Text())
		}
		if err != nil {
			return nil, err
		}
	}
}

// isBlank reports whether a text is nothing but white space.
func isBlank(text []byte) bool {
	for _, c := range text {
		if classOf[c]&spaceByte == 0 {
			return false
		}
	}
	return true
}

// trimBlank takes white space off both ends of a text.
func trimBlank(text []byte) []byte {
	if len(text) > 0 && (classOf[text[0]]|classOf[text[len(text)-1]])&spaceByte != 0 {
		return bytes.Trim(text, " \t\n\r")
	}
	return text
}

// startElement notes an element.
func (s *survey) startElement() error {
	top := &s.open[len(s.open)-1]
	n, err := s.child(top, s.xml.Name())
	if err != nil {
		return err
	}
	top.last = n
	if n.lost {
		s.follow.cancel()
		return s.xml.Skip()
	}
	s.enter(top, n, s.xml.Offset())
	if attributes := s.xml.Attributes(); len(attributes) > 0 {
		s.follow.cancel()
		if err := s.noteAttributes(n, attributes); err != nil {
			return err
		}
	}
	if at := s.xml.Offset(); at >= s.next {
		s.mark(at)
	}
	s.follow.begin(n)
	followed := s.follow.passage(s.xml)
	if text, ok := s.xml.TextOnly(); ok {
		s.follow.remember(followed)
		s.leaf(text)
		s.passAlong(n)
	}
	return nil
}

// noteAttributes notes the attributes of the element that is open last.
func (s *survey) noteAttributes(n *node, attributes []Attribute) error {
	for i, a := range attributes {
		known, err := s.attribute(n, i, a.Name)
		if err != nil {
			return err
		}
		if known.kind == spaceAttribute {
			s.open[len(s.open)-1].keeps = string(a.Value) == "preserve"
		}
	}
	return nil
}

// enter opens an element.
func (s *survey) enter(around *openNode, n *node, at int64) {
	n.begin(around.node)
	s.open = append(s.open, openNode{node: n, at: at, keeps: around.keeps})
}

// leaf closes the innermost element, which has only a text.
func (s *survey) leaf(text []byte) {
	s.open[len(s.open)-1].text = len(text) > 0 && !isBlank(text)
	s.closeElement(s.xml.End())
}

// passAlong goes on behind an element of only text as long as what follows is known.
func (s *survey) passAlong(n *node) {
	for {
		end := s.xml.End()
		next, text, only := n.after.pass(s.xml)
		if next == nil {
			s.follow.start(&n.after, s.xml)
			return
		}
		for range next.ends {
			s.closeElement(end)
		}
		last := len(next.begins) - 1
		for _, n = range next.begins[:last] {
			top := &s.open[len(s.open)-1]
			top.last = n
			s.enter(top, n, s.xml.OpenAt(len(s.open)))
		}
		n = next.begins[last]
		top, at := &s.open[len(s.open)-1], s.xml.Offset()
		top.last = n
		if only && at < s.next { // as almost all are; such an element need not be opened
			n.begin(top.node)
			s.end(n, at, s.xml.End(), !n.text && !isBlank(text))
			continue
		}
		s.enter(top, n, at)
		if at >= s.next {
			s.mark(at)
		}
		if !only {
			return
		}
		s.leaf(text)
	}
}

// endElement notes the end of the innermost element.
func (s *survey) endElement() {
	s.follow.end()
	s.closeElement(s.xml.End())
}

// closeElement closes the innermost element.
func (s *survey) closeElement(end int64) {
	last := len(s.open) - 1
	ended := &s.open[last]
	s.end(ended.node, ended.at, end, ended.text)
	s.open = s.open[:last]
}

// end notes from where to where an element was, and whether it has text of its own.
func (s *survey) end(n *node, at, end int64, text bool) {
	size := end - at
	n.bytes += size
	if size > n.largest {
		n.largest, n.largestAt = size, at
	}
	if text && !n.text {
		n.text = true
		s.order++
		n.textOrder = s.order
	}
}

// child is the node of an element in the one that is open.
func (s *survey) child(top *openNode, name *Name) (*node, error) {
	expected := top.node.first
	if top.last != nil {
		expected = top.last.next
	}
	if expected != nil {
		if expected.spelled == name {
			return expected, nil
		}
		if expected.next != nil && expected.next.spelled == name {
			return expected.next, nil
		}
	}
	s.scratch = name.appendTo(s.scratch[:0])
	n := top.node.byName[string(s.scratch)]
	if n == nil {
		var err error
		if n, err = s.newNode(top.node, name); err != nil {
			return nil, err
		}
	}
	n.spelled = name
	if top.last == nil {
		top.node.first = n
	} else {
		top.last.next = n
	}
	return n, nil
}

// newNode adds a node.
func (s *survey) newNode(parent *node, name *Name) (*node, error) {
	if err := s.count(); err != nil {
		return nil, err
	}
	n := &node{
		parent: parent, name: string(s.scratch), prefix: name.Prefix, local: name.Local, space: name.Space,
		order: s.order, depth: parent.depth + 1,
	}
	if s.path != nil && parent.taken != 0 {
		n.taken = s.path.next(parent.taken, name.Prefix, name.Local)
		if n.record = s.path.complete(n.taken); n.record {
			n.taken = 0 // what is in a record belongs to it
		} else {
			n.lost = n.taken == 0
		}
	}
	if parent.byName == nil {
		parent.byName = make(map[string]*node)
	}
	parent.byName[n.name] = n
	parent.children = append(parent.children, n)
	return n, nil
}

// count counts a node or an attribute that was not met before.
func (s *survey) count() error {
	s.order++
	if s.known++; s.known > maxNodes {
		return s.xml.Fault(fmt.Sprintf("the document has more than %d names of elements and attributes, the maximum; set path to where the records are, such as /feed/entry", maxNodes))
	}
	return nil
}

// attribute is the attribute of a number of an element of the node.
func (s *survey) attribute(n *node, i int, name *Name) (*nodeAttribute, error) {
	if i < len(n.attributes) && n.attributes[i].spelled == name {
		return n.attributes[i], nil
	}
	for _, a := range n.attributes[:min(len(n.attributes), fewNames)] {
		if a.spelled == name {
			return a, nil
		}
	}
	s.scratch = name.appendTo(s.scratch[:0])
	if a := n.attribute[string(s.scratch)]; a != nil {
		a.spelled = name
		return a, nil
	}
	if err := s.count(); err != nil {
		return nil, err
	}
	if n.attribute == nil {
		n.attribute = make(map[string]*nodeAttribute)
	}
	a := &nodeAttribute{name: string(s.scratch), spelled: name, kind: kindOf(name), order: s.order}
	n.attributes = append(n.attributes, a)
	n.attribute[a.name] = a
	return a, nil
}

// mark notes where the reading is.
func (s *survey) mark(at int64) {
	s.next = at + s.blockBytes
	var before mark
	if len(s.marks) > 0 {
		before = s.marks[len(s.marks)-1]
	}
	frames := make(mark, 0, min(len(s.open)-1, maxMarkDepth))
	for depth := 1; depth <= cap(frames); depth++ {
		open := s.open[depth]
		if depth <= len(before) && before[depth-1].at == open.at {
			frames = append(frames, before[depth-1])
			continue
		}
		attributes := ""
		if open.keeps != s.open[depth-1].keeps {
			attributes = ` xml:space="default"`
			if open.keeps {
				attributes = ` xml:space="preserve"`
			}
		}
		frame := markFrame{node: open.node, at: open.at}
		if depth <= s.xml.Depth() { // else it is the last one, and has ended for the reader
			frame.tag = string(s.xml.AppendOpenTag(nil, depth, attributes))
		}
		frames = append(frames, frame)
	}
	s.marks = append(s.marks, frames)
}
