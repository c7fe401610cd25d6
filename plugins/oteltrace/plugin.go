package oteltrace

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/trace"
)

// Version is the version of the plugin.
const Version = "0.1.0"

// ID is the id of the plugin.
const ID = "opentelemetry.trace"

// Config says where the spans go. The zero value works.
type Config struct {
	// Exporter makes what takes the spans, anew for each activation of the plugin, which shuts it down. nil: OTLP over HTTP, set
	// up by the OTEL_EXPORTER_OTLP_ variables of the environment, except for those that name certificates. An error faults the
	// plugin and nothing else. Connections that an exporter leaves open when it is shut down count as left behind by the
	// plugin.
	Exporter func(ctx context.Context) (sdk.SpanExporter, error)
	// Service is the name of the program in its traces. Blank: what OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say, and
	// else crystal.
	Service string
}

// New makes the plugin.
func New(c Config) plugins.Plugin {
	if c.Exporter == nil {
		c.Exporter = overHTTP
	}
	return plugins.Plugin{
		ID: ID, Version: Version, Name: "OpenTelemetry traces",
		Module: fx.Options(
			fx.Supply(c),
			contrib.Provide(trace.Sinks, newSink, contrib.Label("spans")),
		),
	}
}

// overHTTP makes the default exporter. Its connections are its own, so that none is left when it is shut down.
func overHTTP(ctx context.Context) (sdk.SpanExporter, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute}
	e, err := otlptracehttp.New(ctx, otlptracehttp.WithHTTPClient(&http.Client{Transport: transport, Timeout: sendTime}))
	if err != nil {
		return nil, err
	}
	return &closing{e, transport}, nil
}

// sendTime bounds one export.
const sendTime = 10 * time.Second

// closing is an exporter with connections that end with it.
type closing struct {
	sdk.SpanExporter
	transport *http.Transport
}

// Shutdown shuts the exporter down and closes its connections.
func (c *closing) Shutdown(ctx context.Context) error {
	defer c.transport.CloseIdleConnections()
	return c.SpanExporter.Shutdown(ctx)
}

// newSink makes the sink of one activation.
func newSink(c Config, l fx.Lifecycle) (trace.Sink, error) {
	ctx := context.Background()
	// What the environment says comes last, so that it counts.
	about, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName(cmp.Or(c.Service, "crystal"))), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("oteltrace: describe the program: %w", err)
	}
	if c.Service != "" {
		about, err = resource.Merge(about, resource.NewSchemaless(semconv.ServiceName(c.Service)))
		if err != nil {
			return nil, fmt.Errorf("oteltrace: describe the program: %w", err)
		}
	}
	exporter, err := c.Exporter(ctx)
	if err != nil {
		return nil, fmt.Errorf("oteltrace: make the exporter: %w", err)
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))
	s := newSpans(provider.Tracer("github.com/crystalkernel/crystal/plugins/oteltrace"))
	l.Append(fx.StopHook(func(ctx context.Context) error {
		s.end()
		if err := provider.Shutdown(ctx); err != nil {
			return fmt.Errorf("oteltrace: send the last spans: %w", err)
		}
		return nil
	}))
	return s, nil
}
