package home_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/home"
)

// write makes a file and its directories.
func write(t *testing.T, text string, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// vars is an environment.
func vars(pairs ...string) func(string) string {
	m := make(map[string]string)
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

func codes(notes []home.Note) []string {
	out := []string{}
	for _, n := range notes {
		out = append(out, string(n.Code))
	}
	return out
}

// resolved returns a fresh directory without links in its path.
func resolved(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

func TestFindTakesTheFirstPlaceThatIsNamed(t *testing.T) {
	cwd, err := os.Getwd()
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		option string
		env    func(string) string
		want   string
	}{
		"option":                 {"/opt/h", vars("CRYSTAL_HOME", "/env/h", "HOME", "/u"), "/opt/h"},
		"variable":               {"", vars("CRYSTAL_HOME", "/env/h", "HOME", "/u"), "/env/h"},
		"blank variable":         {"", vars("CRYSTAL_HOME", "  ", "HOME", "/u"), "/u/.crystal"},
		"relative to the caller": {"h", vars(), filepath.Join(cwd, "h")},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := home.Find(tt.option, tt.env)
			require.NoError(t, err)
			assert.Equal(t, home.Dir(tt.want), got)
		})
	}
}

func TestOpenWorkspace(t *testing.T) {
	t.Run("is the resolved directory", func(t *testing.T) {
		dir := resolved(t)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "real", ".crystal"), 0o755))
		require.NoError(t, os.Symlink(filepath.Join(dir, "real"), filepath.Join(dir, "link")))
		ws, err := home.OpenWorkspace(home.Dir(filepath.Join(dir, "home")), filepath.Join(dir, "link"))
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(dir, "real"), ws.Path)
		assert.Equal(t, filepath.Join(dir, "real", ".crystal"), ws.Tree)
	})
	t.Run("must be a directory", func(t *testing.T) {
		file := write(t, "", resolved(t), "file")
		for _, path := range []string{file, file + "-none"} {
			_, err := home.OpenWorkspace("/h", path)
			assert.ErrorIs(t, err, home.ErrWorkspace)
		}
	})
	t.Run("FIELD-L5 a tree that leads out is ignored", func(t *testing.T) {
		dir, out := resolved(t), resolved(t)
		require.NoError(t, os.Symlink(out, filepath.Join(dir, ".crystal")))
		ws, err := home.OpenWorkspace("/h", dir)
		require.NoError(t, err)
		assert.Empty(t, ws.Tree)
		assert.Empty(t, ws.Project, "nothing is written through it")
		assert.Equal(t, []string{"ProjectTreeIgnored"}, codes(ws.Notes))
	})
	t.Run("a tree that is a file is ignored", func(t *testing.T) {
		dir := resolved(t)
		write(t, "", dir, ".crystal")
		ws, err := home.OpenWorkspace("/h", dir)
		require.NoError(t, err)
		assert.Empty(t, ws.Tree)
		assert.Equal(t, []string{"ProjectTreeIgnored"}, codes(ws.Notes))
	})
	t.Run("FIELD-C1 the home directory is no project tree", func(t *testing.T) {
		dir := resolved(t)
		tree := filepath.Join(dir, ".crystal")
		for range 2 { // before and after it exists
			ws, err := home.OpenWorkspace(home.Dir(tree), dir)
			require.NoError(t, err)
			assert.Empty(t, ws.Tree)
			assert.Empty(t, ws.Project)
			assert.Empty(t, ws.Notes)
			require.NoError(t, os.MkdirAll(tree, 0o755))
		}
	})
	t.Run("without a tree", func(t *testing.T) {
		dir := resolved(t)
		ws, err := home.OpenWorkspace("/h", dir)
		require.NoError(t, err)
		assert.Empty(t, ws.Tree)
		assert.Equal(t, filepath.Join(dir, ".crystal"), ws.Project)
		assert.Empty(t, ws.Waiting())
	})
}

