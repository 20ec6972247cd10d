package amqp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/broker"
)

// conn is a connection with a channel for all messages.
type conn struct {
	amqp          *amqp.Connection
	main          *channel
	exchange, key string
}

// Done is closed with the channel: a broker closes a channel over a message that it refuses.
func (c *conn) Done() <-chan struct{} { return c.main.done }

// Close closes the connection.
func (c *conn) Close() { c.amqp.Close() }

// Publish publishes a message and waits for its confirmation. A message that is too large
// closes the channel for all that are in flight over it, so each is repeated over a channel
// of its own.
func (c *conn) Publish(ctx context.Context, m feedmill.Message) error {
	err := c.main.publish(ctx, c.exchange, c.key, m)
	if failure, ok := errors.AsType[*broker.Failure](err); !ok || failure.Class != broker.ClassTooLarge {
		return err
	}
	alone, err := c.openChannel()
	if err != nil {
		return err
	}
	err = alone.publish(ctx, c.exchange, c.key, m)
	if failure, ok := errors.AsType[*broker.Failure](err); ok && failure.Class == broker.ClassTooLarge {
		failure.Final = true
	}
	alone.amqp.Close()
	return err
}

// channel is a channel in confirm mode.
type channel struct {
	amqp *amqp.Channel
	// asks are questions whether a message was returned.
	asks chan ask
	// done is closed when the channel is, and reason is constant then: what the broker
	// closed it for, or nil.
	done   chan struct{}
	reason *amqp.Error
}

// ask asks whether the message with an id was returned.
type ask struct {
	id     string
	answer chan bool
}

// openChannel opens a channel.
func (c *conn) openChannel() (*channel, error) {
	opened, err := c.amqp.Channel()
	if err != nil {
		return nil, err
	}
	ch := &channel{amqp: opened, asks: make(chan ask), done: make(chan struct{})}
	returns := opened.NotifyReturn(make(chan amqp.Return))
	closes := opened.NotifyClose(make(chan *amqp.Error, 1))
	go ch.watch(returns, closes)
	if err := opened.Confirm(false); err != nil {
		opened.Close()
		return nil, err
	}
	return ch, nil
}

// maxReturned bounds how many returned messages are noted. Fewer are in flight.
const maxReturned = 10 * feedmill.MaxConcurrency

// watch notes which messages are returned until the channel is closed. The client hands over
// a return before the confirmation of the same message.
func (c *channel) watch(returns <-chan amqp.Return, closes <-chan *amqp.Error) {
	defer close(c.done)
	returned := make(map[string]bool)
	for {
		select {
		case r, ok := <-returns:
			if !ok {
				c.reason = <-closes // nil if there is none
				return
			}
			if len(returned) < maxReturned {
				returned[r.MessageId] = true
			}
		case a := <-c.asks:
			a.answer <- returned[a.id]
			delete(returned, a.id)
		}
	}
}

// publish publishes a message and waits for its confirmation. One that no queue takes is
// returned, and confirmed nevertheless.
func (c *channel) publish(ctx context.Context, exchange, key string, m feedmill.Message) error {
	p := amqp.Publishing{
		Headers: make(amqp.Table), ContentType: "application/json", DeliveryMode: amqp.Persistent,
		MessageId: string(m.Delivery), Timestamp: m.At, AppId: "feedmill", Body: m.Payload,
	}
	if m.ContentType != "" {
		p.ContentType = m.ContentType
	}
	for _, h := range m.Header {
		p.Headers[broker.HeaderName(h[0])] = h[1]
	}
	const mandatory, immediate = true, false
	confirmation, err := c.amqp.PublishWithDeferredConfirmWithContext(ctx, exchange, key, mandatory, immediate, p)
	if err != nil {
		return c.failure(ctx)
	}
	acknowledged, err := confirmation.WaitContext(ctx)
	if err != nil {
		return err
	}
	if acknowledged {
		return c.refuseReturned(ctx, p.MessageId)
	}
	if !c.amqp.IsClosed() {
		return &broker.Failure{Class: broker.ClassRefused, Detail: "a queue rejected the message; it can be full"}
	}
	return c.failure(ctx)
}

// refuseReturned returns an error if a message was returned.
func (c *channel) refuseReturned(ctx context.Context, id string) error {
	a := ask{id, make(chan bool, 1)}
	select {
	case c.asks <- a:
	case <-c.done: // it cannot be asked any more
		return c.failure(ctx)
	}
	if <-a.answer {
		return &broker.Failure{Class: broker.ClassNoRoute, Detail: "no queue takes the message; bind one to the exchange with the routing key"}
	}
	return nil
}

// failure is why the channel closed.
func (c *channel) failure(ctx context.Context) error {
	select {
	case <-c.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if c.reason == nil || !c.reason.Server {
		return net.ErrClosed
	}
	text := broker.Quote(c.reason.Reason)
	switch c.reason.Code {
	case amqp.ConnectionForced: // it shuts down
		return net.ErrClosed
	case amqp.NotFound:
		return &broker.Failure{Class: broker.ClassNoRoute, Detail: "the broker has no such exchange; create it"}
	case amqp.AccessRefused:
		return &broker.Failure{Class: broker.ClassAuth, Detail: "the user may not publish to the exchange"}
	case amqp.PreconditionFailed:
		if strings.Contains(text, "message size") {
			return &broker.Failure{Class: broker.ClassTooLarge, Detail: "the broker does not take messages of this size: " + text}
		}
	}
	return &broker.Failure{Class: broker.ClassRefused, Detail: fmt.Sprintf("the broker returned error %d: %s", c.reason.Code, text)}
}
