package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/broker"
)

const (
	// maxShared is the maximum size of a message that can be in one batch with others. The
	// client limits batches to just below the default limit of brokers.
	maxShared = 500 << 10
	// maxAlone is the limit for batches of one. It is above that for payloads.
	maxAlone = 4 << 20
)

// conn is a client. It reconnects by itself and repeats records with the same sequence
// numbers, so that a short interruption doubles and reorders nothing.
type conn struct {
	options []kgo.Opt
	// client sends the records of concurrent calls together.
	client *kgo.Client
	// alone sends one record at a time. Its only element is nil until it is needed.
	alone chan *kgo.Client
	done  chan struct{}
}

func newConn(options []kgo.Opt) (*conn, error) {
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, err
	}
	c := &conn{options: options, client: client, alone: make(chan *kgo.Client, 1), done: make(chan struct{})}
	c.alone <- nil
	return c, nil
}

// Done is never closed before Close: the client reconnects.
func (c *conn) Done() <-chan struct{} { return c.done }

// Close closes the clients.
func (c *conn) Close() {
	c.client.Close()
	if alone := <-c.alone; alone != nil {
		alone.Close()
	}
}

// Publish produces a record and waits for the acknowledgement. A broker refuses a batch
// that is too large as a whole, so such a record is repeated alone.
func (c *conn) Publish(ctx context.Context, m feedmill.Message) error {
	if len(m.Payload) > maxShared {
		return refusal(c.produceAlone(ctx, m))
	}
	err := produce(ctx, c.client, m)
	if isTooLarge(err) {
		err = c.produceAlone(ctx, m)
	}
	return refusal(err)
}

// produceAlone produces a record in a batch of its own.
func (c *conn) produceAlone(ctx context.Context, m feedmill.Message) (err error) {
	var client *kgo.Client
	select {
	case client = <-c.alone:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { c.alone <- client }()
	if client == nil {
		options := append(c.options[:len(c.options):len(c.options)], kgo.ProducerBatchMaxBytes(maxAlone), kgo.ProducerLinger(0))
		if client, err = kgo.NewClient(options...); err != nil {
			return err
		}
	}
	if err = produce(ctx, client, m); ctx.Err() != nil { // the record can still be in the client
		client.Close()
		client = nil
	}
	return err
}

// errInterrupted reports that a record failed because another one of its partition did.
var errInterrupted = errors.New("another record of the partition failed")

// produce produces a record. The key selects the partition, so that the records of a
// resource are in order.
func produce(ctx context.Context, client *kgo.Client, m feedmill.Message) error {
	r := &kgo.Record{Value: m.Payload}
	if m.ResourceID != "" {
		r.Key = []byte(m.ResourceID)
	}
	for _, h := range m.Header {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: broker.HeaderName(h[0]), Value: []byte(h[1])})
	}
	done := make(chan error, 1)
	client.Produce(ctx, r, func(_ *kgo.Record, err error) { done <- err })
	select {
	case err := <-done:
		if (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)) && ctx.Err() == nil {
			return errInterrupted
		}
		return err
	case <-ctx.Done(): // the client can take longer
		return ctx.Err()
	}
}

func isTooLarge(err error) bool {
	return errors.Is(err, kerr.MessageTooLarge) || errors.Is(err, kerr.RecordListTooLarge)
}

// refusal is the error of a record or a connection that a broker refused.
func refusal(err error) error {
	refused, ok := errors.AsType[*kerr.Error](err)
	if !ok {
		return err
	}
	switch refused {
	case kerr.MessageTooLarge, kerr.RecordListTooLarge:
		return &broker.Failure{Class: broker.ClassTooLarge, Detail: "the topic does not take messages of this size", Final: true}
	case kerr.UnknownTopicOrPartition, kerr.UnknownTopicID, kerr.InvalidTopicException:
		return &broker.Failure{Class: broker.ClassNoRoute, Detail: "the cluster has no such topic; create it"}
	case kerr.SaslAuthenticationFailed, kerr.UnsupportedSaslMechanism, kerr.IllegalSaslState:
		return &broker.Failure{Class: broker.ClassAuth, Detail: refusedCredentials}
	case kerr.TopicAuthorizationFailed, kerr.ClusterAuthorizationFailed:
		return &broker.Failure{Class: broker.ClassAuth, Detail: "the user may not write to the topic"}
	}
	return &broker.Failure{Class: broker.ClassRefused, Detail: fmt.Sprintf("the broker returned error %d, %s", refused.Code, refused.Message)}
}
