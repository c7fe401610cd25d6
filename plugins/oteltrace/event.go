package oteltrace

import "unicode/utf8"

// event is what this package reads of the events of the kernel.
type event struct {
	// turn_started, turn_ended
	Mode       string `json:"mode"`
	Reason     string `json:"reason"`
	ModelCalls int    `json:"modelCalls"`
	ToolCalls  int    `json:"toolCalls"`
	// turn_started, model_round
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// model_round
	Purpose      string `json:"purpose"`
	Thread       string `json:"threadId"`
	Finish       string `json:"finish"`
	Attempts     int    `json:"attempts"`
	DurationMs   int64  `json:"durationMs"`
	FirstTokenMs int64  `json:"firstTokenMs"`
	// calls, model_round
	CallID   string `json:"callId"`
	ParentID string `json:"parentCallId"`
	Agent    string `json:"agent"`
	Name     string `json:"name"`
	Status   string `json:"status"`
	// call_ended, model_round, failure
	Code string `json:"code"`
	// turn_ended, model_round
	Usage *usage `json:"usage"`
}

type usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	Reasoning  int `json:"reasoning"`
	CacheRead  int `json:"cacheRead"`
	CacheWrite int `json:"cacheWrite"`
}

// maxText bounds what a model, a tool or a provider has named.
const maxText = 128

// bound cuts what becomes the name of a span, a value or a code.
func (e *event) bound() {
	for _, s := range []*string{&e.Name, &e.Agent, &e.Code, &e.CallID, &e.Model, &e.Provider, &e.Finish} {
		if len(*s) > maxText {
			n := maxText
			for !utf8.RuneStart((*s)[n]) {
				n--
			}
			*s = (*s)[:n]
		}
	}
}

// The types of events that make spans.
const (
	turnStarted = "turn_started"
	turnEnded   = "turn_ended"
	modelRound  = "model_round"
	callStarted = "call_started"
	callEnded   = "call_ended"
	failure     = "failure"
)

// Words of the kernel.
const (
	completed = "completed"
	success   = "success"
)
