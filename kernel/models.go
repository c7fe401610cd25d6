package kernel

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/model"
)

// Models says how to reach a model. A host that knows providers implements it.
type Models interface {
	// Resolve returns what the client of a model needs. ref is provider/model; blank stands for the host's choice.
	Resolve(ctx context.Context, ref string) (model.ClientRequest, error)
}

// ModelsFunc adapts a function to Models.
type ModelsFunc func(ctx context.Context, ref string) (model.ClientRequest, error)

// Resolve calls f.
func (f ModelsFunc) Resolve(ctx context.Context, ref string) (model.ClientRequest, error) {
	return f(ctx, ref)
}

// ErrNoProtocol is returned when neither the host nor a plugin knows the protocol of a model.
var ErrNoProtocol = errors.New("kernel: unknown protocol")

// DefaultModel is used by a kernel that was given no Models.
const DefaultModel = "offline/rules"

// byName is used when the graph has no Models: the provider's name is the protocol, and everything else its default.
func byName(_ context.Context, ref string) (model.ClientRequest, error) {
	if ref == "" {
		ref = DefaultModel
	}
	provider, name, ok := strings.Cut(ref, "/")
	if !ok || provider == "" || name == "" {
		return model.ClientRequest{}, fmt.Errorf("kernel: the model %q is not of the form provider/model", ref)
	}
	return model.ClientRequest{
		Protocol: provider, Provider: provider, Model: name, ContextWindow: 128_000,
		ImageInput: provider == "offline", StreamUsage: true, AdaptiveThinking: true,
	}, nil
}

// client makes the client of a model.
func (k *Kernel) client(ctx context.Context, r model.ClientRequest) (model.Client, error) {
	f, err := k.factory(&r)
	if err != nil {
		return nil, err
	}
	if r.ImageInput {
		c, err := f.CreateMultimodal(ctx, r)
		if c != nil || err != nil {
			return c, err
		}
	}
	return f.Create(ctx, r)
}

// factory finds who speaks the protocol of a model: factories of the host first, then the first contributed one that says
// yes.
func (k *Kernel) factory(r *model.ClientRequest) (model.ClientFactory, error) {
	entries := model.Protocols.Entries(k.registry.View(), "")
	for _, contributed := range []bool{false, true} {
		for i := range entries {
			e := &entries[i]
			if (e.Origin.Kind() == contrib.Builtin().Kind()) != contributed && e.Value.CanCreate(r.Protocol) {
				return e.Value, nil
			}
		}
	}
	return nil, fmt.Errorf("%w %q of provider %s: name one that this host has, or add a plugin that contributes it to model.protocol",
		ErrNoProtocol, r.Protocol, r.Provider)
}
