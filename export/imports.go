package export

import (
	"reflect"
	"sync"

	"go.uber.org/fx"
)

// Imports resolves what one plugin imports. A host makes one for each time that a plugin is built and seals it when the
// plugin has started. It may be used from any goroutine.
type Imports struct {
	mu        sync.Mutex
	providers map[string]*Exports
	slots     bool // the providers are modules of the same app: their exports come through the graph
	sealed    bool
}

// NewImports returns the resolver of a plugin with these direct providers.
func NewImports(providers map[string]*Exports) *Imports { return &Imports{providers: providers} }

// NewModuleImports returns the resolver of a plugin that is installed beside its direct providers into one app. What
// they export must be published there with [Publish].
func NewModuleImports(providers ...string) *Imports {
	i := &Imports{providers: make(map[string]*Exports, len(providers)), slots: true}
	for _, id := range providers {
		i.providers[id] = nil
	}
	return i
}

// Seal refuses further imports and lets go of the providers. What was imported stays usable.
func (i *Imports) Seal() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.sealed, i.providers = true, nil
}

// Import returns an option that puts the T of the provider into the graph of the plugin, visible to the fx module in which
// the option stands and to those inside it. The build of the plugin fails with an *[ImportError] when the provider is no
// direct requirement, or does not export T; no constructor that needs T has run then.
func Import[T any](providerID string) fx.Option {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Interface {
		return fx.Error(&ImportError{providerID, contractOf(t), NotInterface})
	}
	resolve := func(i *Imports, s slot) (T, error) {
		var none T
		if v, ok := s.value.(T); ok && i.throughGraph(providerID) {
			return v, nil
		}
		v, err := i.resolve(providerID, t)
		if err != nil {
			return none, err
		}
		return v.(T), nil
	}
	return fx.Options(
		fx.Provide(fx.Private, fx.Annotate(resolve, fx.ParamTags("", tag(publishedName(providerID, contractOf(t)))+` optional:"true"`))),
		// Whether somebody asks for T or not: an import that cannot be served must show.
		fx.Invoke(func(T) {}),
	)
}

// From imports while the plugin is being built, for a constructor that decides for itself whether it needs T. Later it
// answers [ErrSealed]; other errors are an *[ImportError]. It does not serve plugins that are installed as modules.
func From[T any](i *Imports, providerID string) (T, error) {
	var none T
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Interface {
		return none, &ImportError{providerID, contractOf(t), NotInterface}
	}
	v, err := i.resolve(providerID, t)
	if err != nil {
		return none, err
	}
	return v.(T), nil
}

func (i *Imports) throughGraph(provider string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	_, direct := i.providers[provider]
	return i.slots && direct && !i.sealed
}

func (i *Imports) resolve(provider string, t reflect.Type) (any, error) {
	i.mu.Lock()
	if i.sealed {
		i.mu.Unlock()
		return nil, ErrSealed
	}
	exports, direct := i.providers[provider]
	i.mu.Unlock()
	if !direct {
		return nil, &ImportError{provider, contractOf(t), NotDirect}
	}
	if exports != nil {
		if v, ok := exports.find(t); ok {
			return v, nil
		}
	}
	return nil, &ImportError{provider, contractOf(t), NotExported}
}
