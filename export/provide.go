package export

import (
	"fmt"
	"reflect"
	"strconv"
	"sync/atomic"

	"go.uber.org/fx"
)

// slot carries an exported value through the graph under a name, so that it meets nothing that the plugin or its host has
// there.
type slot struct {
	contract reflect.Type
	value    any
}

// slots numbers the options: two of them never share a name, even when one plugin exports one interface twice.
var slots atomic.Uint64

const slotPrefix = "crystal.export."

func slotName(n uint64, contract string) string {
	return slotPrefix + strconv.FormatUint(n, 10) + ":" + contract
}

func publishedName(plugin, contract string) string {
	return slotPrefix + "by:" + plugin + ":" + contract
}

func tag(name string) string { return fmt.Sprintf("name:%q", name) }

// Provide returns an option that exports what constructor returns as T. The constructor is a function like those of
// fx.Provide: its parameters come from the graph where the option stands, and it returns V or (V, error) with V
// assignable to T. It runs once for each build of the plugin, whether or not anybody imports T. The value is not added to
// the plugin's own graph.
//
// T must be a named interface that any package can use: exported, with a method and without unexported ones, outside of
// main, of internal directories, of the standard library and of Crystal. A plugin exports one value for each T. Otherwise
// the build fails with an *[ExportError].
func Provide[T any](constructor any) fx.Option {
	t := reflect.TypeFor[T]()
	if reason := check(t); reason != "" {
		return fx.Error(&ExportError{contractOf(t), reason})
	}
	f := reflect.ValueOf(constructor)
	if err := checkConstructor(f, t); err != nil {
		return fx.Error(err)
	}
	return exported(t, toSlot(f, t))
}

// Supply returns an option that exports value as T, under the rules of [Provide].
func Supply[T any](value T) fx.Option {
	t := reflect.TypeFor[T]()
	if reason := check(t); reason != "" {
		return fx.Error(&ExportError{contractOf(t), reason})
	}
	if isNil(value) {
		return fx.Error(&ExportError{contractOf(t), Nil})
	}
	return exported(t, func() slot { return slot{t, value} })
}

func exported(t reflect.Type, constructor any) fx.Option {
	name := slotName(slots.Add(1), contractOf(t))
	return fx.Options(
		fx.Provide(fx.Annotated{Name: name, Target: constructor}),
		fx.Invoke(fx.Annotate((*Exports).add, fx.ParamTags("", tag(name)))),
	)
}

func checkConstructor(f reflect.Value, t reflect.Type) error {
	if f.Kind() != reflect.Func || f.IsNil() {
		return fmt.Errorf("export: constructor of %s is no function but a %s", contractOf(t), f.Kind())
	}
	ft := f.Type()
	fits := ft.NumOut() == 1 || ft.NumOut() == 2 && ft.Out(1) == reflect.TypeFor[error]()
	if !fits || !ft.Out(0).AssignableTo(t) {
		return fmt.Errorf("export: constructor of %s is a %s; it must return a value of that interface, alone or with an error", contractOf(t), ft)
	}
	return nil
}

// toSlot wraps a constructor, with the same parameters, so that it returns a slot.
func toSlot(f reflect.Value, t reflect.Type) any {
	ft := f.Type()
	in := make([]reflect.Type, ft.NumIn())
	for i := range in {
		in[i] = ft.In(i)
	}
	out := []reflect.Type{reflect.TypeFor[slot](), reflect.TypeFor[error]()}
	call := f.Call
	if ft.IsVariadic() {
		call = f.CallSlice
	}
	return reflect.MakeFunc(reflect.FuncOf(in, out, ft.IsVariadic()), func(args []reflect.Value) []reflect.Value {
		results := call(args)
		failure := reflect.Zero(out[1])
		if len(results) == 2 {
			failure = results[1]
		}
		return []reflect.Value{reflect.ValueOf(slot{t, results[0].Interface()}), failure}
	}).Interface()
}
