package tool

import "encoding/json"

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
