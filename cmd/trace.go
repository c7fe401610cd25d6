package crystalcmd

import (
	"fmt"

	"github.com/crystalkernel/crystal/internal/tracefile"
)

// openTrace opens the file that --trace names; it is nil when none is named.
func (o *runOptions) openTrace() (*tracefile.Sink, error) {
	if o.trace == "" {
		return nil, nil
	}
	s, err := tracefile.Open(o.trace)
	if err != nil {
		return nil, fmt.Errorf("--trace: %w; name a file that can be written", err)
	}
	return s, nil
}
