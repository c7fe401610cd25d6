package generations

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Bounds of giving way.
const (
	longWay   = 20 * time.Microsecond // a turn of others that took this long is no short one
	firstRest = 50 * time.Microsecond // before the next try then; twice as long each time that it was long again
	lastRest  = 50 * time.Millisecond
)

var (
	epoch   = time.Now()
	crowded struct {
		until atomic.Int64 // the time since epoch until which nobody gives way
		rest  atomic.Int64 // how long that was; 0 after a short turn
	}
)

// giveWay lets a goroutine that was started at now have its turn. Most calls are over by then, which saves a timer and a
// wait for several things at once: almost half of the time. Where many others are waiting for a turn too, giving way would
// cost more than that, and so it is left for a while whenever it took long.
func giveWay(now time.Time) {
	at := now.Sub(epoch)
	if int64(at) < crowded.until.Load() {
		return
	}
	runtime.Gosched()
	back := time.Since(epoch)
	rest := crowded.rest.Load()
	switch {
	case back-at > longWay:
		rest = min(max(2*rest, int64(firstRest)), int64(lastRest))
		crowded.rest.Store(rest)
		crowded.until.Store(int64(back) + rest)
	case rest != 0:
		crowded.rest.Store(0)
	}
}
