package wire

import (
	"net/http"

	"github.com/crystalkernel/crystal/points/model"
)

// Codec is what one protocol adds to the common way of a request. It must be safe for use by several goroutines.
type Codec interface {
	// Target returns the path below the base URL, with a query of its own if the protocol has one.
	Target(model string) string
	// Authorize sets the headers that carry the key, and those that belong to it.
	Authorize(h http.Header, r model.ClientRequest)
	// Encode appends the body of r to e.Body and says in e what it found. The same request and variant give the same
	// bytes. An error is a refusal before sending.
	Encode(e *Encoding, r *model.Request) error
	// Decoder returns what reads one answer.
	Decoder() Decoder
}

// Variant says what is left out of a request because the provider refused it.
type Variant struct {
	WithoutReasoning bool // earlier reasoning and its state
	WithoutUsage     bool // the wish for usage in the stream
}

// Encoding is a request body in the making.
type Encoding struct {
	Variant
	Body             []byte
	CarriesReasoning bool // set by the codec: the request holds earlier reasoning
	AsksForUsage     bool // set by the codec: the request asks for usage in the stream
	GearIgnored      bool // set by the codec: the protocol has no such thinking gear
}

// Progress says how far an answer has come.
type Progress uint8

// The stages of an answer.
const (
	More     Progress = iota // the terminal event is still to come
	Trailing                 // the answer is whole; usage may follow for a short time
	Complete                 // nothing that follows counts
)

// Decoder reads the events of one answer and writes what they say to a [Sink].
type Decoder interface {
	// Event takes one JSON value. name is the event's name, blank in most protocols. data is valid during the call only.
	// An error is a [*Fault], a [*InvalidError], or anything else, which counts as an invalid stream.
	Event(name, data []byte, out *Sink) (Progress, error)
	// Done is told of the end mark of Chat Completions.
	Done(out *Sink) Progress
	// Close is called once, after the last event. It writes what was held back and the finish, or reports that there
	// was no terminal event.
	Close(out *Sink) (whole bool)
}

// Unsigned is the state of reasoning that came without a signature. It marks the reasoning as the protocol's own: it is
// left out of later requests, where that of another model would be sent as text.
const Unsigned = "unsigned"

// Bearer sets a key as a bearer token; a blank key sets nothing.
func Bearer(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}
