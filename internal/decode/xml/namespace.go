package xml

import "unsafe"

// The names of the two namespaces that every document knows (Namespaces 3).
const (
	xmlSpace   = "http://www.w3.org/XML/1998/namespace"
	xmlnsSpace = "http://www.w3.org/2000/xmlns/"
)

// symbolBytes is about how much memory a symbol takes besides its text.
const symbolBytes = unsafe.Sizeof(symbol{}) + 2*unsafe.Sizeof(Name{})

// space is a namespace, prefix what stands for one, and a binding what a prefix
// stood for before an element declared it anew, and what since.
type (
	space struct{ uri string }

	prefix struct {
		text string
		// space is nil where the prefix is not declared.
		space *space
	}

	binding struct {
		prefix      *prefix
		before, now *space
	}
)

// declaration is an attribute that declares a namespace.
type declaration struct {
	prefix *prefix
	value  []byte
	at     int
}

// scope is what is known of names and of what they mean at this place.
type scope struct {
	elements, attributes symbols
	prefixes             map[string]*prefix
	spaces               map[string]*space
	expanded             map[Name]*expandedName
	// none is no namespace.
	none *space
	// bound are the declarations that hold, the outermost first.
	bound []binding
	// knownBytes is about how much memory all that takes.
	knownBytes int
}

func (s *scope) reset() {
	*s = scope{none: new(space), bound: s.bound[:0]}
	s.prefixes = map[string]*prefix{"": {space: s.none}}
	s.spaces = map[string]*space{"": s.none}
	s.expanded = make(map[Name]*expandedName)
	s.elements.all = make(map[string]*symbol)
	s.attributes = symbols{attributes: true, all: make(map[string]*symbol)}
	s.prefixOf("xml").space = s.spaceOf([]byte(xmlSpace))
}

// forget lets go of all names but those that hold at this place.
func (s *scope) forget() {
	old := *s
	s.reset()
	for _, b := range old.bound {
		s.prefixes[b.prefix.text] = b.prefix
		s.spaces[b.prefix.space.uri] = b.prefix.space
	}
	s.bound = old.bound
}

func (s *scope) prefixOf(text string) *prefix {
	p := s.prefixes[text]
	if p == nil {
		p = &prefix{text: text}
		s.prefixes[text] = p
		s.knownBytes += len(text)
	}
	return p
}

func (s *scope) spaceOf(uri []byte) *space {
	known := s.spaces[string(uri)]
	if known == nil {
		known = &space{uri: string(uri)}
		s.spaces[known.uri] = known
		s.knownBytes += len(uri) + int(symbolBytes)
	}
	return known
}

// declare makes what a tag declares hold.
func (r *Reader) declare() bool {
	for _, d := range r.declarations {
		if !r.checkDeclaration(d) {
			return false
		}
		now := r.spaceOf(d.value)
		r.bound = append(r.bound, binding{d.prefix, d.prefix.space, now})
		d.prefix.space = now
	}
	return true
}

// checkDeclaration holds a declaration to the constraints of Namespaces 2.2 and 3.
func (r *Reader) checkDeclaration(d declaration) bool {
	text := d.prefix.text
	isXML := string(d.value) == xmlSpace
	switch {
	case text == "xmlns":
		r.fail(d.at, "the prefix xmlns must not be declared; remove the declaration")
	case text == "xml" && !isXML:
		r.fail(d.at, "the prefix xml always means %s; remove the declaration, or choose another prefix", xmlSpace)
	case text != "xml" && isXML:
		r.fail(d.at, "only the prefix xml can mean %s; remove the declaration and write xml: instead", xmlSpace)
	case string(d.value) == xmlnsSpace:
		r.fail(d.at, "no prefix can be declared to mean %s; remove the declaration", xmlnsSpace)
	case text != "" && len(d.value) == 0:
		r.fail(d.at, "the prefix %s is declared with an empty namespace, which only xmlns=\"\" allows; declare the name of a namespace", excerpt(text))
	case len(d.value) > MaxNamespaceBytes:
		r.fail(d.at, "the name of the namespace is longer than %d bytes, the maximum", MaxNamespaceBytes)
	case len(r.bound) >= MaxNamespaces:
		r.fail(d.at, "more than %d namespace declarations apply here, the maximum; declare them once, on an outer element", MaxNamespaces)
	default:
		return true
	}
	return false
}

// release takes back the declarations but the first so many.
func (s *scope) release(keep int) {
	for i := len(s.bound) - 1; i >= keep; i-- {
		s.bound[i].prefix.space = s.bound[i].before
	}
	s.bound = s.bound[:keep]
}

// resolve is what a symbol with a prefix means here, or nil where its prefix is not
// declared.
func (r *Reader) resolve(s *symbol, at int) *Name {
	if s.space == s.prefix.space && s.name != nil {
		return s.name
	}
	if s.prefix.space == nil {
		r.failUndeclared(s, at)
		return nil
	}
	return r.mean(s, s.prefix.space)
}

func (r *Reader) failUndeclared(s *symbol, at int) {
	if s.prefix.text == "xmlns" {
		r.fail(at, "the prefix xmlns is reserved for declarations; choose another prefix for the element")
		return
	}
	r.fail(at, "the prefix %[1]s of %[2]s is not declared; declare it with xmlns:%[1]s=\"…\" on this element or an outer element",
		excerpt(s.prefix.text), excerpt(s.text))
}

// mean makes a symbol one of the given namespace.
func (s *scope) mean(symbol *symbol, in *space) *Name {
	symbol.space = in
	for _, m := range symbol.meanings {
		if m.space == in {
			symbol.name, symbol.expanded = m.name, m.expanded
			return m.name
		}
	}
	name := &Name{Space: in.uri, Local: symbol.text[symbol.colon:]}
	known := s.expanded[*name]
	if known == nil {
		known = new(expandedName)
		s.expanded[*name] = known
		s.knownBytes += int(symbolBytes)
	}
	name.Prefix = symbol.prefix.text
	symbol.name, symbol.expanded = name, known
	if len(symbol.meanings) == maxMeanings {
		symbol.meanings = symbol.meanings[:0]
	}
	symbol.meanings = append(symbol.meanings, meaning{in, name, known})
	return name
}