func TestTrustIsForExactlyOnePath(t *testing.T) {
	h, dir := home.Dir(filepath.Join(resolved(t), "home")), resolved(t)
	write(t, "{}", dir, ".crystal", "config.json")
	write(t, "", dir, ".crystal", "commands", "a.md")
	write(t, "", dir, ".crystal", "notes.txt")
	ws, err := home.OpenWorkspace(h, dir)
	require.NoError(t, err)
	assert.Equal(t, []string{".crystal/config.json", ".crystal/commands"}, ws.Waiting())
	trusted, err := h.Trusted(ws)
	require.NoError(t, err)
	assert.False(t, trusted)
	assert.NoDirExists(t, string(h), "asking creates nothing")

	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("x", 3600))
	require.NoError(t, h.Trust(ws, now))
	require.NoError(t, h.Trust(ws, now), "twice is once")
	trusted, err = h.Trusted(ws)
	require.NoError(t, err)
	assert.True(t, trusted)
	trusted, err = h.Trusted(home.Workspace{Path: filepath.Dir(dir)})
	require.NoError(t, err)
	assert.False(t, trusted)
	text, err := os.ReadFile(h.Path(home.TrustFile))
	require.NoError(t, err)
	assert.JSONEq(t, fmt.Sprintf(`{"version":1,"workspaces":[{"path":%q,"grantedAt":"2026-01-02T02:04:05Z"}]}`, dir), string(text))

	write(t, "{", h.Path(home.TrustFile))
	trusted, err = h.Trusted(ws)
	assert.Error(t, err)
	assert.False(t, trusted, "a record that can't be read is no trust")
}

func load(t *testing.T, config, project string) *home.Settings {
	t.Helper()
	h, tree := home.Dir(t.TempDir()), t.TempDir()
	write(t, config, h.Path(home.ConfigFile))
	s, err := home.LoadSettings(h, vars(), false)
	require.NoError(t, err)
	if project != "" {
		write(t, project, tree, home.ConfigFile)
	}
	require.NoError(t, s.AddProject(tree))
	return s
}

func TestConfigDefaultsHoldWithoutFiles(t *testing.T) {
	h := home.Dir(filepath.Join(t.TempDir(), "none"))
	s, err := home.LoadSettings(h, vars(), false)
	require.NoError(t, err)
	assert.Equal(t, home.DefaultConfig(), s.Config)
	assert.Empty(t, s.Notes)
	assert.NoDirExists(t, string(h), "reading creates nothing")
}

func TestConfigTakesEveryKey(t *testing.T) {
	s := load(t, `{
		"$schema": "x", "provider": "acme", "model": "large", "thinking": "HIGH", "mode": "plan", "approval": "edit",
		"approvalModel": {"enabled": true, "provider": "p", "model": "m", "thinkingEffort": "low"},
		"externalApproval": {"home": "host", "project": "author"}, "plugins": false, "disabledPlugins": ["Acme.X"],
		"externalTools": false, "skills": false, "skillDirectories": ["a"], "instructions": false,
		"instructionFiles": ["X.md"], "promptSet": "s", "promptAttachments": false,
		"limits": {"modelCalls": 3, "toolCalls": "unlimited", "turnDuration": "1h", "bashTimeout": "unlimited", "toolOutput": 2000},
		"compaction": {"enabled": false, "threshold": 0.5},
		"retry": {"attempts": 0, "baseDelay": "1s", "maxDelay": "2s", "maxRetryAfter": "3s"},
		"customStatusLine": true, "statusLine": ["model"], "log": {"level": "debug"}
	}`, "")
	assert.Empty(t, s.Notes)
	assert.Equal(t, home.Config{
		Provider: "acme", Model: "large", Thinking: "high", Mode: "plan", Approval: "edit",
		ApprovalModel:    home.ApprovalModel{Enabled: true, Provider: "p", Model: "m", ThinkingEffort: "low"},
		ExternalApproval: home.ExternalApproval{Home: "host", Project: "author"},
		DisabledPlugins:  []string{"acme.x"}, SkillDirectories: []string{"a"}, InstructionFiles: []string{"X.md"}, PromptSet: "s",
		Limits:     home.Limits{ModelCalls: 3, ToolCalls: home.Unlimited, TurnDuration: time.Hour, BashTimeout: home.Unlimited, ToolOutput: 2000},
		Compaction: home.Compaction{Threshold: 0.5},
		Retry:      home.Retry{BaseDelay: time.Second, MaxDelay: 2 * time.Second, MaxRetryAfter: 3 * time.Second},

		CustomStatusLine: true, StatusLine: []string{"model"}, LogLevel: "debug",
	}, s.Config)
}

