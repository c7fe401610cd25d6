package oteltrace

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	otel "go.opentelemetry.io/otel/trace"

	"github.com/crystalkernel/crystal/points/trace"
)

// agentName is the name of the main agent in spans.
const agentName = "crystal"

// maxOpen bounds how many turns may be open: of one whose end was lost nothing would ever be heard again.
const maxOpen = 1024

// spans makes spans of the events of one host. It is safe for use by several goroutines.
type spans struct {
	tracer otel.Tracer

	mu    sync.Mutex
	turns map[string]*turn // by thread
}

// turn is a running turn.
type turn struct {
	id    string
	ctx   context.Context
	span  otel.Span
	began time.Time
	calls map[string]*call // those that have ended too: what they started may be told later
	early []request        // of calls that were not told yet
	code  string           // why it failed
}

type call struct {
	ctx  context.Context
	span otel.Span // nil: it has ended
}

// request is a request of a subagent that was told before the call that started it.
type request struct {
	trace.Event
	event
}

func newSpans(t otel.Tracer) *spans { return &spans{tracer: t, turns: map[string]*turn{}} }

var _ trace.Sink = (*spans)(nil)

// Name returns opentelemetry.
func (*spans) Name() string { return "opentelemetry" }

// Record makes of an event what it stands for: the begin of a span, its end, or both.
func (s *spans) Record(_ context.Context, e trace.Event) error {
	switch e.Type {
	case turnStarted, turnEnded, modelRound, callStarted, callEnded, failure:
	default:
		return nil
	}
	var v event
	if err := json.Unmarshal(e.Data, &v); err != nil {
		return fmt.Errorf("oteltrace: read an event of type %s: %w", e.Type, err)
	}
	v.bound()
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.turns[e.Thread]
	if e.Type == turnStarted {
		s.start(e, &v, t)
		return nil
	}
	if t == nil || e.Turn != "" && e.Turn != t.id { // its begin was lost, or it is no part of a turn
		if e.Type == modelRound {
			s.chat(context.Background(), e, &v)
		}
		return nil
	}
	switch e.Type {
	case turnEnded:
		s.finish(e, &v, t)
	case modelRound:
		if _, known := t.calls[v.ParentID]; !known && v.ParentID != "" {
			t.early = append(t.early, request{e, v})
		} else {
			s.chat(t.below(v.ParentID), e, &v)
		}
	case callStarted:
		s.begin(t, e, &v)
	case callEnded:
		s.endCall(t, e, &v)
	case failure:
		t.code = v.Code
	}
	return nil
}

// below is the context of a parent call, or of the turn.
func (t *turn) below(parent string) context.Context {
	if c, ok := t.calls[parent]; ok {
		return c.ctx
	}
	return t.ctx
}

// start begins the span of a turn. One of the same thread that is still open has lost its end.
func (s *spans) start(e trace.Event, v *event, before *turn) {
	if before != nil {
		s.lose(e.Thread, e.Time)
	}
	if len(s.turns) >= maxOpen {
		s.forgetOldest(e.Time)
	}
	ctx, span := s.tracer.Start(context.Background(), "invoke_agent "+agentName, otel.WithTimestamp(e.Time), otel.WithNewRoot(),
		otel.WithAttributes(
			semconv.GenAIOperationNameInvokeAgent, semconv.GenAIAgentName(agentName), semconv.GenAIConversationID(e.Thread),
			semconv.GenAIProviderNameKey.String(v.Provider), semconv.GenAIRequestModel(v.Model),
			attribute.String("crystal.turn.id", e.Turn), attribute.String("crystal.mode", v.Mode),
		))
	s.turns[e.Thread] = &turn{id: e.Turn, ctx: ctx, span: span, began: e.Time, calls: map[string]*call{}}
}

func (s *spans) forgetOldest(now time.Time) {
	oldest := ""
	for thread, t := range s.turns {
		if oldest == "" || t.began.Before(s.turns[oldest].began) {
			oldest = thread
		}
	}
	s.lose(oldest, now)
}

// finish ends the span of a turn.
func (s *spans) finish(e trace.Event, v *event, t *turn) {
	delete(s.turns, e.Thread)
	t.span.SetAttributes(attribute.String("crystal.stop_reason", v.Reason),
		attribute.Int("crystal.model_calls", v.ModelCalls), attribute.Int("crystal.tool_calls", v.ToolCalls))
	t.span.SetAttributes(tokens(v.Usage)...)
	if v.Reason != completed {
		fail(t.span, cmp.Or(t.code, v.Reason))
	}
	s.close(t, e.Time)
}

