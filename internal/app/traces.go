package app

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// traces sends spans to the operator's collector, where there is one. The
// collector is the operator's own choice, like the database: the egress policy
// is for addresses that clients choose.
type traces struct {
	tracer   trace.Tracer // nil where traces are off
	provider *sdktrace.TracerProvider
}

func newTraces(ctx context.Context, endpoint, headers, version string) (*traces, error) {
	if endpoint == "" {
		return &traces{}, nil
	}
	client, err := newCollector(endpoint, headers)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "feedmill"), attribute.String("service.version", version))),
	)
	return &traces{tracer: provider.Tracer("feedmill"), provider: provider}, nil
}

// close sends what is left. A collector that is gone loses spans and nothing else.
func (t *traces) close() {
	if t.provider == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	_ = t.provider.Shutdown(ctx)
}
