package dispatcher

import (
	"strings"
	"time"

	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// Call is a call as it stands. What has not been found out yet is zero.
type Call struct {
	ID, ParentID string
	Requested    Form // as it was asked for
	// Effective is what runs. It differs from Requested when a hook rewrote the call, when the name was found in another
	// ASCII case, and when arguments were coerced.
	Effective      Form
	Rewritten      bool             // a hook changed the name or the arguments
	Definition     *tool.Definition // nil: the name is unknown
	Classification tool.Classification
	Verdict        dispatch.Verdict // of the stage that decided
	Coercions      []tool.Coercion
}

// Form is the name and the argument text of a call.
type Form struct{ Name, Arguments string }

// Outcome is how a call ended. Each call has exactly one.
type Outcome struct {
	Call
	Result   tool.Result
	Status   model.Status
	Duration time.Duration // of the invocation
	Executed bool          // the tool was started
	Text     string        // what the model is told: ResultText of Result
}

// ResultText returns what the model is told about a result: for a failed one "Error <code>: <message>", then the texts of
// the content, one below the other. Images are not in it.
func ResultText(r tool.Result) string {
	if !r.Failed || r.Error == nil {
		return joined(r.Content, "")
	}
	return joined(r.Content, "Error "+r.Error.Code+": "+r.Error.Message)
}

// joined puts first and the texts of the blocks below each other. One text comes back as it is.
func joined(blocks []tool.Block, first string) string {
	out, parts, size := first, 0, len(first)
	if first != "" {
		parts = 1
	}
	for i := range blocks {
		if !blocks[i].IsImage() {
			if parts++; parts == 1 {
				out = blocks[i].Text
			}
			size += len(blocks[i].Text) + 1
		}
	}
	if parts < 2 {
		return out
	}
	var b strings.Builder
	b.Grow(size)
	b.WriteString(first)
	separate := first != ""
	for i := range blocks {
		if blocks[i].IsImage() {
			continue
		}
		if separate {
			b.WriteByte('\n')
		}
		separate = true
		b.WriteString(blocks[i].Text)
	}
	return b.String()
}

// status says how a result counts. A tool that is the host's own may say itself that it was cancelled or late.
func (p *Prepared) status(r *tool.Result) model.Status {
	switch {
	case !r.Failed:
		return model.Success
	case p.denied:
		return model.Denied
	case r.Error == nil || r.Error.FromTool && !p.ofHost():
		return model.Failure
	case r.Error.Code == tool.CodeCancelled:
		return model.Cancelled
	case r.Error.Code == tool.CodeTimeout:
		return model.TimedOut
	}
	return model.Failure
}

// ofHost reports whether the code of the tool is the host's own.
func (p *Prepared) ofHost() bool {
	k := p.tool.Definition.Key.Kind
	return k == tool.OwnerBuiltin || k == tool.OwnerExternal
}

// failed makes a failed result of the host.
func failed(code, message string, params map[string]any) tool.Result {
	return tool.Result{Failed: true, Error: &tool.Error{Code: code, Message: message, Params: params}}
}

func cancelled() tool.Result { return failed(tool.CodeCancelled, tool.TextCancelled, nil) }

func unserved(reason string) tool.Result {
	return failed(tool.CodeUnavailable, tool.TextUnavailable, map[string]any{"reason": reason})
}
