package oteltrace_test

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/plugins/oteltrace"
	"github.com/crystalkernel/crystal/plugins/plugintest"
	"github.com/crystalkernel/crystal/points"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

func TestMain(m *testing.M) {
	otel.SetErrorHandler(&printed)
	goleak.VerifyTestMain(m)
}

// backend is the side of a collector: it decodes what is sent.
type backend struct {
	url   string
	turns chan struct{} // gets one for each span of a turn

	mu      sync.Mutex
	spans   []*wire.Span
	service string
}

func newBackend(t *testing.T) *backend {
	t.Helper()
	b := &backend{turns: make(chan struct{}, 64)}
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
				for _, span := range ss.Spans {
					if strings.HasPrefix(span.Name, "invoke_agent") {
						b.turns <- struct{}{}
					}
				}
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

// all returns what has arrived.
func (b *backend) all() []*wire.Span {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.spans)
}

// named returns the spans of a name, in the order of their start.
func (b *backend) named(name string) []*wire.Span {
	found := slices.DeleteFunc(b.all(), func(s *wire.Span) bool { return s.Name != name })
	slices.SortStableFunc(found, func(x, y *wire.Span) int { return cmp.Compare(x.StartTimeUnixNano, y.StartTimeUnixNano) })
	return found
}

// one returns the one span of a name.
func (b *backend) one(t *testing.T, name string) *wire.Span {
	t.Helper()
	found := b.named(name)
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
			kerneltest.Step{Calls: []kerneltest.Call{{ID: "c1", Name: "outer", Arguments: `{"secret":"hunter2"}`}}, Usage: &model.Usage{Input: 11, Output: 3, CacheRead: 5, CacheWrite: 2, Reasoning: 1}},
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
		"gen_ai.provider.name": "acme", "gen_ai.request.model": "large", "crystal.stop_reason": "completed",
		"gen_ai.usage.input_tokens": int64(11), "gen_ai.usage.output_tokens": int64(3), "gen_ai.usage.cache_read.input_tokens": int64(5),
		"gen_ai.usage.cache_creation.input_tokens": int64(2), "gen_ai.usage.reasoning.output_tokens": int64(1),
		"crystal.turn.id": "t1", "crystal.mode": "work", "crystal.model_calls": int64(2), "crystal.tool_calls": int64(2),
	}, attributes(root))
	outer, inner := b.one(t, "execute_tool outer"), b.one(t, "execute_tool inner")
	assert.Equal(t, root.SpanId, outer.ParentSpanId)
	assert.Equal(t, outer.SpanId, inner.ParentSpanId, "a call of a tool lies below that of the tool")
	assert.Equal(t, map[string]any{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "outer", "gen_ai.tool.type": "function", "gen_ai.tool.call.id": "c1",
		"gen_ai.conversation.id": th.ID(), "error.type": "acme_quota",
	}, attributes(outer))
	assert.Equal(t, "acme_quota", attributes(inner)["error.type"])
	assert.Equal(t, wire.Status_STATUS_CODE_ERROR, inner.Status.Code)
	assert.LessOrEqual(t, outer.StartTimeUnixNano, inner.StartTimeUnixNano)
	assert.LessOrEqual(t, inner.EndTimeUnixNano, outer.EndTimeUnixNano)

	chats := b.named("chat large")
	require.Len(t, chats, 2)
	for _, chat := range chats {
		assert.Equal(t, wire.Span_SPAN_KIND_CLIENT, chat.Kind)
		assert.Equal(t, root.SpanId, chat.ParentSpanId)
	}
	first := attributes(chats[0])
	delete(first, "gen_ai.response.time_to_first_chunk") // there is one when it took a millisecond
	assert.Equal(t, map[string]any{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "acme", "gen_ai.request.model": "large", "gen_ai.conversation.id": th.ID(),
		"gen_ai.response.finish_reasons": []string{"tool_calls"},
		"gen_ai.usage.input_tokens":      int64(11), "gen_ai.usage.output_tokens": int64(3), "gen_ai.usage.cache_read.input_tokens": int64(5),
		"gen_ai.usage.cache_creation.input_tokens": int64(2), "gen_ai.usage.reasoning.output_tokens": int64(1),
		"crystal.purpose": "work", "crystal.attempts": int64(1),
	}, first)
	assert.Equal(t, []string{"stop"}, attributes(chats[1])["gen_ai.response.finish_reasons"])
	for _, s := range b.all() {
		assert.Equal(t, hex.EncodeToString(root.TraceId), hex.EncodeToString(s.TraceId))
		assert.NotContains(t, s.String(), "hunter2", "nothing that was said leaves the host")
	}
}

func TestWhatASubagentDoesLiesBelowTheCallThatStartedIt(t *testing.T) {
	b := newBackend(t)
	k := kerneltest.Start(t, kernel.Subagents,
		kerneltest.ScriptOf(model.ClientRequest{Provider: "acme", Model: "large", ContextWindow: 1 << 20},
			kerneltest.Step{Text: "an earlier turn"},
			kerneltest.Step{Calls: []kerneltest.Call{{ID: "c1", Name: kernel.TaskTool, Arguments: `{"profile":"explore","task":"look"}`}}},
			kerneltest.Step{Calls: []kerneltest.Call{{ID: "c2", Name: "read", Arguments: `{}`}}}, // the subagent
			kerneltest.Step{Text: "seen"}, // the subagent
			kerneltest.Step{Text: "done"}),
		kerneltest.Tools(reading("read", func(context.Context, tool.Invocation) (tool.Result, error) { return tool.Text("x"), nil })),
		kerneltest.Plugins(b.plugin(t)))
	k.Run("before")
	require.Equal(t, kernel.Completed, k.Run("go").Result.Stop)
	deliver(t, k)
	roots := b.named("invoke_agent crystal")
	require.Len(t, roots, 2)
	task, read := b.one(t, "execute_tool "+kernel.TaskTool), b.one(t, "execute_tool read")
	assert.Equal(t, roots[1].SpanId, task.ParentSpanId)
	assert.Equal(t, task.SpanId, read.ParentSpanId)
	assert.Equal(t, "explore", attributes(read)["gen_ai.agent.name"])
	var below []*wire.Span
	for _, chat := range b.named("chat large") {
		if attributes(chat)["gen_ai.agent.name"] == "explore" {
			below = append(below, chat)
			assert.Equal(t, task.SpanId, chat.ParentSpanId)
		}
	}
	assert.Len(t, below, 2)
}

func TestAPluginThatIsSwitchedOffSendsNothingMore(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
	b := newBackend(t)
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(b.plugin(t)))
	on := func(on bool) {
		_, err := k.Plugins.SetEnabled(t.Context(), oteltrace.ID, on, plugins.ScopeProcess)
		require.NoError(t, err)
	}
	k.Run("first")
	<-b.turns
	on(false)
	before := len(b.all())
	require.Equal(t, kernel.Completed, k.Run("second").Result.Stop)
	on(true)
	k.Run("third")
	<-b.turns
	deliver(t, k)
	assert.Len(t, b.all(), 2*before, "nothing of the second turn")
	assert.Len(t, b.named("invoke_agent crystal"), 2)
	for _, span := range b.all() {
		assert.NotContains(t, attributes(span), "error.type")
	}
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

func TestConformance(t *testing.T) {
	b := newBackend(t)
	plugintest.Run(t, b.plugin(t), plugintest.Setup{Points: points.Catalog()})
}
