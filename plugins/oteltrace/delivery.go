package oteltrace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

const (
	// sendTime bounds one request to a collector.
	sendTime = 10 * time.Second
	// stopTime is how long a plugin that stops goes on sending what is left.
	stopTime = 3 * time.Second
)

// overHTTP makes the default exporter. Its connections are its own, so that none is left when it is shut down.
func overHTTP(ctx context.Context) (sdk.SpanExporter, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute}
	options := []otlptracehttp.Option{otlptracehttp.WithHTTPClient(&http.Client{Transport: transport, Timeout: sendTime})}
	if url := localURL(os.Getenv); url != "" {
		options = append(options, otlptracehttp.WithEndpointURL(url))
	}
	e, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, err
	}
	return &closing{e, transport}, nil
}

// localURL is where a collector of this machine listens, if the environment names none. The exporter itself would try TLS there.
func localURL(env func(string) string) string {
	if env("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "" {
		return ""
	}
	return "http://localhost:4318/v1/traces"
}

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

// delivery is an exporter whose failures go to the log of the plugin, and not to where the OpenTelemetry library prints
// them, and whose requests end when the plugin gives them up.
type delivery struct {
	sdk.SpanExporter
	log    *slog.Logger
	over   context.Context // what is sent ends with it
	giveUp context.CancelFunc
	failed atomic.Bool // the last batch did not arrive
}

func newDelivery(e sdk.SpanExporter, log *slog.Logger) *delivery {
	ctx, cancel := context.WithCancel(context.Background())
	return &delivery{SpanExporter: e, log: log, over: ctx, giveUp: cancel}
}

// ExportSpans sends spans, or says in the log that they are lost. Of failures in a row the first one is told.
func (d *delivery) ExportSpans(ctx context.Context, list []sdk.ReadOnlySpan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.over, cancel)()
	err := d.over.Err()
	if err == nil {
		err = d.send(ctx, list)
	}
	switch {
	case err != nil && !d.failed.Swap(true):
		d.log.Warn("spans do not reach the collector and are lost; a line says when they do again", "spans", len(list), "error", short(err))
	case err == nil && d.failed.Swap(false):
		d.log.Info("spans reach the collector again")
	}
	return nil
}

// errPanic stands for an exporter that panicked.
var errPanic = errors.New("the exporter panicked")

func (d *delivery) send(ctx context.Context, list []sdk.ReadOnlySpan) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
	}()
	return d.SpanExporter.ExportSpans(ctx, list)
}

// stop sends what is left and shuts the exporter down. After stopTime nothing more is sent.
func (d *delivery) stop(ctx context.Context, p *sdk.TracerProvider) error {
	defer d.giveUp()
	defer time.AfterFunc(stopTime, d.giveUp).Stop()
	ctx, cancel := context.WithTimeout(ctx, 2*stopTime) // for an exporter that does not look at its context
	defer cancel()
	if err := p.Shutdown(ctx); err != nil {
		return fmt.Errorf("oteltrace: shut the exporter down: %w", err)
	}
	return nil
}

// short bounds an error, which may hold what a collector answered.
func short(err error) string {
	const most = 500
	if s := err.Error(); len(s) > most {
		return s[:most] + "…"
	}
	return err.Error()
}
