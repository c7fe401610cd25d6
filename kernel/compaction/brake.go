package compaction

// Brake keeps compaction from going round in circles: at most one in each round, and after a failed one none on its own
// in the rest of the turn. The zero value is the brake of a new turn. It is not safe for use by several goroutines.
type Brake struct {
	used   bool // one ran in this round
	failed bool // one failed in this turn
}

// Round begins another round of the turn.
func (b *Brake) Round() { b.used = false }

// Allows reports whether a compaction may start on its own.
func (b *Brake) Allows() bool { return !b.used && !b.failed }

// Ran remembers a compaction.
func (b *Brake) Ran(o Outcome) {
	b.used = true
	b.failed = b.failed || o.Failure != nil
}
