package oteltrace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.uber.org/fx"
	"go.uber.org/goleak"

	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/plugins/oteltrace"
	"github.com/crystalkernel/crystal/points/trace"
)

func TestAnExporterThatCannotBeMadeCostsTheTurnNothing(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(kerneltest.Step{Text: "done"}),
		plugins.Module(oteltrace.New(oteltrace.Config{Exporter: func(context.Context) (sdk.SpanExporter, error) {
			return nil, errors.New("no collector")
		}})))
	assert.Equal(t, kernel.Completed, k.Run("go").Result.Stop)
	status, ok := k.Plugins.Snapshot().Find(oteltrace.ID)
	require.True(t, ok)
	assert.Equal(t, plugins.Faulted, status.State)
}

// exporter is an exporter that is a function.
type exporter func(ctx context.Context) error

func (e exporter) ExportSpans(ctx context.Context, _ []sdk.ReadOnlySpan) error { return e(ctx) }
func (exporter) Shutdown(context.Context) error                                { return nil }

func (e exporter) config() oteltrace.Config {
	return oteltrace.Config{Exporter: func(context.Context) (sdk.SpanExporter, error) { return e, nil }}
}

// turns has a sink record n turns.
func turns(t *testing.T, sink trace.Sink, n int) {
	t.Helper()
	for i := range n {
		for _, e := range []struct{ kind, data string }{{"turn_started", begun}, {"turn_ended", `{"reason":"completed"}`}} {
			require.NoError(t, sink.Record(t.Context(), trace.Event{
				Type: e.kind, Thread: "t", Turn: fmt.Sprint("t", i), Time: time.Now(), Data: json.RawMessage(e.data),
			}))
		}
	}
}

// However much waits for a collector that does not answer, the plugin stops after a few seconds and leaves nothing behind.
func TestACollectorThatHangsHoldsTheStopUpForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := exporter(func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		sink, stop := start(t, hangs.config())
		turns(t, sink, 2000)
		began := time.Now()
		stop()
		assert.Equal(t, 3*time.Second, time.Since(began))
	})
}

// printed counts what the OpenTelemetry library handles itself, which is to print it on stderr.
var printed errorCounter

type errorCounter struct{ atomic.Int64 }

func (c *errorCounter) Handle(error) { c.Add(1) }

// quiet fails the test when something is printed.
func quiet(t *testing.T) {
	t.Helper()
	before := printed.Load()
	t.Cleanup(func() { assert.Equal(t, before, printed.Load(), "the library prints") })
}

func logTo(b *bytes.Buffer) fx.Option {
	return fx.Supply(slog.New(slog.NewTextHandler(b, nil)))
}

func TestFailuresOfACollectorAreToldOnceInTheLogAndNowhereElse(t *testing.T) {
	quiet(t)
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer // by the one goroutine that sends
		answers := []error{errors.New("first"), errors.New("second"), nil, errors.New("third")}
		sink, stop := start(t, exporter(func(context.Context) error {
			next := answers[0]
			answers = answers[1:]
			return next
		}).config(), logTo(&logged))
		for range 4 {
			turns(t, sink, 1)
			time.Sleep(time.Minute)
		}
		stop()
		lines := strings.Split(strings.TrimSpace(logged.String()), "\n")
		require.Len(t, lines, 3, logged.String())
		assert.Contains(t, lines[0], "error=first")
		assert.Contains(t, lines[1], "reach the collector again")
		assert.Contains(t, lines[2], "error=third")
	})
}

func TestAnExporterThatPanicsIsAFailure(t *testing.T) {
	quiet(t)
	var logged bytes.Buffer
	sink, stop := start(t, exporter(func(context.Context) error { panic("out of order") }).config(), logTo(&logged))
	turns(t, sink, 1)
	stop()
	assert.Contains(t, logged.String(), "the exporter panicked: out of order")
}

// What a collector says about what it refused is its own text.
func TestAnswersOfACollectorAreBoundedInTheLog(t *testing.T) {
	quiet(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte("\x1b[31m" + strings.Repeat("no ", 10_000)))
	}))
	t.Cleanup(s.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	var logged bytes.Buffer
	sink, stop := start(t, oteltrace.Config{}, logTo(&logged))
	turns(t, sink, 1)
	stop()
	assert.Contains(t, logged.String(), "400 Bad Request")
	assert.NotContains(t, logged.String(), "\x1b")
	assert.Less(t, logged.Len(), 1000)
}

func TestNoConnectionIsLeftOpen(t *testing.T) {
	b := newBackend(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", b.url)
	before := goleak.IgnoreCurrent()
	sink, stop := start(t, oteltrace.Config{})
	turns(t, sink, 1)
	stop()
	require.Len(t, b.all(), 1)
	goleak.VerifyNone(t, before)
}

func TestTheEnvironmentNamesTheCollector(t *testing.T) {
	for variable, want := range map[string]string{
		"":                                   "http://localhost:4318/v1/traces",
		"OTEL_EXPORTER_OTLP_ENDPOINT":        "",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "",
	} {
		assert.Equal(t, want, oteltrace.LocalURL(func(name string) string {
			if name == variable {
				return "https://collector.example"
			}
			return ""
		}), variable)
	}
}

func TestResourcesNameTheProgram(t *testing.T) {
	for name, tt := range map[string]struct{ service, environment, want string }{
		"nothing is said":      {"", "", "crystal"},
		"by the environment":   {"", "service.name=env", "env"},
		"by the host":          {"mine", "service.name=env", "mine"},
		"by one with mistakes": {"", "service.name=env,broken", "env"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBackend(t)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", b.url)
			t.Setenv("OTEL_RESOURCE_ATTRIBUTES", tt.environment)
			sink, stop := start(t, oteltrace.Config{Service: tt.service})
			turns(t, sink, 1)
			stop()
			assert.Equal(t, tt.want, b.service)
			assert.Len(t, b.all(), 1)
		})
	}
}
