package house

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/crystalkernel/crystal"

// arrows says which rooms a room may import beside itself. kernel and plugins do not know each other; kerneltest, a host
// for tests, is a room of its own here.
var arrows = map[string][]string{
	"contrib":     {},
	"generations": {"contrib"},
	"deps":        {},
	"export":      {"contrib", "generations", "deps"},
	"plugins":     {"export", "deps", "generations", "contrib"},
	"points":      {"generations", "contrib"},
	"kernel":      {"points", "generations", "contrib"},
	"kerneltest":  {"kernel", "plugins", "points", "generations", "contrib"},
	"internal":    {"kernel", "plugins", "export", "deps", "points", "generations", "contrib"},
	"cmd":         {"internal", "kernel", "plugins", "export", "deps", "points", "generations", "contrib"},
	"examples":    {"cmd", "kernel", "kerneltest", "plugins", "export", "deps", "points", "generations", "contrib"},
}

// authorDeps are the modules that the packages of a plugin author may depend on.
var authorDeps = []string{
	module, "go.uber.org/fx", "go.uber.org/dig", "go.uber.org/multierr", "go.uber.org/zap", "golang.org/x/mod",
	"github.com/tailscale/hujson", "github.com/gofrs/flock", "github.com/google/renameio", "golang.org/x/sys",
}

type listed struct {
	ImportPath string
	Dir        string
	Name       string
	Imports    []string
	Deps       []string
	Standard   bool
	Module     *struct{ Path string }
}

func list(t *testing.T, args ...string) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-json=ImportPath,Dir,Name,Imports,Deps,Standard,Module"}, args...)...)
	cmd.Dir = root(t)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("go list: %v\n%s", err, exit.Stderr)
	}
	require.NoError(t, err)
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	return dir
}

func room(path string) string {
	rest, ok := strings.CutPrefix(path, module+"/")
	if !ok {
		return ""
	}
	if rest == "kernel/kerneltest" {
		return "kerneltest"
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

func TestImportsFollowTheArrows(t *testing.T) {
	for _, p := range list(t, "./...") {
		from := room(p.ImportPath)
		allowed, known := arrows[from]
		if !known {
			t.Errorf("%s is in no room of the plan", p.ImportPath)
			continue
		}
		for _, i := range p.Imports {
			if to := room(i); to != "" && to != from && !slices.Contains(allowed, to) {
				t.Errorf("%s imports %s: %s may import %s alone", p.ImportPath, i, from, strings.Join(allowed, ", "))
			}
		}
	}
}

func TestPluginAuthorsDependOnLittle(t *testing.T) {
	for _, p := range list(t, "-deps", "./contrib", "./points/...", "./export", "./plugins", "./deps", "./generations") {
		if p.Standard || p.Module == nil {
			continue
		}
		if !slices.ContainsFunc(authorDeps, func(m string) bool { return p.Module.Path == m || strings.HasPrefix(p.Module.Path, m+"/") }) {
			t.Errorf("a plugin author's packages depend on %s: keep them light", p.ImportPath)
		}
	}
}
