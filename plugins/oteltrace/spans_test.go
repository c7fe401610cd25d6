package oteltrace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/plugins/oteltrace"
	"github.com/crystalkernel/crystal/points/trace"
)

// told is an event, in a turn that is t1 unless it says otherwise.
type told struct{ kind, data, turn string }

// record has a sink record events, each a second after the one before, and returns the spans by their names.
func record(t *testing.T, events ...told) map[string][]tracetest.SpanStub {
	t.Helper()
	kept := &kept{InMemoryExporter: tracetest.NewInMemoryExporter()}
	sink, stop := start(t, oteltrace.Config{Exporter: func(context.Context) (sdk.SpanExporter, error) { return kept, nil }})
	at := time.Unix(1000, 0)
	for _, e := range events {
		at = at.Add(time.Second)
		if e.turn == "" {
			e.turn = "t1"
		}
		require.NoError(t, sink.Record(t.Context(), trace.Event{Type: e.kind, Thread: "t", Turn: e.turn, Time: at, Data: json.RawMessage(e.data)}))
	}
	stop()
	out := map[string][]tracetest.SpanStub{}
	for _, s := range kept.spans {
		out[s.Name] = append(out[s.Name], s)
	}
	return out
}

// kept is an exporter that still has its spans when it was shut down.
type kept struct {
	*tracetest.InMemoryExporter
	spans tracetest.SpanStubs
}

func (k *kept) Shutdown(ctx context.Context) error {
	k.spans = k.GetSpans()
	return k.InMemoryExporter.Shutdown(ctx)
}

// start starts the plugin as a module of a host that has nothing else, and returns its sink.
func start(t *testing.T, c oteltrace.Config, opts ...fx.Option) (sink trace.Sink, stop func()) {
	t.Helper()
	app := fx.New(fx.NopLogger, fx.Options(opts...), trace1, oteltrace.New(c).AsModule(),
		fx.Invoke(func(r *contrib.Registry) { sink = trace.Sinks.In(r.View(), "")[0] }))
	require.NoError(t, app.Start(t.Context()))
	return sink, func() { require.NoError(t, app.Stop(context.Background())) }
}

// trace1 is a registry with the one point.
var trace1 = fx.Provide(
	func() (*contrib.Registry, error) { return contrib.New(trace.Sinks) },
	func(r *contrib.Registry) *contrib.Registrar { return r.Builtin() },
)

const begun = `{"provider":"p","model":"m","mode":"work"}`

func value(s tracetest.SpanStub, key string) string {
	for _, a := range s.Attributes {
		if string(a.Key) == key {
			return a.Value.String()
		}
	}
	return ""
}

// A sink gets what the queue left of the events: begins and ends may be missing.
func TestLostEventsCostSpansAndNothingElse(t *testing.T) {
	spans := record(
		t,
		told{"call_ended", `{"callId":"c0","name":"early","status":"success"}`, ""},
		told{"turn_ended", `{"reason":"completed"}`, ""},
		told{"turn_started", begun, ""},
		told{"call_started", `{"callId":"c1","name":"lost"}`, ""},
		told{"call_started", `{"callId":"c1","name":"again"}`, ""},
		told{"call_ended", `{"callId":"c1","name":"again","status":"success"}`, ""},
		told{"call_ended", `{"callId":"c2","name":"late","status":"timeout"}`, ""},
		told{"text_delta", `{"text":"x"}`, ""},
		told{"of a newer kernel", `{}`, ""},
		told{"call_started", `{"callId":"c9","name":"of another turn"}`, "t2"},
		told{"turn_ended", `{"reason":"completed"}`, "t2"},
		told{"turn_started", begun, "t3"},
		told{"turn_ended", `{"reason":"interrupted"}`, "t3"},
		told{"turn_started", begun, "t4"}, // and the plugin stops
	)
	require.Len(t, spans, 4)
	turns := spans["invoke_agent crystal"]
	require.Len(t, turns, 3)
	for i, want := range []struct{ turn, failure string }{{"t1", "unfinished"}, {"t3", "interrupted"}, {"t4", "unfinished"}} {
		assert.Equal(t, want.turn, value(turns[i], "crystal.turn.id"))
		assert.Equal(t, want.failure, value(turns[i], "error.type"))
	}
	for name, failure := range map[string]string{"lost": "unfinished", "again": "", "late": "timeout"} {
		require.Len(t, spans["execute_tool "+name], 1)
		assert.Equal(t, failure, value(spans["execute_tool "+name][0], "error.type"), name)
	}
}

