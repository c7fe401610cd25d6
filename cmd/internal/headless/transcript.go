package headless

import (
	"fmt"
	"io"
	"strings"

	"github.com/crystalkernel/crystal/internal/terminal"
	"github.com/crystalkernel/crystal/kernel"
)

// Style says how a transcript is printed.
type Style struct {
	Thinking bool // print reasoning
	Quiet    bool // print the reply of the last round alone
}

// Transcript prints a turn for people: blocks on one stream, notes and errors on the other.
type Transcript struct {
	out, err terminal.Stream
	style    Style
	blocks   int
}

var _ Printer = (*Transcript)(nil)

// NewTranscript makes a printer that prints blocks to out and talk to err.
func NewTranscript(out, err terminal.Stream, s Style) *Transcript {
	return &Transcript{out: out, err: err, style: s}
}

// Begin prints the notes of the start.
func (t *Transcript) Begin(i Init) {
	for _, n := range i.Notes {
		t.talk("[Note]", n.Text)
	}
}

// Event prints one event.
func (t *Transcript) Event(e kernel.Event) {
	switch e := e.(type) {
	case kernel.RoundCommitted:
		t.round(e)
	case kernel.CallEnded:
		t.call(e)
	case kernel.Noted:
		t.talk("[Note]", noteText(e))
	case kernel.Retrying:
		t.talk("[Retry]", fmt.Sprintf("attempt %d in %s s: %s", e.Attempt, seconds(e.Delay), e.Message))
	case kernel.Compacted:
		t.talk("[Note]", fmt.Sprintf("the thread was compacted (%s): %d tokens before, %d after", e.Reason, e.Before, e.After))
	case kernel.Failure:
		if !t.style.Quiet {
			t.block("[Partial]", e.Partial)
		}
		t.talk("[Error]", e.Message)
	case kernel.TurnEnded:
		if t.style.Quiet {
			t.block("", e.Text)
		}
	}
}

// End prints the stop line and the resume hint.
func (t *Transcript) End(e End) {
	if e.Exit != 0 {
		t.talk("[Stopped]", e.Status)
	}
	fmt.Fprintln(t.err.W, t.err.Paint(terminal.Dim, terminal.Line(e.Hint, lineLimit)))
}

func (t *Transcript) round(e kernel.RoundCommitted) {
	if t.style.Quiet {
		return
	}
	if !t.style.Thinking {
		t.block("", e.Text)
		return
	}
	t.block("[Thinking]", e.Reasoning)
	t.block("[Assistant]", e.Text)
}

func (t *Transcript) call(e kernel.CallEnded) {
	if t.style.Quiet {
		return
	}
	name := terminal.Line(e.Name, nameLimit)
	if e.Agent != "" {
		name = terminal.Line(e.Agent, nameLimit) + ": " + name
	}
	head := "[" + name + "]"
	if s := summary(e.Name, e.Arguments); s != "" {
		head += " " + s
	}
	var b strings.Builder
	b.WriteString(head)
	for _, line := range body(e) {
		b.WriteString("\n  " + line)
	}
	t.write(t.out.Paint(terminal.Bold, head) + strings.TrimPrefix(b.String(), head))
}

// block prints text under an optional label. Blank text makes no block.
func (t *Transcript) block(label, text string) {
	text = trimmed(terminal.Clean(text))
	if text == "" {
		return
	}
	if label != "" {
		text = t.out.Paint(terminal.Bold, label) + "\n" + text
	}
	t.write(text)
}

// write prints one block; a blank line stands between two.
func (t *Transcript) write(text string) {
	if t.blocks++; t.blocks > 1 {
		text = "\n" + text
	}
	// The writer keeps the error: there is nobody here who could do anything about it.
	_, _ = io.WriteString(t.out.W, text+"\n")
}

// lineLimit and nameLimit bound what one line shows.
const (
	lineLimit = 2000
	nameLimit = 128
)

// talk prints one line on the stream for talk.
func (t *Transcript) talk(label, text string) {
	style := terminal.Dim
	if label == "[Error]" || label == "[Stopped]" {
		style = terminal.Red
	}
	fmt.Fprintln(t.err.W, t.err.Paint(style, label)+" "+terminal.Line(text, lineLimit))
}

func noteText(e kernel.Noted) string {
	text := e.Message
	if e.Label != "" {
		text = e.Label + ": " + text
	}
	if e.Code != "" {
		text = e.Code + ": " + text
	}
	if e.Agent != "" {
		text = e.Agent + ": " + text
	}
	return text
}

// trimmed cuts the white space at the end of a text; blank text becomes empty.
func trimmed(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return text
}
