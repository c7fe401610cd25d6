package trace

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
)

func describeSink(s Sink) (any, error) {
	name := strings.TrimSpace(s.Name())
	if name == "" {
		return nil, errors.New("the sink has a blank name")
	}
	return name, nil
}

type sinkGuard struct {
	name string
	ref  *generations.Ref[Sink]
}

func guardSink(s Sink, meta any, ref contrib.Ref) Sink {
	return &sinkGuard{name: meta.(string), ref: generations.Bind(ref, s)}
}

func (g *sinkGuard) Name() string { return g.name }

func (g *sinkGuard) Record(ctx context.Context, e Event) error {
	e.Data = bytes.Clone(e.Data)
	return g.ref.Do(ctx, func(ctx context.Context, s Sink) error { return s.Record(ctx, e) })
}
