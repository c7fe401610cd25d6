package thread

import (
	"context"
	"errors"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

type observerGuard struct {
	ref *generations.Ref[Observer]
}

func guardObserver(o Observer, _ any, ref contrib.Ref) Observer {
	return &observerGuard{ref: generations.Bind(ref, o)}
}

func (g *observerGuard) Started(ctx context.Context, t Info) error {
	return g.ref.Do(ctx, func(ctx context.Context, o Observer) error { return o.Started(ctx, t) })
}

func (g *observerGuard) Resumed(ctx context.Context, t Info) error {
	return g.ref.Do(ctx, func(ctx context.Context, o Observer) error { return o.Resumed(ctx, t) })
}

func (g *observerGuard) Deleting(ctx context.Context, t Info) error {
	return g.ref.Do(ctx, func(ctx context.Context, o Observer) error { return o.Deleting(ctx, t) })
}

type turnObserverGuard struct {
	ref *generations.Ref[TurnObserver]
}

func guardTurnObserver(o TurnObserver, _ any, ref contrib.Ref) TurnObserver {
	return &turnObserverGuard{ref: generations.Bind(ref, o)}
}

func (g *turnObserverGuard) TurnStarted(ctx context.Context, t Turn) error {
	return g.ref.Do(ctx, func(ctx context.Context, o TurnObserver) error { return o.TurnStarted(ctx, t) })
}

func (g *turnObserverGuard) TurnEnded(ctx context.Context, t Turn, s Status, cause error) error {
	if cause != nil {
		// An error of the host would keep host objects reachable from plugin code.
		cause = errors.New(cause.Error())
	}
	return g.ref.Do(ctx, func(ctx context.Context, o TurnObserver) error { return o.TurnEnded(ctx, t, s, cause) })
}

type signalGuard struct {
	ref *generations.Ref[SignalObserver]
}

func guardSignal(o SignalObserver, _ any, ref contrib.Ref) SignalObserver {
	return &signalGuard{ref: generations.Bind(ref, o)}
}

func (g *signalGuard) Signal(ctx context.Context, s Signal) error {
	return g.ref.Do(ctx, func(ctx context.Context, o SignalObserver) error { return o.Signal(ctx, s) })
}
