package api

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Dedupe keys begin with what makes their events unique, so that the id of a
// plain event never meets that of a CloudEvent. The separator is in no id and no
// source, which hold no control characters, and is one that every store can keep
// in a text.
const (
	dedupeSeparator  = "\x1f"
	dedupeID         = "id" + dedupeSeparator
	dedupeCloudEvent = "ce" + dedupeSeparator
)

// eventForm is how a body holds events. It knows where in the body a fault is
// that was found in an event.
type eventForm struct {
	// one says that the body is the event and no array.
	one bool
	// cloud says that its fields have the names of CloudEvents; with binary,
	// they stand in headers and the body is the data alone.
	cloud, binary bool
}

// cloudNames are the attributes that become fields of another name.
var cloudNames = map[string]string{"resourceId": "subject", "timestamp": "time"}

// place moves a fault whose pointer begins with the index of an event to where
// the client wrote what is wrong.
func (f eventForm) place(fault feedmill.Fault) feedmill.Fault {
	index, rest, _ := strings.Cut(strings.TrimPrefix(fault.Pointer, "/"), "/")
	field, below, _ := strings.Cut(rest, "/")
	if below != "" {
		below = "/" + below
	}
	if name, ok := cloudNames[field]; ok && f.cloud {
		field = name
	}
	switch {
	case f.binary && field != "" && field != "data":
		fault.Pointer, fault.Header = "", "ce-"+field
		return fault
	case f.binary:
		fault.Pointer = below
		return fault
	}
	fault.Pointer = ""
	if !f.one {
		fault.Pointer = "/" + index
	}
	if field != "" {
		fault.Pointer += "/" + field + below
	}
	return fault
}

// explain moves the faults of a refusal of the events.
func (f eventForm) explain(err error) error {
	var refusal *feedmill.Error
	if !errors.As(err, &refusal) || len(refusal.Faults) == 0 {
		return err
	}
	moved := *refusal
	moved.Faults = make([]feedmill.Fault, len(refusal.Faults))
	for i, fault := range refusal.Faults {
		moved.Faults[i] = f.place(fault)
	}
	return &moved
}

// readEvents reads one event or an array of them with every fault. read reads
// one.
func (c *call) readEvents(data []byte, read func(*call, *strictjson.Value, string) feedmill.NewEvent) (events []feedmill.NewEvent, form eventForm, err error) {
	text := bytes.Trim(data, " \t\r\n")
	large := 0
	take := func(text []byte, p strictjson.Part) error {
		if len(text) > feedmill.MaxEventBytes {
			large++
			events = append(events, feedmill.NewEvent{})
			c.faults.Note(p.At, fmt.Sprintf("The event has %d bytes.", len(text)))
			return nil
		}
		v, err := c.parseJSON(text, p)
		if err == nil {
			events = append(events, read(c, &v, p.At))
		}
		return err
	}
	if form.one = len(text) == 0 || text[0] != '['; form.one {
		err = take(text, strictjson.Part{Levels: 1})
	} else {
		err = c.eachItem(text, take)
	}
	if err == nil {
		err = c.refusal()
	}
	if large > 0 && large == len(c.faults.List) {
		err = tooLargeEvent(c.faults.List...)
	}
	return events, form, err
}

func tooLargeEvent(faults ...feedmill.Fault) error {
	return &feedmill.Error{
		Kind: feedmill.ErrTooLarge, Detail: fmt.Sprintf("An event must have at most %d bytes. Reduce its data.", feedmill.MaxEventBytes), Faults: faults,
	}
}

// eachItem hands out the elements of a JSON array. It holds no more of them
// than there may be.
func (c *call) eachItem(array []byte, take func([]byte, strictjson.Part) error) error {
	items, ok := strictjson.Split(array, feedmill.MaxPublishEvents, c.faults.Note)
	switch {
	case !ok:
		return c.refusal()
	case len(items) > feedmill.MaxPublishEvents:
		return c.malformed("", fmt.Sprintf("The array must have at most %d events. Send the rest in another request.", feedmill.MaxPublishEvents))
	case len(items) == 0:
		return c.malformed("", fmt.Sprintf("The array is empty. Send 1 to %d events.", feedmill.MaxPublishEvents))
	}
	for i, item := range items {
		if err := take(item, strictjson.Part{At: fmt.Sprintf("/%d", i), Depth: 1, Levels: 1}); err != nil {
			return err
		}
	}
	return nil
}

// readPlainEvent reads an event in the service's own form.
func readPlainEvent(c *call, v *strictjson.Value, at string) (e feedmill.NewEvent) {
	if v.Kind != '{' {
		c.faults.Note(at, "An event must be an object, not "+strictjson.KindName(v.Kind)+".")
		return e
	}
	o := strictjson.NewObject(v, at, c.faults.Note)
	if v, ok := o.Get("id"); ok {
		if id, ok := v.Label(feedmill.MaxPublisherIDLen); ok {
			e.DedupeKey = dedupeID + id
			e.PublisherID = id
		}
	}
	if v, ok := o.Need("type"); ok {
		e.Type, _ = v.Label(feedmill.MaxEventNameLen)
	}
	if v, ok := o.Get("timestamp"); ok {
		e.Timestamp, _ = readTime(v)
	}
	if v, ok := o.Given("resourceId"); ok {
		e.ResourceID, _ = v.Label(feedmill.MaxResourceIDLen)
	}
	if v, ok := o.Get("data"); ok {
		e.Data = v.Raw
	}
	o.RefuseUnknown()
	return e
}
