package kernel

import (
	"context"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/host"
)

// Attach tells the contributions to host.attached what the catalogs of the host are. A host calls it once its plugins and
// the rest of its catalogs are loaded, before the first thread, and again after each reload. Placeholders see e from then
// on. One that fails is left out, stays active, and comes back as a note. The error is that of ctx.
func (k *Kernel) Attach(ctx context.Context, e host.Environment) ([]Noted, error) {
	own := e.Clone()
	k.environment.Store(&own)
	var notes []Noted
	entries := host.Attachments.Entries(k.registry.View(), "")
	err := contrib.FanOut(ctx, entries, func(ctx context.Context, a host.Attached) error {
		return a.Attached(ctx, e.Clone())
	}, func(e *contrib.EntryInfo, c *contrib.CallError) {
		notes = append(notes, callFailed(e, c))
		k.report(e, c)
	})
	return notes, err
}
