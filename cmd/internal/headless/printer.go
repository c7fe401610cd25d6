package headless

import (
	"time"

	"github.com/crystalkernel/crystal/kernel"
)

// Printer prints one turn. Its methods are called one after another. A failed write is kept by the writer, not returned.
type Printer interface {
	// Begin is called once, when the thread is open and before the turn.
	Begin(Init)
	// Event takes the events of the turn in their order.
	Event(kernel.Event)
	// End is called once, after the thread was closed.
	End(End)
}

// Init is what a turn starts with.
type Init struct {
	Thread                     string
	Version                    string
	Workspace, Provider, Model string
	Mode, Approval             string
	Resumed                    bool
	Tools                      []string
	Plugins                    []Plugin
	Problems                   []Problem
	Notes                      []Note // of the start, for people
}

// Plugin is one plugin of the host.
type Plugin struct {
	ID      string `json:"id"`
	Version string `json:"version"`
	Source  string `json:"source"`
	State   string `json:"state"`
}

// Problem is one finding of the start.
type Problem struct {
	Code      string `json:"code"`
	Plugin    string `json:"plugin,omitempty"`
	Directory string `json:"directory,omitempty"`
	Text      string `json:"text"`
}

// Note is one line for people.
type Note struct{ Text string }

// End is how it all came out.
type End struct {
	Status string // stop reason, or denied
	Exit   int
	Hint   string // how to go on with the thread
}

// stamp is the form of a time in a line of JSON.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
