package oteltrace_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/fx"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/plugins/oteltrace"
	"github.com/crystalkernel/crystal/plugins/plugintest"
	"github.com/crystalkernel/crystal/points"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
	"github.com/crystalkernel/crystal/points/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// backend is the side of a collector: it decodes what is sent.
type backend struct {
	url string

	mu      sync.Mutex
	spans   []*wire.Span
	service string
}

func newBackend(t *testing.T) *backend {
	t.Helper()
	b := &backend{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		var request collector.ExportTraceServiceRequest
		assert.NoError(t, proto.Unmarshal(body, &request))
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, rs := range request.ResourceSpans {
			for _, a := range rs.Resource.Attributes {
				if a.Key == "service.name" {
					b.service = a.Value.GetStringValue()
				}
			}
			for _, ss := range rs.ScopeSpans {
				b.spans = append(b.spans, ss.Spans...)
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(s.Close)
	b.url = s.URL
	return b
}

// plugin sends to the backend, which the environment names.
func (b *backend) plugin(t *testing.T) plugins.Plugin {
	t.Helper()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", b.url)
	return oteltrace.New(oteltrace.Config{Service: "my-host"})
}

// deliver waits until the sinks have every event, and the backend every span.
func deliver(t *testing.T, k *kerneltest.Kernel) {
	t.Helper()
	require.NoError(t, k.Stop(t.Context()))
	_, err := k.Plugins.SetEnabled(t.Context(), oteltrace.ID, false, plugins.ScopeProcess)
	require.NoError(t, err)
}

// one returns the one span of a name.
func (b *backend) one(t *testing.T, name string) *wire.Span {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []*wire.Span
	for _, s := range b.spans {
		if s.Name == name {
			found = append(found, s)
		}
	}
	require.Len(t, found, 1, name)
	return found[0]
}

func attributes(s *wire.Span) map[string]any {
	out := map[string]any{}
	for _, a := range s.Attributes {
		switch {
		case a.Value.GetArrayValue() != nil:
			var list []string
			for _, v := range a.Value.GetArrayValue().Values {
				list = append(list, v.GetStringValue())
			}
			out[a.Key] = list
		case a.Value.GetStringValue() != "":
			out[a.Key] = a.Value.GetStringValue()
		default:
			out[a.Key] = a.Value.GetIntValue()
		}
	}
	return out
}

func reading(name string, run func(ctx context.Context, i tool.Invocation) (tool.Result, error)) tool.Registration {
	return tool.Registration{
		Definition: tool.Definition{
			ID: name, Name: name, Description: "A tool of a test.", Catalogs: tool.CatalogBoth, Hints: &tool.Hints{ReadOnly: true},
			InputSchema: json.RawMessage(`{"type":"object"}`),
		},
		Binding: tool.Binding{Runtime: tool.RuntimeFunc(run)},
	}
}

func TestATurnIsATreeOfSpans(t *testing.T) {
	b := newBackend(t)
	k := kerneltest.Start(t,
		kerneltest.ScriptOf(model.ClientRequest{Provider: "acme", Model: "large", ContextWindow: 1 << 20},
			kerneltest.Step{Calls: []kerneltest.Call{{ID: "c1", Name: "outer", Arguments: `{"secret":"hunter2"}`}}, Usage: &model.Usage{Input: 11, Output: 3}},
			kerneltest.Step{Text: "hunter2"}),
		kerneltest.Tools(
			reading("outer", func(ctx context.Context, i tool.Invocation) (tool.Result, error) { return i.Call(ctx, "inner", nil) }),
			reading("inner", func(context.Context, tool.Invocation) (tool.Result, error) {
				return tool.Failed("acme_quota", "hunter2"), nil
			})),
		kerneltest.Plugins(b.plugin(t)))
	th := k.Thread()
	turn := k.Run("hunter2")
	require.Equal(t, kernel.Completed, turn.Result.Stop)
	deliver(t, k)

	assert.Equal(t, "my-host", b.service)
	root := b.one(t, "invoke_agent crystal")
	assert.Empty(t, root.ParentSpanId)
	assert.Equal(t, map[string]any{
		"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "crystal", "gen_ai.conversation.id": th.ID(),
		"gen_ai.provider.name": "acme", "gen_ai.request.model": "large", "gen_ai.response.finish_reasons": []string{"completed"},
		"gen_ai.usage.input_tokens": int64(11), "gen_ai.usage.output_tokens": int64(3),
		"crystal.turn.id": "t1", "crystal.mode": "work", "crystal.model_calls": int64(2), "crystal.tool_calls": int64(2),
	}, attributes(root))
	outer, inner := b.one(t, "execute_tool outer"), b.one(t, "execute_tool inner")
	assert.Equal(t, root.SpanId, outer.ParentSpanId)
	assert.Equal(t, outer.SpanId, inner.ParentSpanId, "a call of a tool lies below that of the tool")
	assert.Equal(t, "c1", attributes(outer)["gen_ai.tool.call.id"])
	assert.Equal(t, "acme_quota", attributes(inner)["error.type"])
	assert.Equal(t, wire.Status_STATUS_CODE_ERROR, inner.Status.Code)
	assert.LessOrEqual(t, outer.StartTimeUnixNano, inner.StartTimeUnixNano)
	assert.LessOrEqual(t, inner.EndTimeUnixNano, outer.EndTimeUnixNano)

	var finishes [][]string
	b.mu.Lock()
	for _, s := range b.spans {
		assert.Equal(t, hex.EncodeToString(root.TraceId), hex.EncodeToString(s.TraceId))
		assert.NotContains(t, s.String(), "hunter2", "nothing that was said leaves the host")
		if s.Name == "chat large" {
			assert.Equal(t, wire.Span_SPAN_KIND_CLIENT, s.Kind)
			assert.Equal(t, root.SpanId, s.ParentSpanId)
			finishes = append(finishes, attributes(s)["gen_ai.response.finish_reasons"].([]string))
		}
	}
	b.mu.Unlock()
	assert.Equal(t, [][]string{{"tool_calls"}, {"stop"}}, finishes)
}

func TestAPluginThatIsOffSendsNothing(t *testing.T) {
	b := newBackend(t)
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(b.plugin(t)))
	_, err := k.Plugins.SetEnabled(t.Context(), oteltrace.ID, false, plugins.ScopeProcess)
	require.NoError(t, err)
	assert.Equal(t, kernel.Completed, k.Run("go").Result.Stop)
	deliver(t, k)
	assert.Empty(t, b.spans)
}

func TestFailedTurnsAndRefusedCallsSayWhy(t *testing.T) {
	b := newBackend(t)
	k := kerneltest.Start(t,
		kerneltest.ScriptOf(model.ClientRequest{Provider: "acme", Model: "large", ContextWindow: 1 << 20},
			kerneltest.Step{Calls: []kerneltest.Call{{ID: "c1", Name: "nothing", Arguments: `{}`}}},
			kerneltest.Step{Err: &model.Error{Code: "provider_http", Status: 400}}),
		kerneltest.Plugins(b.plugin(t)))
	turn := k.Run("go")
	require.Equal(t, kernel.Failed, turn.Result.Stop)
	deliver(t, k)
	assert.Equal(t, "provider_http", attributes(b.one(t, "invoke_agent crystal"))["error.type"])
	refused := b.one(t, "execute_tool nothing")
	assert.Equal(t, "tool_not_found", attributes(refused)["error.type"])
	assert.Equal(t, refused.StartTimeUnixNano, refused.EndTimeUnixNano)
}

func TestACollectorThatIsGoneCostsTheTurnNothing(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(kerneltest.Step{Text: "done"}),
		kerneltest.Plugins(oteltrace.New(oteltrace.Config{Exporter: func(context.Context) (sdk.SpanExporter, error) {
			return nil, errors.New("no collector")
		}})))
	assert.Equal(t, kernel.Completed, k.Run("go").Result.Stop)
	status, ok := k.Plugins.Snapshot().Find(oteltrace.ID)
	require.True(t, ok)
	assert.Equal(t, plugins.Faulted, status.State)
}

func TestConformance(t *testing.T) {
	b := newBackend(t)
	plugintest.Run(t, b.plugin(t), plugintest.Setup{Points: points.Catalog()})
}

// A sink gets what the queue left of the events: begins and ends may be missing.
func TestLostEventsCostSpansAndNothingElse(t *testing.T) {
	b := newBackend(t)
	var sink trace.Sink
	app := fx.New(fx.NopLogger, fx.Provide(func() (*contrib.Registry, error) { return contrib.New(points.Catalog()...) }),
		fx.Provide(func(r *contrib.Registry) *contrib.Registrar { return r.Builtin() }), b.plugin(t).Module,
		fx.Invoke(func(r *contrib.Registry) { sink = trace.Sinks.In(r.View(), "")[0] }))
	require.NoError(t, app.Start(t.Context()))
	at := time.Unix(1000, 0)
	for _, e := range []struct{ kind, data string }{
		{"call_ended", `{"callId":"c0","name":"early","status":"success"}`},
		{"turn_ended", `{"reason":"completed"}`},
		{"turn_started", `{"provider":"p","model":"m","mode":"work"}`},
		{"call_started", `{"callId":"c1","name":"lost"}`},
		{"call_ended", `{"callId":"c2","name":"late","status":"timeout"}`},
		{"text_delta", `{"text":"x"}`},
		{"of a newer kernel", `{}`},
		{"turn_started", `{"provider":"p","model":"m","mode":"plan"}`},
		{"turn_ended", `{"reason":"interrupted"}`},
		{"turn_started", `{"provider":"p","model":"open","mode":"work"}`}, // what is open when the plugin stops is ended and sent
	} {
		at = at.Add(time.Second)
		require.NoError(t, sink.Record(t.Context(), trace.Event{Type: e.kind, Thread: "t", Turn: "t1", Time: at, Data: json.RawMessage(e.data)}))
	}
	assert.Error(t, sink.Record(t.Context(), trace.Event{Type: "turn_started", Data: json.RawMessage(`{`)}))
	require.NoError(t, app.Stop(t.Context()))
	assert.Equal(t, "unfinished", attributes(b.one(t, "execute_tool lost"))["error.type"])
	assert.Equal(t, "timeout", attributes(b.one(t, "execute_tool late"))["error.type"])
	b.mu.Lock()
	defer b.mu.Unlock()
	assert.Len(t, b.spans, 5)
	for _, span := range b.spans {
		own := attributes(span)
		assert.Equal(t, own["gen_ai.request.model"] == "open" || span.Name == "execute_tool lost", own["error.type"] == "unfinished")
	}
}
