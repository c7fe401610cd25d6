package builtin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/crystalkernel/crystal/internal/builtin/fence"
	"github.com/crystalkernel/crystal/points/tool"
)

// facts are the structured part of a result, for clients.
type facts struct {
	Path       string `json:"path,omitempty"`
	Diff       string `json:"diff,omitempty"`
	Created    *bool  `json:"created,omitempty"`
	Lines      *int   `json:"lines,omitempty"`
	Count      *int   `json:"count,omitempty"`
	More       bool   `json:"more,omitempty"`
	ExitCode   *int   `json:"exitCode,omitempty"`
	Signal     string `json:"signal,omitempty"`
	DurationMS *int64 `json:"durationMs,omitempty"`
	TimedOut   bool   `json:"timedOut,omitempty"`
}

// succeeded makes the result of a call that did what it was asked.
func succeeded(text string, f facts) tool.Result {
	r := tool.Text(text)
	r.Structured = f.encode()
	return r
}

func (f facts) encode() json.RawMessage {
	data, err := json.Marshal(f)
	if err != nil {
		return nil // plain strings and numbers can always be written
	}
	return data
}

func invalid(format string, args ...any) tool.Result {
	return tool.Failed(tool.CodeInputInvalid, fmt.Sprintf(format, args...))
}

func failed(format string, args ...any) tool.Result {
	return tool.Failed(tool.CodeExecutionFailed, fmt.Sprintf(format, args...))
}

func cancelled() tool.Result { return tool.Failed(tool.CodeCancelled, "The call was cancelled.") }

// fault is the result for an error that came up at a path. The path is named as it was asked for.
func fault(path string, err error) tool.Result {
	var r tool.Result
	switch {
	case errors.Is(err, fence.ErrDangling):
		r = tool.Failed(tool.CodeAccessDenied, fmt.Sprintf("%s leads through a link whose target doesn't exist; write to the target's own path instead.", path))
	case errors.Is(err, fence.ErrDenied):
		r = tool.Failed(tool.CodeAccessDenied, fmt.Sprintf("%s was not opened: %v.", path, err))
	case errors.Is(err, fence.ErrMalformed):
		return invalid("The path is not usable: %v.", err)
	case errors.Is(err, fence.ErrDirectory):
		r = failed("%s is a directory; use list or glob to see what is in it.", path)
	case errors.Is(err, fence.ErrNotDirectory):
		r = failed("%s is not a directory.", path)
	case errors.Is(err, fence.ErrSpecial):
		r = failed("%s is a device, socket or pipe; only regular files can be used.", path)
	case errors.Is(err, fs.ErrNotExist):
		r = failed("%s does not exist.", path)
	case errors.Is(err, fs.ErrPermission):
		r = failed("%s: permission denied by the system.", path)
	default:
		r = failed("%s: %v.", path, bare(err))
	}
	r.Error.Params = map[string]any{"path": path}
	return r
}

// bare takes the host's own paths out of an error of the system.
func bare(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
