package wire

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryAfter returns the wait that the server asks for. Values that are negative, past or unreadable are ignored.
func retryAfter(h http.Header) (time.Duration, bool) {
	if d, ok := number(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d, true
	}
	if text := h.Get("Retry-After"); text != "" {
		if d, ok := number(text, time.Second); ok {
			return d, true
		}
		if t, err := http.ParseTime(text); err == nil {
			if d := time.Until(t); d > 0 {
				return d, true
			}
		}
	}
	return number(h.Get("X-Ratelimit-Reset-After"), time.Second)
}

func number(text string, unit time.Duration) (time.Duration, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(f) || f < 0 {
		return 0, false
	}
	const most = 100 * 365 * 24 * time.Hour
	return time.Duration(min(f*float64(unit), float64(most))), true
}