// HOST-41: a project restricts and never widens.
func TestProjectRestrictsAndNeverWidens(t *testing.T) {
	s := load(t, `{"skills": false}`, `{"approval": "full", "limits": {"modelCalls": 5000, "toolCalls": 10}, "skills": true}`)
	assert.Equal(t, "default", s.Config.Approval)
	assert.Equal(t, 1024, s.Config.Limits.ModelCalls)
	assert.Equal(t, 10, s.Config.Limits.ToolCalls)
	assert.False(t, s.Config.Skills)
	assert.ElementsMatch(t, []string{"ConfigProjectKeyIgnored", "ConfigValueInvalid", "ConfigValueInvalid"}, codes(s.Notes))

	s = load(t, `{"limits": {"toolCalls": 5}}`, `{"limits": {"toolCalls": "unlimited", "turnDuration": "1m"}, "skills": false}`)
	assert.Equal(t, 5, s.Config.Limits.ToolCalls)
	assert.Equal(t, time.Minute, s.Config.Limits.TurnDuration)
	assert.False(t, s.Config.Skills)
	assert.Equal(t, []string{"ConfigValueInvalid"}, codes(s.Notes))
}

func TestProjectValuesReplaceThoseOfHome(t *testing.T) {
	s := load(t, `{"provider": "acme", "model": "m", "mode": "plan", "disabledPlugins": ["a.x"]}`,
		`{"provider": "other", "mode": "work", "disabledPlugins": ["a.y", "a.x"], "compaction": {"threshold": 1}}`)
	assert.Empty(t, s.Notes)
	assert.Equal(t, "other", s.Config.Provider)
	assert.Empty(t, s.Config.Model, "the model of another provider does not stay")
	assert.Equal(t, "work", s.Config.Mode)
	assert.Equal(t, []string{"a.x", "a.y"}, s.Config.DisabledPlugins, "both lists count")
	assert.InDelta(t, 1, s.Config.Compaction.Threshold, 0)

	s = load(t, `{"model": "acme/deep/model"}`, "")
	assert.Equal(t, "acme", s.Config.Provider)
	assert.Equal(t, "deep/model", s.Config.Model)
}

// FIELD-N3: one bad value does not discard the file.
func TestBadValueCostsItsKeyAlone(t *testing.T) {
	s := load(t, `{"mode": "plan", "skills": false, "approval": "edit", "thinking": "low", "disabledPlugins": ["acme.x", 7, "NO!"], "statusLine": 7}`, "")
	assert.Equal(t, "plan", s.Config.Mode)
	assert.Equal(t, []string{"acme.x"}, s.Config.DisabledPlugins, "the plugin stays off whatever stands beside it")
	require.Len(t, s.Notes, 3)
	last := s.Notes[2]
	assert.Equal(t, home.ConfigValueInvalid, last.Code)
	assert.Contains(t, last.Text, `"statusLine" is 7; allowed: an array of texts`)
	assert.NotEmpty(t, last.Fix)
}

// FIELD-N4: an unknown key is named with the key that was meant, at every depth.
func TestUnknownKeyIsNamedWithTheNearOne(t *testing.T) {
	s := load(t, `{"plugns": false, "limits": {"modelcalls": 1}}`, "")
	assert.True(t, s.Config.Plugins)
	require.Len(t, s.Notes, 2)
	assert.Contains(t, s.Notes[0].Text, `unknown key "limits.modelcalls"; did you mean "modelCalls"?`)
	assert.Contains(t, s.Notes[1].Text, `unknown key "plugns"; did you mean "plugins"?`)
	assert.Equal(t, []string{"ConfigUnknownKey", "ConfigUnknownKey"}, codes(s.Notes))
}

func TestConfigThatCannotBeParsedIsAnError(t *testing.T) {
	h := home.Dir(t.TempDir())
	write(t, "{\n  \"plugins\": fals\n}", h.Path(home.ConfigFile))
	_, err := home.LoadSettings(h, vars(), false)
	assert.ErrorContains(t, err, h.Path(home.ConfigFile)+":2:14")
	s, err := home.LoadSettings(h, vars(), true)
	require.NoError(t, err, "safe mode goes on with the defaults")
	assert.Equal(t, home.DefaultConfig(), s.Config)
	assert.Len(t, s.Notes, 1)

	tree := t.TempDir()
	write(t, "[", tree, home.ConfigFile)
	assert.Error(t, s.AddProject(tree))
}

func providers(t *testing.T, text string, env ...string) *home.Settings {
	t.Helper()
	h := home.Dir(t.TempDir())
	if text != "" {
		write(t, text, h.Path(home.ProvidersFile))
	}
	s, err := home.LoadSettings(h, vars(env...), false)
	require.NoError(t, err)
	return s
}

