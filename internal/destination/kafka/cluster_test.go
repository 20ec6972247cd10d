package kafka

import (
	"context"
	"crypto/x509"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/feedmill/feedmill/internal/destination/broker"
	"github.com/feedmill/feedmill/internal/destination/broker/brokertest"
	"github.com/feedmill/feedmill/internal/egress"
)

// newKind is the kind with an egress policy that allows some addresses.
func newKind(t *testing.T, allow ...string) *broker.Kind {
	t.Helper()
	return newTrustingKind(t, nil, allow...)
}

// newTrustingKind is the kind that verifies brokers with certificates.
func newTrustingKind(t *testing.T, roots *x509.CertPool, allow ...string) *broker.Kind {
	t.Helper()
	return newDialingKind(t, func(d brokertest.Dial) brokertest.Dial { return d }, roots, allow...)
}

// newDialingKind is the kind with another way out.
func newDialingKind(t *testing.T, through func(brokertest.Dial) brokertest.Dial, roots *x509.CertPool, allow ...string) *broker.Kind {
	t.Helper()
	client, err := egress.New(egress.Options{Allow: allow})
	if err != nil {
		t.Fatal(err)
	}
	k := broker.New(Protocol{}, broker.Options{Dial: through(client.DialContext), Forbidden: egress.ErrForbidden, Hosts: client.Policy(), RootCAs: roots})
	t.Cleanup(k.Close)
	return k
}

const loopback = "127.0.0.0/8"

// startCluster starts brokers.
func startCluster(t *testing.T, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// stored are all records of a topic, those of each partition in order.
func stored(t *testing.T, c *kfake.Cluster, topic string, n int) (all []*kgo.Record) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumeTopics(topic), kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for len(all) < n {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("%d of %d records: %v", len(all), n, err)
		}
		all = append(all, fetches.Records()...)
	}
	return all
}

// records is how many records a topic has.
func records(t *testing.T, c *kfake.Cluster, topic string, partitions int32) (n int) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	r := kmsg.NewPtrListOffsetsRequest()
	ask := kmsg.NewListOffsetsRequestTopic()
	ask.Topic = topic
	for p := range partitions {
		partition := kmsg.NewListOffsetsRequestTopicPartition()
		partition.Partition, partition.Timestamp = p, -1
		ask.Partitions = append(ask.Partitions, partition)
	}
	r.Topics = append(r.Topics, ask)
	for _, shard := range client.RequestSharded(t.Context(), r) {
		if shard.Err != nil {
			t.Fatal(shard.Err)
		}
		for _, topic := range shard.Resp.(*kmsg.ListOffsetsResponse).Topics {
			for _, p := range topic.Partitions {
				n += int(p.Offset)
			}
		}
	}
	return n
}

// limit sets the maximum size of a batch for a topic.
func limit(t *testing.T, c *kfake.Cluster, topic, size string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	r := kmsg.NewPtrIncrementalAlterConfigsRequest()
	of := kmsg.NewIncrementalAlterConfigsRequestResource()
	of.ResourceType, of.ResourceName = kmsg.ConfigResourceTypeTopic, topic
	config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	config.Name, config.Value = "max.message.bytes", &size
	of.Configs = append(of.Configs, config)
	r.Resources = append(r.Resources, of)
	response, err := r.RequestWith(t.Context(), client)
	if err == nil {
		err = kerr.ErrorForCode(response.Resources[0].ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
}
