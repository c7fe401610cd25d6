package contrib

import (
	"errors"
	"fmt"
	"reflect"

	"go.uber.org/fx"
)

// Set is many contributions from one constructor, in order.
type Set []SetItem

// SetItem is one element of a Set. Make it with [Item]; the zero SetItem is refused.
type SetItem struct {
	point *definition
	value any
	opts  []Option
}

// Item is one contribution of a Set.
func Item[T any](p *Point[T], value T, opts ...Option) SetItem {
	return SetItem{point: p.defined(), value: value, opts: opts}
}

var (
	errorType     = reflect.TypeFor[error]()
	registrarType = reflect.TypeFor[*Registrar]()
)

// Provide contributes what constructor returns. constructor is a function whose parameters come from the fx graph of
// the place where the option stands; it returns V or (V, error) with V assignable to T. Any other shape fails the build
// of the app. The constructor runs once for each Provide, while the app is built, whether or not anybody reads the
// point; its error or panic fails the build. Its value is not added to the graph.
//
// The registrar of the enclosing app or [InModule] decides about the origin. Contributions register in the order in
// which fx runs invocations: as listed, those of a nested module first.
func Provide[T any](p *Point[T], constructor any, opts ...Option) fx.Option {
	at := p.Name()
	return provide(at, site(1), constructor, reflect.TypeFor[T](), func(r *Registrar, out reflect.Value) error {
		var value T
		reflect.ValueOf(&value).Elem().Set(out)
		_, err := p.Add(r, value, opts...)
		return r.verdict(err)
	})
}

// ProvideSet contributes the Set that constructor returns, alone or with an error, under the rules of [Provide]. All
// its items are added in the order of the set. It is for many contributions from one constructor: fx pays for each
// constructor, not for each item.
func ProvideSet(constructor any) fx.Option {
	return provide("a set", site(1), constructor, reflect.TypeFor[Set](), func(r *Registrar, out reflect.Value) error {
		for _, item := range out.Interface().(Set) {
			if _, err := r.add(item.point, item.value, collect(item.opts)); r.verdict(err) != nil {
				return err
			}
		}
		return nil
	})
}

// Supply contributes value, under the rules of [Provide].
func Supply[T any](p *Point[T], value T, opts ...Option) fx.Option {
	site := site(1)
	return fx.Invoke(func(r *Registrar) error {
		_, err := p.Add(r, value, opts...)
		if err = r.verdict(err); err != nil {
			return fmt.Errorf("contrib: contribute to %s at %s: %w", p.Name(), site, err)
		}
		return nil
	})
}

// verdict is what an add's error means for the app: in a staged activation a refusal is reported and the rest goes on.
func (r *Registrar) verdict(err error) error {
	var refused *RefusedError
	if r != nil && r.owner.staging != nil && errors.As(err, &refused) {
		return nil
	}
	return err
}

// InModule is an fx.Module whose contributions have the origin module:<name>. When the app stops they are revoked, with
// those of the modules inside it, before what the module is made of is stopped.
func InModule(name string, opts ...fx.Option) fx.Option {
	all := []fx.Option{fx.Decorate(func(r *Registrar) (*Registrar, error) { return r.Module(name) })}
	all = append(all, opts...)
	// Last, so that its hook is the first of the module's to run at the stop.
	all = append(all, fx.Invoke(func(r *Registrar, lifecycle fx.Lifecycle) {
		lifecycle.Append(fx.StopHook(func() { r.Close(StopShutdown) }))
	}))
	return fx.Module(name, all...)
}

// provide makes an invocation of constructor that hands its result to add. at says where it contributes.
func provide(
	at, site string, constructor any, want reflect.Type, add func(*Registrar, reflect.Value) error,
) fx.Option {
	f := reflect.ValueOf(constructor)
	if fault := constructorFault(f, want); fault != "" {
		return fx.Error(fmt.Errorf("contrib: contribute to %s at %s: %s", at, site, fault))
	}
	t := f.Type()
	var in []reflect.Type
	for i := range t.NumIn() {
		// As in fx, variadic parameters are left out.
		if !t.IsVariadic() || i < t.NumIn()-1 {
			in = append(in, t.In(i))
		}
	}
	shape := reflect.FuncOf(append(in, registrarType), []reflect.Type{errorType}, false)
	return fx.Invoke(reflect.MakeFunc(shape, func(args []reflect.Value) []reflect.Value {
		r := args[len(args)-1].Interface().(*Registrar)
		err := contribute(f, args[:len(args)-1], func(out reflect.Value) error { return add(r, out.Convert(want)) })
		if err != nil {
			err = fmt.Errorf("contrib: contribute to %s at %s: %w", at, site, err)
		}
		result := reflect.New(errorType).Elem()
		if err != nil {
			result.Set(reflect.ValueOf(err))
		}
		return []reflect.Value{result}
	}).Interface())
}

// contribute calls the constructor and hands on what it returns.
func contribute(f reflect.Value, args []reflect.Value, add func(reflect.Value) error) error {
	var out []reflect.Value
	if err := contain(func() error {
		out = f.Call(args)
		return nil
	}); err != nil {
		return fmt.Errorf("the constructor failed: %w", err)
	}
	if len(out) == 2 && !out[1].IsNil() {
		return fmt.Errorf("the constructor failed: %w", out[1].Interface().(error))
	}
	return add(out[0])
}

// constructorFault returns what is wrong with the shape of a constructor, or nothing.
func constructorFault(f reflect.Value, want reflect.Type) string {
	if f.Kind() != reflect.Func {
		return fmt.Sprintf("the constructor must be a function, not %s", kindOf(f))
	}
	t := f.Type()
	switch {
	case f.IsNil():
		return "the constructor is nil"
	case t.NumOut() == 0 || t.NumOut() > 2:
		return fmt.Sprintf("the constructor must return %s, alone or with an error, not %s", want, t)
	case !t.Out(0).AssignableTo(want):
		return fmt.Sprintf("the constructor must return %s, not %s", want, t.Out(0))
	case t.NumOut() == 2 && t.Out(1) != errorType:
		return fmt.Sprintf("the second result of the constructor must be an error, not %s", t.Out(1))
	}
	return ""
}

func kindOf(v reflect.Value) string {
	if !v.IsValid() {
		return "nil"
	}
	return v.Type().String()
}
