package nats

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/nats-io/nats.go"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/broker"
)

// conn is a connection. The client writes the messages of concurrent calls together.
type conn struct {
	nats    *nats.Conn
	subject string
	done    chan struct{}
	// denied reports that the user may not publish to the subject.
	denied atomic.Bool
}

func (c *conn) Done() <-chan struct{} { return c.done }

func (c *conn) Close() { c.nats.Close() }

// Publish publishes a message and waits for the acknowledgement of the stream. The stream
// ignores a message that it has stored already, which it knows by the id of the delivery.
func (c *conn) Publish(ctx context.Context, m feedmill.Message) error {
	msg := nats.NewMsg(c.subject)
	msg.Data = m.Payload
	for _, h := range m.Header {
		msg.Header[broker.HeaderName(h[0])] = []string{h[1]}
	}
	msg.Header[nats.MsgIdHdr] = []string{string(m.Delivery)}
	response, err := c.nats.RequestMsgWithContext(ctx, msg)
	switch {
	case err == nil:
		return acknowledgement(response.Data)
	case c.denied.Load():
		return &broker.Failure{Class: broker.ClassAuth, Detail: "the user may not publish to the subject, or not receive acknowledgements"}
	case errors.Is(err, nats.ErrNoResponders):
		return &broker.Failure{Class: broker.ClassNoRoute, Detail: "no JetStream stream stores the subject; create one that does"}
	case errors.Is(err, nats.ErrMaxPayload):
		return &broker.Failure{Class: broker.ClassTooLarge, Detail: fmt.Sprintf("the server takes messages of at most %d bytes", c.nats.MaxPayload()), Final: true}
	case errors.Is(err, nats.ErrHeadersNotSupported):
		return &broker.Failure{Class: broker.ClassRefused, Detail: "the server does not support headers"}
	}
	return err
}

// messageTooLarge is JetStream's code for a message that is larger than a stream allows.
const messageTooLarge = 10054

// acknowledgement reads the response of a stream.
func acknowledgement(text []byte) error {
	var ack struct {
		Stream string `json:"stream"`
		Error  *struct {
			Code        int    `json:"err_code"`
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(text, &ack); err != nil || ack.Error == nil && ack.Stream == "" {
		return &broker.Failure{Class: broker.ClassNoRoute, Detail: "something other than a JetStream stream responded"}
	}
	if ack.Error == nil {
		return nil
	}
	failure := &broker.Failure{Class: broker.ClassRefused, Detail: fmt.Sprintf("the stream returned error %d: %s", ack.Error.Code, broker.Quote(ack.Error.Description))}
	if ack.Error.Code == messageTooLarge {
		failure.Class, failure.Final = broker.ClassTooLarge, true
	}
	return failure
}
