package json

import (
	"bytes"
	"slices"
)

// keySorter writes the members of objects in the order of their names, numbers without what does not change them, and strings with
// as few escapes as there can be, so that values which differ in nothing else are the same text.
type keySorter struct {
	lexer   *lexer
	out     []byte
	members []sortedMember
	scratch []byte
	text    []byte // a string without its escapes
	// most is how long the output may become. Only numbers make it longer than the text, so none is written beyond it.
	most int
}

// sortedMember is a member that was written: its name, and where it is in the output.
type sortedMember struct {
	name []byte
	textRange
}

// sort sorts the members of all objects of a compact text that is right. What it returns is valid until the next call, and
// complete if it has at most the given number of bytes.
func (s *keySorter) sort(l *lexer, start, most int) []byte {
	s.lexer, s.out, s.members, s.most = l, s.out[:0], s.members[:0], most
	s.value(start)
	return s.out
}

// value writes the value at i and returns where it ends.
func (s *keySorter) value(i int) int {
	data := s.lexer.data
	switch data[i] {
	case '{':
		return s.object(i)
	case '[':
		s.out = append(s.out, '[')
		for i++; data[i] != ']'; {
			if data[i] == ',' {
				s.out = append(s.out, ',')
				i++
			}
			i = s.value(i)
		}
		s.out = append(s.out, ']')
		return i + 1
	}
	end := i
	if data[i] == '"' {
		after, escaped := s.lexer.quoted(i + 1)
		if end = after + 1; escaped {
			s.text = s.lexer.unescape(s.text[:0], i+1, after)
			s.out = appendString(s.out, s.text)
			return end
		}
	} else {
		for end < s.lexer.size && data[end] != ',' && data[end] != ']' && data[end] != '}' {
			end++
		}
		if data[i] == '-' || data[i]-'0' <= 9 {
			if len(s.out) <= s.most {
				s.out = appendNumber(s.out, data[i:end])
			}
			return end
		}
	}
	s.out = append(s.out, data[i:end]...)
	return end
}

// object writes the object at i.
func (s *keySorter) object(i int) int {
	data, first := s.lexer.data, len(s.members)
	s.out = append(s.out, '{')
	sorted, inside := true, len(s.out)
	for i++; data[i] != '}'; {
		if data[i] == ',' {
			i++
		}
		after, escaped := s.lexer.quoted(i + 1)
		name := data[i+1 : after]
		if escaped {
			name = s.lexer.unescape(nil, i+1, after)
		}
		if k := len(s.members) - 1; k >= first && bytes.Compare(s.members[k].name, name) > 0 {
			sorted = false
		}
		at := len(s.out)
		if escaped {
			s.out = append(appendString(s.out, name), ':')
		} else {
			s.out = append(append(s.out, data[i:after+1]...), ':')
		}
		s.members = append(s.members, sortedMember{name: name})
		k := len(s.members) - 1
		i = s.value(after + 2)
		s.members[k].textRange = textRange{at, len(s.out)}
		s.out = append(s.out, ',')
	}
	members := s.members[first:]
	if !sorted {
		slices.SortStableFunc(members, func(a, b sortedMember) int { return bytes.Compare(a.name, b.name) })
		s.scratch = append(s.scratch[:0], s.out[inside:]...)
		s.out = s.out[:inside]
		for _, m := range members {
			s.out = append(append(s.out, s.scratch[m.start-inside:m.end-inside]...), ',')
		}
	}
	if len(members) > 0 {
		s.out = s.out[:len(s.out)-1] // the last comma
	}
	s.members = s.members[:first]
	s.out = append(s.out, '}')
	return i + 1
}
