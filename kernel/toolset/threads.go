package toolset

import (
	"context"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/tool"
)

// ReleaseThread tells the sources that want to know that a thread is gone. Failures are ignored.
func ReleaseThread(ctx context.Context, sources []contrib.Entry[tool.Source], thread string) {
	_ = contrib.FanOut(ctx, sources, func(ctx context.Context, s tool.Source) error {
		if r, ok := s.(tool.ThreadReleaser); ok {
			return r.ReleaseThread(ctx, thread)
		}
		return nil
	}, ignored)
}

// ForkThread tells the sources that want to know that a thread was forked, and reports whether any of them took part.
// Failures are ignored.
func ForkThread(ctx context.Context, sources []contrib.Entry[tool.Source], from, to string) bool {
	part := false
	_ = contrib.FanOut(ctx, sources, func(ctx context.Context, s tool.Source) error {
		f, ok := s.(tool.ThreadForker)
		if !ok {
			return nil
		}
		took, err := f.ForkThread(ctx, from, to)
		part = part || took && err == nil
		return err
	}, ignored)
	return part
}

func ignored(*contrib.EntryInfo, *contrib.CallError) {}
