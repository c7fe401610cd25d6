package threadlog

import "github.com/crystalkernel/crystal/points/model"

// Picture is a thread at one instant, for readers: it does not change. A turn that was cut off is closed in it.
type Picture struct {
	transcript
	records []Record
}

// newPicture makes a picture of records in their order.
func newPicture(records []Record) *Picture {
	p := &Picture{records: records}
	for _, r := range records {
		p.feed(r)
	}
	p.finish()
	return p
}

// finish closes a turn that was cut off, in memory.
func (t *transcript) finish() {
	for _, r := range t.closing() {
		t.feed(r)
	}
}

// State returns what the records say about the thread.
func (p *Picture) State() State { return p.state }

// System returns the system text that was recorded last for a mode; ok is false when there is none.
func (p *Picture) System(mode string) (text string, ok bool) {
	text, ok = p.systems[mode]
	return text, ok
}

// Items returns the items that a request holds. They are shared and must not be changed.
func (p *Picture) Items() []*model.Item { return p.request() }

// Records returns the records that could be read, as they were stored. They must not be changed.
func (p *Picture) Records() []Record { return p.records }

// Transcript returns the items as a request would hold them had nothing been compacted or pruned.
func (p *Picture) Transcript() []*model.Item {
	t := transcript{whole: true}
	for _, r := range p.records {
		t.feed(r)
	}
	t.finish()
	return t.request()
}
