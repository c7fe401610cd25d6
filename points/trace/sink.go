package trace

import (
	"context"
	"encoding/json"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Event is one event of a trace: the JSON form of an event of the kernel's stream, with where and when it happened.
type Event struct {
	Type   string
	Thread string
	Turn   string // blank outside a turn
	Time   time.Time
	Data   json.RawMessage // the event as one JSON object
}

// Queue is how many events wait for one sink; when more come, the oldest waiting one is dropped and counted.
const Queue = 1024

// Sink records events, in the order of their publication, each sink from a queue of its own. Record owns the event. The
// host's own log of the thread keeps everything that matters for the thread, whatever a sink does.
type Sink interface {
	Name() string
	Record(ctx context.Context, e Event) error
}

// SinkFunc makes a sink of a function.
func SinkFunc(name string, record func(ctx context.Context, e Event) error) Sink {
	return sinkFunc{name, record}
}

type sinkFunc struct {
	name   string
	record func(context.Context, Event) error
}

func (s sinkFunc) Name() string                              { return s.name }
func (s sinkFunc) Record(ctx context.Context, e Event) error { return s.record(ctx, e) }

// Sinks is the point trace.sink.
var Sinks = contrib.Define(contrib.Spec[Sink]{
	Name: "trace.sink", Doc: "Records the events of all threads, from a bounded queue.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceOnly,
	Evaluation: contrib.Pumped, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Describe: describeSink,
	Guard:    guardSink,
})
