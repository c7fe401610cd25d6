package crystalcmd_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	crystalcmd "github.com/crystalkernel/crystal/cmd"
)

// place is a home directory and a workspace for command lines that run in this process.
type place struct{ home, ws string }

func newPlace(t *testing.T) place {
	t.Helper()
	dir := t.TempDir()
	p := place{filepath.Join(dir, "home"), filepath.Join(dir, "ws")}
	require.NoError(t, os.MkdirAll(p.ws, 0o755))
	return p
}

func (p place) run(stdin io.Reader, args ...string) crystalcmd.Outcome {
	env := map[string]string{"CRYSTAL_HOME": p.home}
	return crystalcmd.Run(context.Background(), nil, stdin, env, append([]string{"-C", p.ws}, args...)...)
}

// expecting writes a scenario that expects a task, and returns the model that plays it.
func (p place) expecting(t *testing.T, task string) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(p.home), "scenario.json")
	text := `{"steps": [{"expect": {"lastUser": ` + quote(task) + `}, "text": "ok"}]}`
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return "offline/" + path
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}

func TestTaskIsMadeOfArgumentsAndStdin(t *testing.T) {
	for name, tt := range map[string]struct {
		args  []string
		stdin string
		want  string
	}{
		"arguments are joined":           {[]string{"fix", "the", "test"}, "", "fix the test"},
		"a byte order mark is dropped":   {nil, "\ufefftask\n", "task"},
		"bytes that are no text":         {nil, "a\xff\xfeb", "a\ufffd\ufffdb"},
		"FIELD-V5 CRLF":                  {nil, "two\r\nlines", "two\nlines"},
		"FIELD-V5 both":                  {[]string{"sum up"}, "data", "sum up\n\ndata"},
		"stdin that is blank is nothing": {[]string{"sum up"}, " \n", "sum up"},
		"a dash is stdin":                {[]string{"-"}, "task", "task"},
		"a dash among others is text":    {[]string{"-", "x"}, "", "- x"},
		"an option behind two dashes":    {[]string{"--", "-y"}, "", "-y"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			args := append([]string{"run", "-m", p.expecting(t, tt.want)}, tt.args...)
			o := p.run(strings.NewReader(tt.stdin), args...)
			assert.Equal(t, 0, o.Exit, o.Stderr)
			assert.Equal(t, "ok\n", o.Stdout)
		})
	}
}

func TestTaskThatIsTooLarge(t *testing.T) {
	p := newPlace(t)
	for _, stdin := range []string{strings.Repeat("é", 1_000_001), strings.Repeat("a", 5_000_000)} {
		o := p.run(strings.NewReader(stdin), "run")
		assert.Equal(t, 1, o.Exit)
		assert.Contains(t, o.Stderr, "1000000 characters")
		assert.Empty(t, o.Stdout)
	}
	assert.NoDirExists(t, p.home)
}

// The first failure ends the command: options before the task, the task before files, files before trust.
func TestChecksKeepTheirOrder(t *testing.T) {
	p := newPlace(t)
	require.NoError(t, os.MkdirAll(filepath.Join(p.ws, ".crystal"), 0o755))
	project := filepath.Join(p.ws, ".crystal", "config.json")
	require.NoError(t, os.WriteFile(project, []byte("{"), 0o600))
	require.NoError(t, os.MkdirAll(p.home, 0o700))
	config := filepath.Join(p.home, "config.json")
	require.NoError(t, os.WriteFile(config, []byte("{"), 0o600))
	none := strings.NewReader("")

	o := p.run(none, "run", "--format", "yaml")
	assert.Equal(t, 1, o.Exit)
	assert.Contains(t, o.Stderr, "format")
	o = p.run(none, "run")
	assert.Equal(t, 1, o.Exit)
	assert.Contains(t, o.Stderr, "no task")
	o = p.run(none, "run", "/plugins off")
	assert.Contains(t, o.Stderr, "operator")
	o = p.run(none, "run", "--prompt-set", "none", "hi")
	assert.Equal(t, 1, o.Exit)
	assert.Contains(t, o.Stderr, config)
	require.NoError(t, os.Remove(config))
	o = p.run(none, "run", "--prompt-set", "none", "hi")
	assert.Equal(t, 1, o.Exit)
	assert.Contains(t, o.Stderr, "prompt set")
	o = p.run(none, "run", "-m", "nosuch/m", "hi")
	assert.Equal(t, 4, o.Exit, "an untrusted workspace comes before its settings and the model")
	assert.Contains(t, o.Stderr, ".crystal/config.json")
	o = p.run(none, "run", "-m", "nosuch/m", "--workspace-trust", "on", "hi")
	assert.Equal(t, 1, o.Exit)
	assert.Contains(t, o.Stderr, project)
	require.NoError(t, os.WriteFile(project, []byte("{}"), 0o600))
	o = p.run(none, "run", "-m", "nosuch/m", "--workspace-trust", "on", "--plugin", "acme.x", "hi")
	assert.Contains(t, o.Stderr, "nosuch")
	o = p.run(none, "run", "--workspace-trust", "on", "--plugin", "acme.x", "/nosuch")
	assert.Contains(t, o.Stderr, "acme.x")
	o = p.run(none, "run", "--workspace-trust", "on", "/nosuch")
	assert.Equal(t, 1, o.Exit)
	assert.Contains(t, o.Stderr, "/nosuch")
	assert.NoDirExists(t, filepath.Join(p.home, "threads"), "no thread was made")
}

