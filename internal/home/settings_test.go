package home_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/home"
)

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
