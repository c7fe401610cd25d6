package estimate

import "github.com/crystalkernel/crystal/points/model"

// Meter keeps the reported total of one thread: the input and output that the provider reported last, and the estimates
// of all that was added since. The zero value knows nothing, which is also what a resumed thread begins with. A Meter is
// not safe for use by several goroutines.
type Meter struct {
	known bool
	model string
	total int
}

// Answer takes the usage of an answer. With a report the total is what it says, items of the answer included. Without
// one (u is nil, holds no number or is itself an estimate) the count goes on from the last report, and the items of the answer are added.
func (m *Meter) Answer(modelName string, u *model.Usage, answer []*model.Item) {
	if m.known && m.model != modelName {
		m.Forget()
	}
	if u == nil || u.Estimated || u.Input+u.Output+u.Total == 0 {
		m.Add(Items(answer, Sends{Reasoning: true}))
		return
	}
	m.known, m.model, m.total = true, modelName, u.Input+u.Output
	if m.total == 0 {
		m.total = u.Total
	}
}

// Add counts what was added to the thread since the last answer.
func (m *Meter) Add(tokens int) {
	if m.known {
		m.total += tokens
	}
}

// Total returns the reported total; ok is false when it is not known for that model.
func (m *Meter) Total(modelName string) (n int, ok bool) {
	if !m.known || m.model != modelName {
		return 0, false
	}
	return m.total, true
}

// Forget makes the total unknown until the next answer: after a compaction.
func (m *Meter) Forget() { *m = Meter{} }