// A limit of the command line may be higher than that of the configuration, and nothing is written.
func TestOptionsBeatTheConfiguration(t *testing.T) {
	p := newPlace(t)
	require.NoError(t, os.MkdirAll(p.home, 0o700))
	config := filepath.Join(p.home, "config.json")
	const text = `{"limits": {"modelCalls": 1}, "model": "offline/rules", "mode": "plan"}`
	require.NoError(t, os.WriteFile(config, []byte(text), 0o600))
	o := p.run(nil, "run", "--json", "list")
	assert.Equal(t, 3, o.Exit)
	assert.Contains(t, o.Stdout, `"mode":"plan"`)
	assert.Contains(t, o.Stdout, `"reason":"model_call_limit_reached"`)
	o = p.run(nil, "run", "--json", "--model-calls", "2", "--work", "list")
	assert.Equal(t, 0, o.Exit, o.Stderr)
	assert.Contains(t, o.Stdout, `"mode":"work"`)
	after, err := os.ReadFile(config)
	require.NoError(t, err)
	assert.Equal(t, text, string(after))
}

// FIELD-Q6 and PROTO-1: a refused key is left where it is, and the message says where that is.
func TestRefusedKey(t *testing.T) {
	var requests atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"message":"Incorrect API key provided: `+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+`"}}`)
	}))
	defer srv.Close()
	p := newPlace(t)
	require.NoError(t, os.MkdirAll(p.home, 0o700))
	credentials := filepath.Join(p.home, "credentials.json")
	const stored = `{"providers": {"acme": {"apiKey": "sk-very-secret"}}}`
	require.NoError(t, os.WriteFile(credentials, []byte(stored), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(p.home, "providers.json"),
		[]byte(`{"providers": {"acme": {"protocol": "openai", "baseUrl": "`+srv.URL+`/v1"}}}`), 0o600))
	for _, format := range []string{"default", "json"} {
		requests.Store(0)
		o := p.run(nil, "run", "-m", "acme/large", "--format", format, "hi")
		assert.Equal(t, 2, o.Exit, o.Stderr)
		assert.EqualValues(t, 1, requests.Load())
		assert.Contains(t, o.Stdout+o.Stderr, credentials)
		assert.NotContains(t, o.Stdout+o.Stderr, "sk-very-secret")
	}
	after, err := os.ReadFile(credentials)
	require.NoError(t, err)
	assert.Equal(t, stored, string(after))
	assert.NoError(t, filepath.WalkDir(p.home, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || path == credentials {
			return err
		}
		text, err := os.ReadFile(path)
		assert.NotContains(t, string(text), "sk-very-secret", path)
		return err
	}))
}

// A host that has stopped leaves no goroutine behind, whether its turn ran or not.
func TestRunLeavesNoGoroutine(t *testing.T) {
	before := goleak.IgnoreCurrent()
	p := newPlace(t)
	assert.Equal(t, 0, p.run(nil, "run", "list").Exit)
	assert.Equal(t, 4, p.run(nil, "run", "$ touch x").Exit)
	assert.Equal(t, 1, p.run(nil, "run", "/nosuch").Exit)
	assert.Equal(t, 0, p.run(nil, "points", "list").Exit)
	goleak.VerifyNone(t, before)
}
