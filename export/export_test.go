package export_test

import (
	"errors"
	"fmt"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/export"
)

// Store is what providers export here.
type Store interface{ Name() string }

// Cache is a contract of a plugin in the middle.
type Cache interface{ Name() string }

// Other is a second contract.
type Other interface{ Other() }

// Closed can be implemented in this package alone.
type Closed interface{ secret() }

type hiddenStore interface{ Name() string }

type memory struct{ name string }

func (m *memory) Name() string { return m.name }

func build(e *export.Exports, i *export.Imports, options ...fx.Option) error {
	return fx.New(fx.NopLogger, fx.Supply(e, i), fx.Options(options...)).Err()
}

func TestConsumerGetsTheValueOfItsProvider(t *testing.T) {
	t.Parallel()
	provided := &memory{"store"}
	exports := export.NewExports()
	require.NoError(t, build(exports, export.NewImports(nil),
		fx.Supply("of the provider"),
		export.Provide[Store](func(string) (*memory, error) { return provided, nil })))

	imports := export.NewImports(map[string]*export.Exports{"acme.base": exports})
	var got Store
	require.NoError(t, build(export.NewExports(), imports, export.Import[Store]("acme.base"), fx.Populate(&got)))
	assert.Same(t, provided, got)
	assert.Equal(t, []reflect.Type{reflect.TypeFor[Store]()}, exports.Contracts())
}

func TestNothingIsResolvedAfterTheSeal(t *testing.T) {
	t.Parallel()
	exports := export.NewExports()
	require.NoError(t, build(exports, export.NewImports(nil), export.Supply[Store](&memory{"s"})))
	imports := export.NewImports(map[string]*export.Exports{"acme.base": exports})
	early, err := export.From[Store](imports, "acme.base")
	require.NoError(t, err)

	imports.Seal()
	exports.Seal()
	_, err = export.From[Store](imports, "acme.base")
	require.ErrorIs(t, err, export.ErrSealed)
	require.ErrorIs(t, build(exports, imports, export.Supply[Other](nopOther{})), export.ErrSealed)
	assert.Equal(t, "s", early.Name(), "what was imported stays usable")

	exports.Drop()
	assert.Empty(t, exports.Contracts())
}

type nopOther struct{}

func (nopOther) Other() {}

func TestRefusedExports(t *testing.T) {
	t.Parallel()
	store := func() *memory { return &memory{} }
	for name, c := range map[string]struct {
		option fx.Option
		reason export.Reason
	}{
		"struct":             {export.Supply[memory](memory{}), export.NotInterface},
		"pointer":            {export.Provide[*memory](store), export.NotInterface},
		"no method":          {export.Supply[any](1), export.NotInterface},
		"without a name":     {export.Provide[interface{ Name() string }](store), export.NotInterface},
		"lower case":         {export.Provide[hiddenStore](store), export.NotPublic},
		"unexported method":  {export.Supply[Closed](nil), export.NotPublic},
		"standard library":   {export.Supply[fmt.Stringer](nil), export.Foreign},
		"predeclared":        {export.Supply[error](errors.New("x")), export.Foreign},
		"nil":                {export.Supply[Store](nil), export.Nil},
		"nil pointer":        {export.Provide[Store](func() *memory { return nil }), export.Nil},
		"twice":              {fx.Options(export.Provide[Store](store), export.Provide[Store](store)), export.Duplicate},
		"twice in two ways":  {fx.Options(export.Provide[Store](store), export.Supply[Store](&memory{})), export.Duplicate},
		"twice, once nested": {fx.Options(export.Provide[Store](store), fx.Module("sub", export.Provide[Store](store))), export.Duplicate},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := build(export.NewExports(), export.NewImports(nil), c.option)
			var refused *export.ExportError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, c.reason, refused.Reason)
			assert.NotEmpty(t, refused.Contract)
		})
	}
}

func TestConstructorsOfTheWrongShape(t *testing.T) {
	t.Parallel()
	for name, constructor := range map[string]any{
		"no function":  42,
		"nil":          (func() Store)(nil),
		"no result":    func() {},
		"wrong result": func() int { return 0 },
		"wrong second": func() (*memory, int) { return nil, 0 },
		"three":        func() (*memory, error, error) { return nil, nil, nil },
		"nothing":      nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := build(export.NewExports(), export.NewImports(nil), export.Provide[Store](constructor))
			require.ErrorContains(t, err, "export_test.Store")
		})
	}
}

func TestConstructorFailureFailsTheBuild(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	exports := export.NewExports()
	err := build(exports, export.NewImports(nil), export.Provide[Store](func() (*memory, error) { return nil, broken }))
	require.ErrorIs(t, err, broken)
	assert.Empty(t, exports.Contracts())
}

// DEP-4: the refused import is found before a constructor that needs it has run.
func TestRefusedImports(t *testing.T) {
	t.Parallel()
	base := export.NewExports()
	require.NoError(t, build(base, export.NewImports(nil), export.Supply[Store](&memory{})))
	for name, c := range map[string]struct {
		option fx.Option
		reason export.Reason
	}{
		"not exported": {export.Import[Other]("acme.base"), export.NotExported},
		"not direct":   {export.Import[Store]("acme.other"), export.NotDirect},
		"no interface": {export.Import[*memory]("acme.base"), export.NotInterface},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ran := false
			err := build(export.NewExports(), export.NewImports(map[string]*export.Exports{"acme.base": base}),
				c.option, fx.Invoke(func(Other) { ran = true }))
			var refused *export.ImportError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, c.reason, refused.Reason)
			assert.False(t, ran)
		})
	}
}

func TestModulesOfOneAppAreJoinedInAnyOrder(t *testing.T) {
	t.Parallel()
	base := fx.Options(export.Provide[Store](func() *memory { return &memory{"base"} }))
	cache := fx.Options(fx.Module("nested", export.Provide[Cache](func(s Store) *memory { return &memory{"cached " + s.Name()} })), export.Import[Store]("acme.base"))
	var got string
	top := fx.Options(fx.Invoke(func(c Cache, s Store) { got = c.Name() + ", " + s.Name() }), export.Import[Cache]("acme.cache"), export.Import[Store]("acme.base"))

	install := func(id string, module fx.Option, providers ...string) fx.Option {
		return fx.Module(id,
			fx.Provide(fx.Private, export.NewExports, func() *export.Imports { return export.NewModuleImports(providers...) }),
			module, export.Publish(id, module))
	}
	b, c, u := install("acme.base", base), install("acme.cache", cache, "acme.base"), install("acme.top", top, "acme.cache", "acme.base")
	for _, order := range [][]fx.Option{{b, c, u}, {u, c, b}, {c, u, b}} {
		got = ""
		require.NoError(t, fx.New(fx.NopLogger, fx.Options(order...)).Err())
		assert.Equal(t, "cached base, base", got)
	}

	err := fx.New(fx.NopLogger, b, install("acme.top", top, "acme.base")).Err()
	var refused *export.ImportError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, export.NotDirect, refused.Reason)
}

func TestRootsOfTheStandardLibraryAreKnown(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "std").Output()
	require.NoError(t, err)
	for path := range strings.FieldsSeq(string(out)) {
		assert.True(t, export.Standard(path), path)
	}
	assert.False(t, export.Standard("mycompany/plugins"))
	assert.False(t, export.Standard("example.com/x"))
}
