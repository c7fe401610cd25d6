package compaction

import "math"

// Settings say when a thread is compacted. They are those of one model.
type Settings struct {
	Window    int     // context window of the model, in tokens; 0 when unknown: nothing is ever due
	Threshold float64 // fraction of the window, above 0 up to 1; 0 stands for 0.8
	MaxTokens int     // output limit of the model; 0 for none
	Disabled  bool    // never on its own
}

// Limit is the size, in tokens, at which a compaction is due.
func (s Settings) Limit() int {
	threshold := s.Threshold
	if threshold == 0 {
		threshold = 0.8
	}
	limit := int(math.Floor(float64(s.Window)*threshold + 1e-6)) // 0.29 of 100 is 29
	reserved := 20000
	if s.MaxTokens > 0 {
		reserved = min(reserved, s.MaxTokens)
	}
	if reserved < s.Window {
		limit = min(limit, s.Window-reserved)
	}
	return limit
}

// answer is the room that an answer needs at least.
func (s Settings) answer() int {
	if s.MaxTokens > 0 {
		return min(s.MaxTokens, 4096)
	}
	return 4096
}

// Fits reports whether a request of that size leaves room for an answer.
func (s Settings) Fits(estimate int) bool { return s.Window <= 0 || estimate+s.answer() <= s.Window }

// Load is the size of the next request.
type Load struct {
	System   int // estimate of the live system text
	Tools    int // estimate of the tool definitions
	Items    int // estimate of the items
	Reported int // reported total; 0 when it is not known
}

// Estimate is the estimate of the whole request.
func (l Load) Estimate() int { return l.System + l.Tools + l.Items }

// Due reports whether the thread is to be compacted before the next request.
func Due(s Settings, l Load) bool {
	return !s.Disabled && s.Window > 0 && (l.Estimate() >= s.Limit() || l.Reported >= s.Limit())
}
