package deliver

import "github.com/feedmill/feedmill"

// payloads are the texts of the deliveries that wait in memory: each text once,
// however many deliveries of its event there are.
type payloads struct {
	of    map[feedmill.ID]*payload
	bytes int
}

type payload struct {
	text  []byte
	users int
}

// take answers the text to keep for a delivery of an event.
func (p *payloads) take(event feedmill.ID, text []byte) []byte {
	kept, ok := p.of[event]
	if !ok {
		if p.of == nil {
			p.of = make(map[feedmill.ID]*payload)
		}
		kept = &payload{text: text}
		p.of[event] = kept
		p.bytes += len(text)
	}
	kept.users++
	return kept.text
}

// drop lets go of the text for one delivery of an event.
func (p *payloads) drop(event feedmill.ID) {
	kept := p.of[event]
	if kept.users--; kept.users == 0 {
		p.bytes -= len(kept.text)
		delete(p.of, event)
	}
}