func TestProvidersTakeEveryKey(t *testing.T) {
	s := providers(t, `{"$schema": "x", "providers": {"acme": {
		"protocol": "openai", "baseUrl": "https://models.acme.example/v1", "apiKey": "k", "apiKeyEnvironment": "E",
		"requiresApiKey": false, "organization": "o", "project": "p", "headers": {"X-Team": "t"}, "requestTimeout": "1m",
		"idleTimeout": "unlimited", "defaultModel": "large", "models": {"large": {"contextWindow": 200000, "maxTokens": 10,
		"maxTokensField": "max_completion_tokens", "temperature": 0.5, "topP": 1, "imageInput": true, "audioInput": true,
		"videoInput": true, "replayReasoningContent": true, "streamUsage": false, "thinking": ["Low"], "adaptiveThinking": false}}}}}`)
	assert.Empty(t, s.Notes)
	p := s.Providers["acme"]
	assert.Equal(t, "openai", p.Protocol)
	assert.Equal(t, "https://models.acme.example/v1", p.BaseURL)
	assert.False(t, p.RequiresKey)
	assert.Equal(t, map[string]string{"X-Team": "t"}, p.Headers)
	assert.Equal(t, time.Minute, p.RequestTimeout)
	assert.Negative(t, p.IdleTimeout)
	half, one := 0.5, 1.0
	assert.Equal(t, home.Model{
		ContextWindow: 200000, MaxTokens: 10, MaxTokensField: "max_completion_tokens", Temperature: &half, TopP: &one,
		ImageInput: true, AudioInput: true, VideoInput: true, ReplayReasoning: true, Thinking: []string{"low"},
	}, p.Models["large"])
	assert.Equal(t, 128000, p.Entry("unlisted").ContextWindow)
	assert.True(t, s.Providers["deepseek"].Entry("x").ReplayReasoning)
	assert.True(t, s.KnownGear("HIGH"))
	assert.True(t, s.KnownGear("8192"))
	assert.False(t, s.KnownGear("banana"))
}

func TestBadDefinitionCostsItselfAlone(t *testing.T) {
	s := providers(t, `{"providers": {
		"9x": {"protocol": "openai"}, "plain": 7, "noproto": {}, "good": {"protocol": "openai"},
		"openai": {"baseUrl": "ftp://x"}, "auth": {"protocol": "openai", "headers": {"authorization": "Bearer sk-1"}},
		"slow": {"protocol": "openai", "requestTimeout": 5},
		"models": {"protocol": "openai", "models": {"bad": {"contextWindow": 0}, "good": {}}}}}`)
	assert.False(t, s.Providers["good"].Broken)
	assert.NotContains(t, s.Providers, "9x")
	for _, name := range []string{"plain", "noproto", "openai", "auth", "slow"} {
		assert.True(t, s.Providers[name].Broken, name)
		_, err := s.Choose(home.Wanted{Model: name + "/m"}, home.Wanted{})
		assert.ErrorIs(t, err, home.ErrUnknownProvider, name)
	}
	assert.Equal(t, []string{"good"}, s.Providers["models"].ModelNames())
	for _, n := range s.Notes {
		assert.NotContains(t, n.Text, "sk-1")
	}
	assert.Len(t, s.Notes, 7)
}

func TestProvidersOfAProjectAreNotRead(t *testing.T) {
	s, tree := providers(t, ""), t.TempDir()
	write(t, `{"providers": {"acme": {"protocol": "openai"}}}`, tree, home.ProvidersFile)
	require.NoError(t, s.AddProject(tree))
	assert.NotContains(t, s.Providers, "acme")
	assert.Equal(t, []string{"ConfigProjectKeyIgnored"}, codes(s.Notes))
}

