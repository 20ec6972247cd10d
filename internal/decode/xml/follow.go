package xml

const (
	// maxFollows is how many passages behind an element are known, and maxTries how often one is
	// looked for.
	maxFollows = 4
	maxTries   = 64
)

// follows are the passages that followed an element of only text before, the one of the last time
// first.
type follows[T any] struct {
	known []followed[T]
	tries int
}

// followed is a passage and what it means: so many elements end, and then others begin, the last of
// which has only text.
type followed[T any] struct {
	passage *Passage
	ends    int
	begins  []*T
}

// follower finds what follows an element.
type follower[T any] struct {
	// after is the element, or nil where nothing is looked for.
	after  *follows[T]
	ends   int
	begins []*T
	// off is for tests that want to see everything read tag by tag.
	off bool
}

func (f *follower[T]) cancel() { f.after = nil }

// start begins to look for what follows an element.
func (f *follower[T]) start(after *follows[T], xml *Reader) {
	if f.after = nil; f.off || after.tries >= maxTries || len(after.known) >= maxFollows {
		return
	}
	f.after, f.ends, f.begins = after, 0, f.begins[:0]
	xml.BeginPassage()
}

// end notes that an element has ended.
func (f *follower[T]) end() {
	if f.ends++; len(f.begins) > 0 {
		f.after = nil
	}
}

// begin notes that an element has begun.
func (f *follower[T]) begin(s *T) {
	if f.after != nil {
		f.begins = append(f.begins, s)
	}
}

// passage is the passage up to here, or nil.
func (f *follower[T]) passage(xml *Reader) *Passage {
	if f.after == nil {
		return nil
	}
	f.after.tries++
	return xml.Passage()
}

// remember keeps a passage to an element of only text.
func (f *follower[T]) remember(p *Passage) {
	if f.after != nil && p != nil {
		f.after.known = append(f.after.known, followed[T]{p, f.ends, append([]*T(nil), f.begins...)})
	}
	f.after = nil
}

// passAlong goes on behind an element of only text as long as what follows is known.
func (r *recordReader) passAlong(s *spot) error {
	for {
		next, text, only := s.after.pass(r.xml)
		if next == nil {
			r.follow.start(&s.after, r.xml)
			return nil
		}
		for range next.ends {
			if err := r.leave(); err != nil {
				return err
			}
		}
		if len(r.open) == 0 {
			if err := r.endRecord(); err != nil {
				return err
			}
			if err := r.beginRecord(); err != nil {
				return err
			}
		}
		last := len(next.begins) - 1
		for _, s = range next.begins[:last] {
			if len(r.open) > 0 {
				r.open[len(r.open)-1].last = s
			}
			if err := r.push(s); err != nil {
				return err
			}
		}
		s = next.begins[last]
		if len(r.open) > 0 {
			r.open[len(r.open)-1].last = s
		}
		var err error
		switch f := s.field; {
		case only && f.level == 0 && !f.mixed && r.mixed == 0 && len(r.open) > 0:
			if f.column >= 0 {
				err = r.putText(f, text, false)
			}
		case only:
			if err = r.push(s); err == nil {
				err = r.leaf(text)
			}
		default:
			return r.push(s)
		}
		if err != nil {
			return err
		}
	}
}

// pass passes what follows, and returns it, or nil where it is not known; with the text of the last
// element in it where that has only text.
func (f *follows[T]) pass(xml *Reader) (next *followed[T], text []byte, only bool) {
	for i := range f.known {
		text, only, passed := xml.PassText(f.known[i].passage)
		if !passed {
			continue
		}
		if i > 0 {
			f.known[0], f.known[i] = f.known[i], f.known[0]
		}
		return &f.known[0], text, only
	}
	return nil, nil, false
}
