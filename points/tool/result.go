package tool

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Result is what a call came to. Expected failures are results, not errors.
type Result struct {
	Failed     bool
	Content    []Block
	Structured json.RawMessage // clients and host; never the model
	Error      *Error          // set exactly when Failed
	Meta       json.RawMessage // host only; dropped for plugins
	Executed   bool            // set by the host: false for refusals before the tool ran
	Coercions  []Coercion      // set by the host
	Spill      string          // set by the host: path of the full text when it was cut
}

// Copy returns a copy that shares nothing with r. Parameters are copied as the JSON values that they are; a value of
// another kind stays as it is.
func (r Result) Copy() Result {
	r.Content = slices.Clone(r.Content)
	for i := range r.Content {
		r.Content[i].Data = bytes.Clone(r.Content[i].Data)
	}
	r.Structured, r.Meta = bytes.Clone(r.Structured), bytes.Clone(r.Meta)
	r.Coercions = slices.Clone(r.Coercions)
	if r.Error != nil {
		e := *r.Error
		e.Params = copyParams(e.Params)
		r.Error = &e
	}
	return r
}

func copyParams(params map[string]any) map[string]any {
	params = maps.Clone(params)
	for k, v := range params {
		params[k] = copyJSON(v)
	}
	return params
}

func copyJSON(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return copyParams(v)
	case []any:
		v = slices.Clone(v)
		for i := range v {
			v[i] = copyJSON(v[i])
		}
		return v
	}
	return v
}

// Block is text, or an image.
type Block struct {
	Text      string
	MediaType string // set for an image
	Data      []byte // bytes of the image
}

// IsImage reports whether the block is an image.
func (b Block) IsImage() bool { return b.MediaType != "" }

// Error says why a call failed. Code and Message are for everybody, Params for clients and the host.
type Error struct {
	Code     string         `json:"code"`
	Message  string         `json:"message"`
	Params   map[string]any `json:"params,omitempty"`
	FromTool bool           `json:"fromTool,omitempty"` // the tool itself chose the code
}

// Error makes an *Error usable as an error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Coercion records one lossless coercion of an argument.
type Coercion struct {
	Pointer string `json:"pointer"` // JSON pointer into the arguments
	Rule    string `json:"rule"`
}

// Text makes a successful result of one text.
func Text(text string) Result { return Result{Content: []Block{{Text: text}}} }

// Failed makes a failed result with a code of the tool's own.
func Failed(code, message string) Result {
	return Result{Failed: true, Error: &Error{Code: code, Message: message}}
}