// unfinished stands for the end of what was never told to have ended.
const unfinished = "unfinished"

// lose ends the turn of a thread whose end was not told.
func (s *spans) lose(thread string, at time.Time) {
	t := s.turns[thread]
	delete(s.turns, thread)
	fail(t.span, unfinished)
	s.close(t, at)
}

// close ends what is open of a turn.
func (s *spans) close(t *turn, at time.Time) {
	for _, c := range t.calls {
		c.lost(at)
	}
	for _, r := range t.early {
		s.chat(t.below(r.ParentID), r.Event, &r.event)
	}
	t.span.End(otel.WithTimestamp(at))
}

// lost ends the span of a call whose end was not told.
func (c *call) lost(at time.Time) {
	if c.span == nil {
		return
	}
	fail(c.span, unfinished)
	c.span.End(otel.WithTimestamp(at))
}

// chat makes the span of a request to a model, which is over.
func (s *spans) chat(ctx context.Context, e trace.Event, v *event) {
	_, span := s.tracer.Start(ctx, "chat "+v.Model, otel.WithSpanKind(otel.SpanKindClient),
		otel.WithTimestamp(e.Time.Add(-time.Duration(v.DurationMs)*time.Millisecond)),
		otel.WithAttributes(
			semconv.GenAIOperationNameChat, semconv.GenAIConversationID(e.Thread),
			semconv.GenAIProviderNameKey.String(v.Provider), semconv.GenAIRequestModel(v.Model),
			attribute.String("crystal.purpose", v.Purpose), attribute.Int("crystal.attempts", v.Attempts),
		))
	if v.Agent != "" {
		span.SetAttributes(semconv.GenAIAgentName(v.Agent))
	}
	if v.FirstTokenMs > 0 {
		span.SetAttributes(semconv.GenAIResponseTimeToFirstChunk(float64(v.FirstTokenMs) / 1000))
	}
	if v.Finish != "" {
		span.SetAttributes(semconv.GenAIResponseFinishReasons(v.Finish))
	}
	span.SetAttributes(tokens(v.Usage)...)
	if v.Code != "" {
		fail(span, v.Code)
	}
	span.End(otel.WithTimestamp(e.Time))
}

// begin begins the span of a call.
func (s *spans) begin(t *turn, e trace.Event, v *event) *call {
	if before := t.calls[v.CallID]; before != nil {
		before.lost(e.Time)
	}
	ctx, span := s.tracer.Start(t.below(v.ParentID), "execute_tool "+v.Name, otel.WithTimestamp(e.Time),
		otel.WithAttributes(
			semconv.GenAIOperationNameExecuteTool, semconv.GenAIToolName(v.Name), semconv.GenAIToolType("function"), semconv.GenAIToolCallID(v.CallID),
			semconv.GenAIConversationID(e.Thread),
		))
	if v.Agent != "" {
		span.SetAttributes(semconv.GenAIAgentName(v.Agent))
	}
	c := &call{ctx, span}
	t.calls[v.CallID] = c
	return c
}

// endCall ends the span of a call. One that was refused before it started has a span without length.
func (s *spans) endCall(t *turn, e trace.Event, v *event) {
	c := t.calls[v.CallID]
	if c == nil || c.span == nil {
		c = s.begin(t, e, v)
	}
	if v.Status != success {
		fail(c.span, cmp.Or(v.Code, v.Status))
	}
	c.span.End(otel.WithTimestamp(e.Time))
	c.ctx, c.span = otel.ContextWithSpanContext(context.Background(), c.span.SpanContext()), nil
}

// end ends what is open, when the plugin stops.
func (s *spans) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for thread := range s.turns {
		s.lose(thread, now)
	}
}

func fail(s otel.Span, code string) {
	s.SetStatus(codes.Error, code)
	s.SetAttributes(semconv.ErrorTypeKey.String(code))
}

func tokens(u *usage) []attribute.KeyValue {
	if u == nil {
		return nil
	}
	out := []attribute.KeyValue{semconv.GenAIUsageInputTokens(u.Input), semconv.GenAIUsageOutputTokens(u.Output)}
	if u.CacheRead > 0 {
		out = append(out, semconv.GenAIUsageCacheReadInputTokens(u.CacheRead))
	}
	if u.CacheWrite > 0 {
		out = append(out, semconv.GenAIUsageCacheCreationInputTokens(u.CacheWrite))
	}
	if u.Reasoning > 0 {
		out = append(out, semconv.GenAIUsageReasoningOutputTokens(u.Reasoning))
	}
	return out
}
