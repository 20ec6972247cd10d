package feedmill

import "github.com/feedmill/feedmill/internal/jstext"

// TimestampFormat is how a time is written wherever a client reads one:
// RFC 3339 in UTC with milliseconds.
const TimestampFormat = "2006-01-02T15:04:05.000Z"

// RenderPayload makes the text that is delivered for the event and signed,
// from the event's own fields and the JSON text of its data. The text is a
// fixed point of JavaScript's parse and stringify, so that a receiver that
// serialises again what it has parsed still verifies the signature, unless
// data holds a number that JavaScript cannot. An error is a [*jstext.Error]
// whose place is within data.
func RenderPayload(e Event, data []byte) ([]byte, error) {
	b := make([]byte, 0, len(data)+len(e.Type)+len(e.ResourceID)+128)
	b = append(b, `{"id":`...)
	b = jstext.AppendString(b, string(e.ID))
	b = append(b, `,"type":`...)
	b = jstext.AppendString(b, e.Type)
	b = append(b, `,"timestamp":"`...)
	b = e.Timestamp.UTC().AppendFormat(b, TimestampFormat)
	b = append(b, `","resourceId":`...)
	if e.ResourceID == "" {
		b = append(b, "null"...)
	} else {
		b = jstext.AppendString(b, e.ResourceID)
	}
	b = append(b, `,"data":`...)
	if len(data) == 0 {
		return append(b, `{}}`...), nil
	}
	b, err := jstext.Append(b, data)
	if err != nil {
		return nil, err
	}
	return append(b, '}'), nil
}
