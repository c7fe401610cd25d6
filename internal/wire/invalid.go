package wire

import (
	"bytes"
	"fmt"
)

// InvalidError says that a stream is not what its protocol promises.
type InvalidError struct {
	Reason string
	Quote  []byte // what could not be read; cut and escaped in the text
	Final  bool   // sending again would not help
}

// Error gives the reason and at most 200 bytes of the quote, escaped.
func (e *InvalidError) Error() string {
	if e.Quote == nil {
		return e.Reason
	}
	return fmt.Sprintf("%s: %q", e.Reason, cutBytes(e.Quote, 200))
}

// longQuote is how much is kept of what could not be read: more than is shown, so that a key in it is found as a whole.
const longQuote = 2048

// quote returns a copy of the beginning of text.
func quote(text []byte) []byte { return bytes.Clone(cutBytes(text, longQuote)) }