func TestChooseFollowsItsOrder(t *testing.T) {
	const file = `{"providers": {
		"one": {"protocol": "openai", "models": {"m1": {}}}, "two": {"protocol": "openai", "models": {"a": {}, "b": {}}},
		"three": {"protocol": "openai", "defaultModel": "d", "models": {"a": {}, "b": {}}}}}`
	type want struct{ provider, model string }
	tests := []struct {
		name           string
		option, thread home.Wanted
		config         home.Wanted
		want           want
		err            error
	}{
		{"option with slashes", home.Wanted{Model: "one/x/y"}, home.Wanted{}, home.Wanted{}, want{"one", "x/y"}, nil},
		{"option in two parts", home.Wanted{Provider: "one", Model: "x/y"}, home.Wanted{}, home.Wanted{}, want{"one", "x/y"}, nil},
		{"a bare model belongs to the thread's provider", home.Wanted{Model: "x"}, home.Wanted{Provider: "two", Model: "a"}, home.Wanted{Provider: "one"}, want{"two", "x"}, nil},
		{"a bare model belongs to the configured provider", home.Wanted{Model: "x"}, home.Wanted{}, home.Wanted{Provider: "one"}, want{"one", "x"}, nil},
		{"the thread beats the configuration", home.Wanted{}, home.Wanted{Provider: "two", Model: "b"}, home.Wanted{Provider: "one", Model: "m1"}, want{"two", "b"}, nil},
		{"the configuration", home.Wanted{}, home.Wanted{}, home.Wanted{Provider: "two", Model: "b"}, want{"two", "b"}, nil},
		{"the only model", home.Wanted{Provider: "one"}, home.Wanted{}, home.Wanted{Provider: "two", Model: "b"}, want{"one", "m1"}, nil},
		{"the default model", home.Wanted{Provider: "three"}, home.Wanted{}, home.Wanted{}, want{"three", "d"}, nil},
		{"several models", home.Wanted{Provider: "two"}, home.Wanted{}, home.Wanted{}, want{}, home.ErrNoModel},
		{"no model", home.Wanted{Provider: "openai"}, home.Wanted{}, home.Wanted{}, want{}, home.ErrNoModel},
		{"FIELD-N8 an unknown provider", home.Wanted{Model: "nosuch/model"}, home.Wanted{}, home.Wanted{}, want{}, home.ErrUnknownProvider},
		{"FIELD-N8 an unknown provider in the file", home.Wanted{}, home.Wanted{}, home.Wanted{Provider: "nosuch"}, want{}, home.ErrUnknownProvider},
		{"a bare model of nobody", home.Wanted{Model: "x"}, home.Wanted{}, home.Wanted{}, want{}, home.ErrNoModel},
		{"HOST-42 nothing at all", home.Wanted{}, home.Wanted{}, home.Wanted{}, want{"offline", "rules"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := providers(t, file)
			s.Config.Provider, s.Config.Model = tt.config.Provider, tt.config.Model
			c, err := s.Choose(tt.option, tt.thread)
			if tt.err != nil {
				require.ErrorIs(t, err, tt.err)
				if tt.err == home.ErrUnknownProvider {
					assert.ErrorContains(t, err, "nosuch")
					assert.ErrorContains(t, err, "anthropic")
				}
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, want{c.Provider.Name, c.Model})
		})
	}
}

// HOST-42, second half: with a key and no choice nothing is picked.
func TestPaidModelIsNeverPickedByItself(t *testing.T) {
	s := providers(t, "", "OPENAI_API_KEY", "sk-secret")
	_, err := s.Choose(home.Wanted{}, home.Wanted{})
	require.ErrorIs(t, err, home.ErrNoModel)
	assert.ErrorContains(t, err, "-m provider/model")
	assert.ErrorContains(t, err, "openai")
	assert.NotContains(t, err.Error(), "sk-secret")
}

