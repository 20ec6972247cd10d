package api

import (
	"fmt"
	"mime"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// The media types of CloudEvents 1.0 in JSON.
const (
	structuredMode = "application/cloudevents+json"
	batchMode      = "application/cloudevents-batch+json"
)

// maxCloudSource is how many characters the source of a CloudEvent may have.
const maxCloudSource = 500

const onlyJSONData = "Only JSON data is supported. Send it in data; datacontenttype must be application/json or absent."

// isBinaryCloudEvent reports whether a request carries the attributes of a
// CloudEvent in its header.
func (c *call) isBinaryCloudEvent() bool {
	for _, name := range []string{"Ce-Specversion", "Ce-Id", "Ce-Source", "Ce-Type"} {
		if _, ok := c.r.Header[name]; ok {
			return true
		}
	}
	return false
}

// cloudAttributes are those of one CloudEvent, wherever they stand.
type cloudAttributes struct {
	// get finds an attribute. One that is given but cannot be read is empty,
	// and its fault noted.
	get   func(name string) (text string, given bool)
	fault func(name, detail string)
}

// event makes an event of the attributes. Extensions have no place in it.
func (a cloudAttributes) event() (e feedmill.NewEvent) {
	version := a.required("specversion", 100)
	if version != "" && version != "1.0" {
		a.fault("specversion", `specversion must be "1.0".`)
	}
	id, source := a.required("id", feedmill.MaxPublisherIDLen), a.required("source", maxCloudSource)
	if _, err := url.Parse(source); err != nil {
		a.fault("source", "source must be a URI reference.")
	}
	e.PublisherID, e.DedupeKey = id, dedupeCloudEvent+source+dedupeSeparator+id
	e.Type = a.required("type", feedmill.MaxEventNameLen)
	if subject, _ := a.get("subject"); subject != "" {
		e.ResourceID = a.label("subject", subject, feedmill.MaxResourceIDLen)
	}
	if text, _ := a.get("time"); text != "" {
		t, ok := parseTime(text)
		if !ok {
			a.fault("time", notATime)
		}
		e.Timestamp = t
	}
	return e
}

func (a cloudAttributes) required(name string, most int) string {
	text, given := a.get(name)
	switch {
	case !given:
		a.fault(name, name+" is required.")
	case text != "":
		return a.label(name, text, most)
	}
	return ""
}

func (a cloudAttributes) label(name, text string, most int) string {
	if detail := strictjson.WrongLabel(name, text, most); detail != "" {
		a.fault(name, detail)
		return ""
	}
	return text
}

// attributeName is the form that CloudEvents gives the names of attributes.
var attributeName = regexp.MustCompile(`^[a-z0-9]+$`)

// readCloudEvent reads a CloudEvent in its JSON format.
func readCloudEvent(c *call, v *strictjson.Value, at string) feedmill.NewEvent {
	if v.Kind != '{' {
		c.faults.Note(at, "A CloudEvent must be an object, not "+strictjson.KindName(v.Kind)+".")
		return feedmill.NewEvent{}
	}
	o := strictjson.NewObject(v, at, c.faults.Note)
	get := func(name string) (string, bool) {
		v, ok := o.Get(name)
		if !ok || v.Kind == 'n' { // null means that it is not set
			return "", false
		}
		text, ok := v.Text()
		if ok && text == "" {
			o.Fault(name, name+" must not be empty.")
		}
		return text, true
	}
	e := cloudAttributes{get, o.Fault}.event()
	if text, _ := get("datacontenttype"); text != "" && !isJSONType(text) {
		o.Fault("datacontenttype", onlyJSONData)
	}
	if v, ok := o.Get("data_base64"); ok && v.Kind != 'n' {
		o.Fault("data_base64", onlyJSONData)
	}
	if v, ok := o.Get("data"); ok {
		e.Data = v.Raw
	}
	for name, f := range o.All() {
		if name != "data_base64" && !attributeName.MatchString(name) {
			f.Fault("Attribute names of a CloudEvent must contain only lowercase letters and digits.")
		}
	}
	return e
}

// readBinaryCloudEvent reads a CloudEvent whose attributes are in the header
// and whose data is the body.
func (c *call) readBinaryCloudEvent(data []byte) (feedmill.NewEvent, error) {
	if len(data) > feedmill.MaxEventBytes {
		return feedmill.NewEvent{}, tooLargeEvent(feedmill.Fault{Detail: fmt.Sprintf("The data has %d bytes.", len(data))})
	}
	fault := func(name, detail string) { c.fault(feedmill.Fault{Header: "ce-" + name, Detail: detail}) }
	get := func(name string) (string, bool) {
		values := c.r.Header.Values("Ce-" + name)
		if len(values) == 0 {
			return "", false
		}
		text, ok := decodeAttribute(values[0])
		if len(values) > 1 || !ok || text == "" {
			fault(name, "The header must be sent once and must not be empty. Percent-encode characters outside printable ASCII as UTF-8.")
			return "", true
		}
		return text, true
	}
	e := cloudAttributes{get, fault}.event()
	if len(data) == 0 {
		return e, c.refusal()
	}
	v, err := c.parseJSON(data, strictjson.Part{Levels: 1})
	if err != nil {
		return e, err
	}
	e.Data = v.Raw
	return e, c.refusal()
}

// decodeAttribute reads the value of a header as the HTTP binding of
// CloudEvents writes it: percent-encoded, and by older senders in quotes.
func decodeAttribute(text string) (string, bool) {
	if inner, ok := strings.CutPrefix(text, `"`); ok {
		var b strings.Builder
		closed := false
		for i := 0; i < len(inner) && !closed; i++ {
			switch {
			case inner[i] == '\\' && i+1 < len(inner):
				i++
				b.WriteByte(inner[i])
			case inner[i] == '"':
				closed = i == len(inner)-1
				if !closed {
					return "", false
				}
			default:
				b.WriteByte(inner[i])
			}
		}
		if !closed {
			return "", false
		}
		text = b.String()
	}
	text, err := url.PathUnescape(text)
	return text, err == nil && utf8.ValidString(text)
}

// isJSONType reports whether a media type is of JSON in UTF-8.
func isJSONType(text string) bool {
	mediaType, params, err := mime.ParseMediaType(text)
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return false
	}
	return err == nil && (mediaType == "application/json" || mediaType == "text/json" || strings.HasSuffix(mediaType, "+json"))
}
