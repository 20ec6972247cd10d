package share

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestCrowded checks how long two holders are present together.
func TestCrowded(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(p *presence)
		// want is for how long they are crowded from then on.
		want time.Duration
	}{
		{"one", func(p *presence) { p.see("a"); p.see("a"); p.see("") }, 0},
		{"a request of another", func(p *presence) { p.see("a"); p.see("b") }, shortPresence},
		{"a burst of another", func(p *presence) {
			p.see("a")
			for range 5 {
				p.see("b")
				time.Sleep(time.Millisecond)
			}
		}, shortPresence - 5*time.Millisecond},
		{"long work beside a request", func(p *presence) {
			p.work("a")
			time.Sleep(time.Minute)
			p.see("b")
		}, shortPresence},
		{"long work beside regular requests", func(p *presence) {
			p.work("a")
			for range 3 {
				time.Sleep(400 * time.Millisecond)
				p.see("b")
				p.see("b")
			}
		}, longPresence},
		{"long work beside quick requests", func(p *presence) {
			p.work("a")
			for range 3 {
				time.Sleep(200 * time.Millisecond)
				p.see("b")
			}
		}, 400 * time.Millisecond},
		{"long work beside rare requests", func(p *presence) {
			p.work("a")
			for range 3 {
				p.see("b")
				time.Sleep(longPresence + time.Millisecond)
			}
			p.see("b")
		}, shortPresence},
		{"long work beside slow requests", func(p *presence) {
			p.work("a")
			for range 3 {
				time.Sleep(longPresence)
				p.see("b")
			}
		}, longPresence},
		{"long work that asks for itself", func(p *presence) {
			p.work("a")
			for range 3 {
				p.see("a")
				time.Sleep(time.Second)
			}
		}, 0},
		{"long work of two", func(p *presence) { p.work("a"); p.work("b") }, 0},
		{"long work that has ended", func(p *presence) {
			first, second := p.work("a"), p.work("a")
			p.see("b")
			first()
			second()
		}, 0},
		{"long work of which half has ended", func(p *presence) {
			first := p.work("a")
			p.work("a")
			p.see("b")
			first()
		}, shortPresence},
		{"three", func(p *presence) {
			p.see("a")
			time.Sleep(longPresence)
			p.see("a") // present for as long again
			p.see("b")
			time.Sleep(shortPresence / 2)
			p.see("c")
		}, shortPresence},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPresence()
				c.do(p)
				if c.want > 0 {
					if time.Sleep(c.want - time.Nanosecond); !p.crowded() {
						t.Error("they are not crowded until then")
					}
					time.Sleep(time.Nanosecond)
				}
				if p.crowded() {
					t.Error("they are crowded for longer")
				}
			})
		})
	}
}

func TestAnybodyBut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPresence()
		if p.see(""); p.anybodyBut("a") {
			t.Error("the service counts as a holder")
		}
		if p.see("a"); p.anybodyBut("a") || !p.anybodyBut("b") {
			t.Error("the only holder is another, or is not there")
		}
		if p.see("b"); !p.anybodyBut("a") || !p.anybodyBut("b") || !p.anybodyBut("c") {
			t.Error("one of two is not there")
		}
		if time.Sleep(shortPresence); p.anybodyBut("c") {
			t.Error("they stay")
		}
	})
}

// TestVisitorsAreForgotten holds the memory of visitors to its bound.
func TestVisitorsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPresence()
		for i := range 3 * manyVisitors {
			if p.see(fmt.Sprint(i)); len(p.visitors) > manyVisitors {
				t.Fatalf("%d visitors are remembered", len(p.visitors))
			}
		}
	})
}
