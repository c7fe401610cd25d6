package export

import (
	"strings"

	"go.uber.org/fx"
	"go.uber.org/fx/fxevent"
)

// Publish returns an option that publishes what module exports under the id of its plugin to the whole app, for plugins
// that import it with [NewModuleImports]. It stands beside the module, and plugins may
// be listed in any order. A plugin that imports and exports one and the same interface cannot be joined with consumers of
// its own: in one app fx takes that for a cycle.
func Publish(pluginID string, module fx.Option) fx.Option {
	var options []fx.Option
	seen := map[string]bool{}
	for _, name := range exportsOf(module) {
		_, contract, _ := strings.Cut(strings.TrimPrefix(name, slotPrefix), ":")
		if seen[contract] {
			continue // the build fails with Duplicate when both are added
		}
		seen[contract] = true
		options = append(options, fx.Provide(fx.Annotate(func(s slot) slot { return s },
			fx.ParamTags(tag(name)), fx.ResultTags(tag(publishedName(pluginID, contract))))))
	}
	return fx.Options(options...)
}

// exportsOf returns the names under which a module exports. fx tells what a module provides to its event log and to nobody
// else, so an app is made that gets as far as that. Decorating one type twice in one place is an error, which fx finds
// after everything was provided and before anything is built.
func exportsOf(module fx.Option) []string {
	l := &listing{}
	twice := func(l *listing) *listing { return l }
	fx.New(module, fx.WithLogger(func() fxevent.Logger { return l }), fx.Decorate(twice, twice))
	return l.names
}

type listing struct{ names []string }

// LogEvent picks the names out of the outputs, which look like: export.slot[name = "crystal.export.7:…"].
func (l *listing) LogEvent(e fxevent.Event) {
	provided, ok := e.(*fxevent.Provided)
	if !ok {
		return
	}
	for _, output := range provided.OutputTypeNames {
		_, rest, named := strings.Cut(output, `[name = "`)
		if name, _, closed := strings.Cut(rest, `"`); named && closed && strings.HasPrefix(name, slotPrefix) {
			l.names = append(l.names, name)
		}
	}
}
