package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

const (
	// collectorPatience bounds one request to the collector; the batch has 30 s for all of them.
	collectorPatience = 10 * time.Second
	// firstPause is the pause before a refused batch is sent again. Each further pause is twice as long.
	firstPause = 500 * time.Millisecond
	// maxCollectorText is how much of a response is read.
	maxCollectorText = 64 << 10
)

// collector sends spans to an OpenTelemetry collector, as OTLP over HTTP. The exporter of OpenTelemetry adds
// 0.4 MB to the program, and it uses a proxy from the environment.
type collector struct {
	url     string
	headers http.Header
	client  *http.Client
	pause   time.Duration
}

// newCollector returns a client for an endpoint. headers is a list such as name=value,other=value.
func newCollector(endpoint, headers string) (*collector, error) {
	c := &collector{url: strings.TrimSuffix(endpoint, "/") + "/v1/traces", headers: make(http.Header), pause: firstPause}
	for item := range strings.SplitSeq(headers, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		name, value, ok := strings.Cut(item, "=")
		value, err := url.PathUnescape(value)
		if !ok || err != nil {
			return nil, errors.New("OTEL_EXPORTER_OTLP_HEADERS must be a list such as name=value,other=value")
		}
		c.headers.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	c.client = &http.Client{
		Transport: transport, Timeout: collectorPatience,
		// The headers can have a secret.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// Start does nothing: connections are opened when they are needed.
func (c *collector) Start(context.Context) error { return nil }

// Stop closes connections.
func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces sends spans, and again if the collector asks for it, until ctx ends.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// TracesData has the wire format of a request.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	for pause := c.pause; ; pause *= 2 {
		after, err := c.send(ctx, body)
		if err == nil || after < 0 {
			return err
		}
		select {
		case <-time.After(max(pause, after)):
		case <-ctx.Done():
			return err
		}
	}
}

// noRetry says that sending the same spans again is of no use.
const noRetry = time.Duration(-1)

// send makes one request. If it fails, it returns the shortest pause before the next one, or noRetry.
func (c *collector) send(ctx context.Context, body []byte) (after time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return noRetry, err
	}
	r.Header = c.headers.Clone()
	r.Header.Set("Content-Type", "application/x-protobuf")
	response, err := c.client.Do(r)
	if err != nil {
		return noRetry, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxCollectorText))
	if err != nil {
		return noRetry, err
	}
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
			after = time.Duration(min(max(seconds, 0), 60)) * time.Second
		}
	default:
		after = noRetry
	}
	if response.StatusCode/100 != 2 {
		return after, fmt.Errorf("the collector returned %s", response.Status)
	}
	if count := rejectedSpans(text); count > 0 && response.Header.Get("Content-Type") == r.Header.Get("Content-Type") {
		return noRetry, fmt.Errorf("the collector rejected %d spans", count)
	}
	return 0, nil
}

// rejectedSpans reads how many spans a response reports as rejected: partial_success.rejected_spans, in which
// both fields have the number 1.
func rejectedSpans(response []byte) uint64 {
	inner, rest := firstField(response)
	if inner != protowire.BytesType {
		return 0
	}
	partial, _ := protowire.ConsumeBytes(rest)
	if kind, rest := firstField(partial); kind == protowire.VarintType {
		count, _ := protowire.ConsumeVarint(rest)
		return count
	}
	return 0
}

// firstField returns the type of a message's field 1 and what follows its tag.
func firstField(message []byte) (protowire.Type, []byte) {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			break
		}
		if number == 1 {
			return kind, message[tag:]
		}
		value := protowire.ConsumeFieldValue(number, kind, message[tag:])
		if value < 0 {
			break
		}
		message = message[tag+value:]
	}
	return -1, nil
}
