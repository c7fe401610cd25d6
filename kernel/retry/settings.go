package retry

import (
	"math/rand/v2"
	"time"
)

// Settings says how often and how long. The zero value stands for [Defaults].
type Settings struct {
	Attempts      int           // retries of one request; 0 with any other field set: none
	BaseDelay     time.Duration // first wait
	MaxDelay      time.Duration // longest computed wait
	MaxServerWait time.Duration // longest wait that a server may ask for; a longer one fails at once
}

// Defaults returns five retries that wait from 2 s to 30 s, and at most 120 s when the server asks for it.
func Defaults() Settings {
	return Settings{Attempts: 5, BaseDelay: 2 * time.Second, MaxDelay: 30 * time.Second, MaxServerWait: 120 * time.Second}
}

// delay is the computed wait before retry n, counted from 1: it doubles, and up to a quarter is added at random so that
// clients that failed together do not come back together.
func (s Settings) delay(n int) time.Duration {
	d := s.BaseDelay
	for ; n > 1 && d < s.MaxDelay; n-- {
		d *= 2
	}
	if d > 0 {
		d += rand.N(d/4 + 1)
	}
	return min(d, s.MaxDelay)
}
