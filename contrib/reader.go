package contrib

import (
	"context"

	"go.uber.org/fx"
)

// Reader is something that goes on reading points while a host runs, such as a kernel with its sessions and the pumps of
// its events. Stop ends that; when it returns, what the reader still had to say has been said. It may be called more than
// once.
type Reader interface {
	Stop(ctx context.Context) error
}

// Readers is what a graph gathers from [ProvideReader]. Whoever takes contributions away when a host stops, such as a
// plugin runtime, asks for it as a part of its parameters and calls StopAll first: a plugin then hears the end of what it
// has listened to.
type Readers struct {
	fx.In

	List []Reader `group:"crystal.contrib.readers"`
}

// StopAll stops all readers, one after another, and returns the first error.
func (r Readers) StopAll(ctx context.Context) error {
	var first error
	for _, one := range r.List {
		if err := one.Stop(ctx); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// ProvideReader adds the value of type T in the graph to the readers. It is for modules of a host; a plugin is no reader
// of its host's points.
func ProvideReader[T Reader]() fx.Option {
	return fx.Provide(fx.Annotate(func(r T) Reader { return r }, fx.ResultTags(`group:"crystal.contrib.readers"`)))
}
