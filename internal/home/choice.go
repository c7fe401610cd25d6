package home

import (
	"fmt"
	"slices"
	"strings"
)

// Wanted is a provider and a model as somebody asked for them; both may be blank.
type Wanted struct {
	Provider string
	Model    string // "provider/model", or a model of Provider
}

// Choice is the provider and the model that serve.
type Choice struct {
	Provider Provider
	Model    string
	Entry    Model
	Fallback bool // nothing is configured, so the offline model serves
}

// Choose finds provider and model: what was asked for on the command line, then what the thread used last, then the
// configuration. When nothing is configured at all the offline model serves; a model that costs something is never picked
// by itself. The errors match [ErrUnknownProvider] or [ErrNoModel] and name what is known.
func (s *Settings) Choose(option, thread Wanted) (Choice, error) {
	w := option.split()
	if w.Provider == "" && w.Model == "" {
		w = thread
	} else if w.Provider == "" {
		w.Provider = thread.Provider
	}
	if w.Provider == "" {
		w.Provider = s.Config.Provider
	}
	if w.Model == "" && w.Provider == s.Config.Provider {
		w.Model = s.Config.Model
	}
	if w.Provider == "" {
		return s.unconfigured(w)
	}
	p, ok := s.Providers[w.Provider]
	if !ok {
		return Choice{}, fmt.Errorf("%w %q; known are %s", ErrUnknownProvider, w.Provider, strings.Join(s.ProviderNames(), ", "))
	}
	if p.Broken {
		return Choice{}, fmt.Errorf("%w: the definition of %q in %s can't be used; put it right or choose another provider",
			ErrUnknownProvider, w.Provider, s.home.Path(ProvidersFile))
	}
	name, err := s.modelOf(p, w.Model)
	if err != nil {
		return Choice{}, err
	}
	return Choice{Provider: p, Model: name, Entry: p.Entry(name)}, nil
}

// split takes "provider/model" apart. With a provider of its own the model's name stands as a whole.
func (w Wanted) split() Wanted {
	if w.Provider != "" {
		return w
	}
	if before, after, ok := strings.Cut(w.Model, "/"); ok && before != "" && after != "" {
		return Wanted{Provider: before, Model: after}
	}
	return w
}

// modelOf finds the model of a provider: the one that was asked for, the default, or the only one.
func (s *Settings) modelOf(p Provider, wanted string) (string, error) {
	names := p.ModelNames()
	switch {
	case wanted != "":
		return wanted, nil
	case p.DefaultModel != "":
		return p.DefaultModel, nil
	case len(names) == 1:
		return names[0], nil
	case len(names) == 0:
		return "", fmt.Errorf("%w: provider %q lists no models; name one with -m %s/<model>", ErrNoModel, p.Name, p.Name)
	}
	return "", fmt.Errorf("%w: provider %q has %s; name one with -m %s/<model>", ErrNoModel, p.Name, strings.Join(names, ", "), p.Name)
}

// unconfigured chooses when no provider is named anywhere.
func (s *Settings) unconfigured(w Wanted) (Choice, error) {
	if w.Model != "" {
		return Choice{}, fmt.Errorf("%w: %q is a model of no provider; use -m provider/model, with one of %s",
			ErrNoModel, w.Model, strings.Join(s.ProviderNames(), ", "))
	}
	if keyed := s.keyed(); len(keyed) > 0 {
		return Choice{}, fmt.Errorf("%w: there is a key for %s; choose with -m provider/model", ErrNoModel, strings.Join(keyed, ", "))
	}
	p := s.Providers[OfflineProvider]
	if p.Broken {
		p = builtinProviders()[OfflineProvider]
	}
	name, err := s.modelOf(p, p.DefaultModel)
	if err != nil {
		name = OfflineModel
	}
	return Choice{Provider: p, Model: name, Entry: p.Entry(name), Fallback: true}, nil
}

// keyed returns the providers that need a key and have one, sorted.
func (s *Settings) keyed() []string {
	var out []string
	for name, p := range s.Providers {
		if !p.RequiresKey || p.Broken {
			continue
		}
		if key, err := s.Key(p); err == nil && key.Known() {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
