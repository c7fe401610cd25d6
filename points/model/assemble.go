package model

// Assembler turns deltas into a candidate. The zero value is ready. It is not safe for use by several goroutines.
type Assembler struct{}

// Add takes one delta. A second finish, a call without a start or a delta after the finish (other than usage) is an
// error.
func (a *Assembler) Add(d Delta) error { panic("stub") }

// Response returns the candidate: items in the order in which they first appeared, usage, finish.
func (a *Assembler) Response() (*Response, error) { panic("stub") }