// The times of spans are those of the events: nothing is measured again.
func TestSpansHaveTheTimesOfTheirEvents(t *testing.T) {
	spans := record(
		t,
		told{"turn_started", begun, ""},
		told{"model_round", `{"model":"m","durationMs":250,"firstTokenMs":100}`, ""},
		told{"call_started", `{"callId":"c1","name":"read"}`, ""},
		told{"call_ended", `{"callId":"c1","name":"read","status":"success"}`, ""},
		told{"turn_ended", `{"reason":"completed"}`, ""},
	)
	for name, want := range map[string][2]int64{"invoke_agent crystal": {1001_000, 1005_000}, "chat m": {1001_750, 1002_000}, "execute_tool read": {1003_000, 1004_000}} {
		require.Len(t, spans[name], 1, name)
		assert.Equal(t, want, [2]int64{spans[name][0].StartTime.UnixMilli(), spans[name][0].EndTime.UnixMilli()}, name)
	}
	assert.Equal(t, "0.1", value(spans["chat m"][0], "gen_ai.response.time_to_first_chunk"))
}

// Requests of a subagent and the events of calls come on two ways, of which either may be the faster.
func TestRequestsLieBelowTheirCallInWhateverOrderTheyAreTold(t *testing.T) {
	spans := record(
		t,
		told{"turn_started", begun, ""},
		told{"model_round", `{"model":"before","parentCallId":"c1"}`, ""},
		told{"call_started", `{"callId":"c1","name":"task"}`, ""},
		told{"call_ended", `{"callId":"c1","name":"task","status":"success"}`, ""},
		told{"model_round", `{"model":"after","parentCallId":"c1"}`, ""},
		told{"model_round", `{"model":"never","parentCallId":"c2"}`, ""},
		told{"turn_ended", `{"reason":"completed"}`, ""},
		told{"model_round", `{"model":"beside"}`, ""},
	)
	task, turn := spans["execute_tool task"][0].SpanContext.SpanID(), spans["invoke_agent crystal"][0].SpanContext.SpanID()
	assert.Equal(t, task, spans["chat before"][0].Parent.SpanID())
	assert.Equal(t, task, spans["chat after"][0].Parent.SpanID())
	assert.Equal(t, turn, spans["chat never"][0].Parent.SpanID(), "the call was never told")
	assert.False(t, spans["chat beside"][0].Parent.IsValid(), "it is no part of a turn")
}

func TestWhatAModelHasNamedIsBounded(t *testing.T) {
	name := strings.Repeat("a", 127) + strings.Repeat("é", 1000)
	spans := record(t, told{"turn_started", begun, ""}, told{"call_ended", fmt.Sprintf(`{"callId":%q,"name":%q,"status":"failure","code":%q}`, name, name, name), ""})
	for got, list := range spans {
		for _, s := range list {
			assert.True(t, utf8.ValidString(got))
			assert.LessOrEqual(t, len(got), 128+len("execute_tool "))
			for _, a := range s.Attributes {
				assert.LessOrEqual(t, len(a.Value.String()), 128, a.Key)
			}
		}
	}
	assert.Len(t, spans["execute_tool "+strings.Repeat("a", 127)], 1)
}

func TestAnEventThatCannotBeReadIsAnError(t *testing.T) {
	sink, stop := start(t, oteltrace.Config{})
	defer stop()
	assert.Error(t, sink.Record(t.Context(), trace.Event{Type: "turn_started", Data: json.RawMessage(`{`)}))
}
