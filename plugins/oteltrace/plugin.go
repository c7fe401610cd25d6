package oteltrace

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

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
	// up by the OTEL_EXPORTER_OTLP_ variables of the environment, except for those that name certificates; without an endpoint
	// there it is http://localhost:4318. An error faults the plugin and nothing else. Connections that an exporter leaves open when it is shut down count as left behind by the
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

// settings are what a sink is made of.
type settings struct {
	fx.In

	Config    Config
	Lifecycle fx.Lifecycle
	Log       *slog.Logger `optional:"true"` // a host that has the plugin as a module may have none
}

// newSink makes the sink of one activation.
func newSink(in settings) (trace.Sink, error) {
	log := cmp.Or(in.Log, slog.New(slog.DiscardHandler))
	ctx := context.Background()
	about := program(ctx, in.Config.Service, log)
	exporter, err := in.Config.Exporter(ctx)
	if err != nil {
		return nil, fmt.Errorf("oteltrace: make the exporter: %w", err)
	}
	d := newDelivery(exporter, log)
	provider := sdk.NewTracerProvider(sdk.WithBatcher(d), sdk.WithResource(about))
	s := newSpans(provider.Tracer("github.com/crystalkernel/crystal/plugins/oteltrace"))
	in.Lifecycle.Append(fx.StopHook(func(ctx context.Context) error {
		s.end()
		return d.stop(ctx, provider)
	}))
	return s, nil
}

// program describes what the spans come from. Of what comes later counts the later.
func program(ctx context.Context, service string, log *slog.Logger) *resource.Resource {
	options := []resource.Option{
		resource.WithTelemetrySDK(), resource.WithAttributes(semconv.ServiceName("crystal")), resource.WithFromEnv(),
	}
	if service != "" {
		options = append(options, resource.WithAttributes(semconv.ServiceName(service)))
	}
	about, err := resource.New(ctx, options...)
	if err != nil {
		log.Warn("the spans do not say all about the program that the environment says", "error", short(err))
	}
	return about
}
