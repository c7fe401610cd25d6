package kernel

// loopGuard notices a model that makes one call again and again.
type loopGuard struct {
	name, arguments string
	count           int
}

// maxEqualCalls is how many equal calls in a row run.
const maxEqualCalls = 5

const loopText = "This call was made five times in a row with the same arguments and is not run again. Do something else."

type loopState int

const (
	loopNone    loopState = iota // the call may run
	loopRefused                  // it is not run
	loopEnd                      // it is not run, and the turn ends after this batch
)

// next counts a call.
func (l *loopGuard) next(name, arguments string) loopState {
	if l.count == 0 || l.name != name || l.arguments != arguments {
		*l = loopGuard{name: name, arguments: arguments, count: 1}
		return loopNone
	}
	l.count++
	switch {
	case l.count <= maxEqualCalls:
		return loopNone
	case l.count == maxEqualCalls+1:
		return loopRefused
	}
	return loopEnd
}
