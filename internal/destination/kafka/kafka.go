// Package kafka produces deliveries to topics of Kafka clusters, and of brokers with the
// same protocol. All in-sync replicas have to acknowledge a record.
package kafka

import (
	"context"
	"net"
	"regexp"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/broker"
)

// Protocol is the protocol of Kafka.
type Protocol struct{}

// Name is the name of the kind.
func (Protocol) Name() feedmill.DestinationKind { return feedmill.DestinationKafka }

// Form describes the URLs.
func (Protocol) Form() broker.Form {
	return broker.Form{
		Plain: "kafka", Secure: "kafka+tls", PlainPort: "9092", SecurePort: "9092", Example: "kafka://kafka.example.com:9092/orders",
		MaxHosts: 10, Credentials: []string{"username", "password", "mechanism"},
	}
}

// topicName are the names that Kafka allows.
var topicName = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)

// CheckAddress checks the topic.
func (Protocol) CheckAddress(a broker.Address) string {
	switch {
	case len(a.Query) > 0:
		return "url must not have a query. The path is the topic, such as kafka://kafka.example.com:9092/orders."
	case a.Path == "":
		return "url must have a topic as its path, such as kafka://kafka.example.com:9092/orders."
	case !topicName.MatchString(a.Path), a.Path == ".", a.Path == "..":
		return "The topic must have 1 to 249 letters, digits, periods, underscores and hyphens."
	}
	return ""
}

// CheckCredentials checks that the credentials are complete.
func (Protocol) CheckCredentials(c map[string]string) string {
	switch {
	case (c["username"] == "") != (c["password"] == ""):
		return "username and password must be set together."
	case mechanisms[c["mechanism"]] == nil:
		return "mechanism must be PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512."
	case c["mechanism"] != "" && c["username"] == "":
		return "mechanism needs username and password."
	}
	return ""
}

// maxResponse bounds what is read of a response. That about a topic is the largest.
const maxResponse = 1 << 20

// Connect opens a client, and returns when a broker has described the topic. The client
// dials the brokers that lead the topic's partitions, at the addresses that the cluster
// announces.
func (Protocol) Connect(ctx context.Context, s broker.Settings) (broker.Conn, error) {
	options := []kgo.Opt{
		kgo.ClientID("feedmill"), kgo.DisableClientMetrics(),
		kgo.SeedBrokers(s.Address.Hosts...),
		kgo.Dialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			return s.Open(ctx, network, address)
		}),
		kgo.BrokerMaxReadBytes(maxResponse), kgo.FetchMaxBytes(maxResponse), kgo.FetchMaxPartitionBytes(maxResponse),
		kgo.DefaultProduceTopic(s.Address.Path),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerLinger(0), // what comes while requests are in flight is sent together
		// The delivery fails when its time is over, whatever became of the record.
		kgo.AllowIdempotentProduceCancellation(), kgo.RecordDeliveryTimeout(feedmill.MaxTimeout),
	}
	if name := s.Credentials["username"]; name != "" {
		options = append(options, kgo.SASL(mechanisms[s.Credentials["mechanism"]](name, s.Credentials["password"])))
	}
	c, err := newConn(options)
	if err != nil {
		return nil, err
	}
	if err := describe(ctx, c.client, s.Address.Path); err != nil {
		c.Close()
		return nil, refusal(err)
	}
	return c, nil
}

// describe returns an error if no broker can be used, or the cluster has no such topic.
func describe(ctx context.Context, client *kgo.Client, topic string) error {
	// A ping is not repeated if a broker cannot be reached, unlike other requests.
	if err := client.Ping(ctx); err != nil {
		return err
	}
	request := kmsg.NewPtrMetadataRequest()
	request.Topics = append(request.Topics, kmsg.MetadataRequestTopic{Topic: kmsg.StringPtr(topic)})
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	for _, t := range response.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil && !kerr.IsRetriable(err) || err == kerr.UnknownTopicOrPartition {
			return err
		}
	}
	return nil
}