func TestKeyComesFromTheFirstPlaceThatHasOne(t *testing.T) {
	h := home.Dir(t.TempDir())
	write(t, "  sk-file \nrest", h.Path("keys", "acme"))
	def := func(extra string) string {
		return `{"providers": {"my-acme": {"protocol": "openai"` + extra + `}, "local": {"protocol": "ollama"}}}`
	}
	stored := `{"providers": {"my-acme": {"apiKey": "sk-stored"}}}`
	tests := []struct {
		name, providers, credentials string
		env                          []string
		value, source                string
	}{
		{"its own variable", def(`, "apiKeyEnvironment": "MINE", "apiKey": "sk-direct"`), stored, []string{"MINE", " sk-mine ", "MY_ACME_API_KEY", "x"}, "sk-mine", "variable MINE"},
		{"the variable of its name", def(`, "apiKeyEnvironment": "MINE"`), stored, []string{"MINE", " ", "MY_ACME_API_KEY", "sk-name", "CRYSTAL_API_KEY", "x"}, "sk-name", "variable MY_ACME_API_KEY"},
		{"the variable for all", def(`, "apiKey": "sk-direct"`), stored, []string{"CRYSTAL_API_KEY", "sk-all"}, "sk-all", "variable CRYSTAL_API_KEY"},
		{"a variable that the definition names", def(`, "apiKey": "{env:THERE}"`), stored, []string{"THERE", "sk-there"}, "sk-there", "variable THERE"},
		{"a file that the definition names", def(`, "apiKey": "{file:keys/acme}"`), stored, nil, "sk-file", "file " + h.Path("keys", "acme")},
		{"the definition itself", def(`, "apiKey": "sk-direct"`), stored, nil, "sk-direct", "apiKey of providers.json"},
		{"credentials", def(`, "apiKey": "{file:keys/none}"`), stored, nil, "sk-stored", h.Path(home.CredentialsFile)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			write(t, tt.providers, h.Path(home.ProvidersFile))
			write(t, tt.credentials, h.Path(home.CredentialsFile))
			s, err := home.LoadSettings(h, vars(tt.env...), false)
			require.NoError(t, err)
			key, err := s.Key(s.Providers["my-acme"])
			require.NoError(t, err)
			assert.Equal(t, tt.value, key.Reveal())
			assert.Equal(t, tt.source, key.Source())
		})
	}
	t.Run("none that is needed", func(t *testing.T) {
		write(t, def(""), h.Path(home.ProvidersFile))
		write(t, "{}", h.Path(home.CredentialsFile))
		s, err := home.LoadSettings(h, vars(), false)
		require.NoError(t, err)
		_, err = s.Key(s.Providers["my-acme"])
		require.ErrorIs(t, err, home.ErrKeyMissing)
		for _, place := range s.KeyPlaces(s.Providers["my-acme"]) {
			assert.ErrorContains(t, err, place)
		}
		key, err := s.Key(s.Providers["local"])
		require.NoError(t, err)
		assert.False(t, key.Known())
	})
	t.Run("none that is needed, with the variable for all", func(t *testing.T) {
		s, err := home.LoadSettings(h, vars("CRYSTAL_API_KEY", "sk-all"), false)
		require.NoError(t, err)
		key, err := s.Key(s.Providers["local"])
		require.NoError(t, err)
		assert.False(t, key.Known(), "the key for all goes to nobody who needs none")
	})
	t.Run("a file that can't be parsed is an error without its content", func(t *testing.T) {
		write(t, `{"providers": {"my-acme": {"apiKey": "sk-broken\x"}}}`, h.Path(home.CredentialsFile))
		s, err := home.LoadSettings(h, vars(), false)
		require.NoError(t, err)
		_, err = s.Key(s.Providers["my-acme"])
		require.Error(t, err)
		assert.NotErrorIs(t, err, home.ErrKeyMissing)
		assert.NotContains(t, err.Error(), "sk-broken")
	})
}

func TestCredentialsThatOthersCanReadAreNoted(t *testing.T) {
	h := home.Dir(t.TempDir())
	path := write(t, "{}", h.Path(home.CredentialsFile))
	require.NoError(t, os.Chmod(path, 0o644))
	s, err := home.LoadSettings(h, vars(), false)
	require.NoError(t, err)
	require.Len(t, s.Notes, 1)
	assert.Contains(t, s.Notes[0].Fix, "chmod 600")
}

func TestKeyPrintsItsTypeNameAlone(t *testing.T) {
	s := providers(t, "", "OPENAI_API_KEY", "sk-secret")
	key, err := s.Key(s.Providers["openai"])
	require.NoError(t, err)
	require.Equal(t, "sk-secret", key.Reveal())
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", key, "struct", struct{ K home.Key }{key})
	text, err := json.Marshal(map[string]any{"k": key})
	require.NoError(t, err)
	for _, out := range []string{
		fmt.Sprint(key), fmt.Sprintf("%v %+v %#v %s %q %x", key, key, key, key, key, key),
		fmt.Sprintf("%+v %#v", struct{ K home.Key }{key}, struct{ K home.Key }{key}), log.String(), string(text),
	} {
		assert.NotContains(t, out, "sk-secret")
		assert.NotContains(t, out, "736b2d") // "sk-" in hexadecimal
	}
}

func TestNotesAreOneCleanLine(t *testing.T) {
	n := home.Note{Text: "a\x1b[31m\nb" + strings.Repeat("x", 600), Directory: "\x1b]0;x\a"}.Cleaned()
	assert.Equal(t, 500, len([]rune(n.Text)))
	assert.True(t, strings.HasPrefix(n.Text, "a bx"))
	assert.Empty(t, n.Directory)
}

func TestCodesAreDocumentedOnce(t *testing.T) {
	seen := make(map[home.Code]bool)
	for _, c := range home.Codes() {
		assert.False(t, seen[c.Code])
		seen[c.Code] = true
		assert.NotEmpty(t, c.Meaning)
		assert.False(t, strings.HasSuffix(c.Meaning, "."))
	}
}
