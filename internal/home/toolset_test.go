package home_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/home"
)

func reserved(name string) bool { return strings.EqualFold(name, "bash") }

func (tr trees) toolSet(t *testing.T, source, directory, text string) string {
	t.Helper()
	root := string(tr.home)
	if source == "project" {
		root = tr.tree
	}
	return write(t, text, root, "tools", directory, home.ToolSetFile)
}

const anyTool = `"description": "Does.", "schema": {"type": "object"}`

func TestToolSetIsReadWhole(t *testing.T) {
	path := write(t, `{ // the tracker
		"runner": "exec", "approval": "always", "command": ["./bin/acme", "--quiet"], "timeout": "60s", "catalogs": ["work"],
		"tools": [
			{"name": "issue_search", "description": "Searches.", "schema": {"type": "object", /* all */ "required": ["q"]}, "command": ["search"],
			 "argv": {"z": "-z", "q": "--query"}, "pathArguments": ["p"], "output": "content"},
			{"name": "issue_close", `+anyTool+`, "approval": "inherit", "timeout": "unlimited", "catalogs": ["plan", "work"],},
		],
		"stdin": false,
	}`, t.TempDir(), "tools.json")
	s, notes, err := home.ReadToolSet(path, "acme", reserved)
	require.NoError(t, err)
	assert.Empty(t, notes)
	assert.Equal(t, home.ToolSet{
		Enabled: true, Runner: "exec", Offer: home.Offer{Work: true, Always: true},
		Tools: []home.ExternalTool{
			{
				Name: "issue_search", Description: "Searches.", Schema: json.RawMessage(`{"type":"object","required":["q"]}`),
				Command: []string{"./bin/acme", "--quiet", "search"}, Flags: []home.Flag{{"z", "-z"}, {"q", "--query"}}, Paths: []string{"p"},
				Offer: home.Offer{Work: true, Always: true}, Timeout: time.Minute, Content: true,
			},
			{
				Name: "issue_close", Description: "Does.", Schema: json.RawMessage(`{"type":"object"}`),
				Command: []string{"./bin/acme", "--quiet"}, Offer: home.Offer{Plan: true, Work: true}, Timeout: home.Unlimited,
			},
		},
	}, s)
}

func TestToolSetOfOneToolHasTheNameOfItsDirectory(t *testing.T) {
	path := write(t, `{"runner": "exec", "command": ["x"], `+anyTool+`}`, t.TempDir(), "tools.json")
	s, _, err := home.ReadToolSet(path, "look_up", reserved)
	require.NoError(t, err)
	require.Len(t, s.Tools, 1)
	assert.Equal(t, home.ExternalTool{
		Name: "look_up", Description: "Does.", Schema: json.RawMessage(`{"type":"object"}`), Command: []string{"x"},
		Offer: home.Offer{Plan: true, Work: true}, Timeout: 2 * time.Minute, Stdin: true,
	}, s.Tools[0])
	_, _, err = home.ReadToolSet(path, "look.up", reserved)
	assert.ErrorContains(t, err, "use tools")
	_, _, err = home.ReadToolSet(path, "Bash", reserved)
	assert.ErrorContains(t, err, "use tools")
}

func TestToolSetWithAFaultIsNotUsed(t *testing.T) {
	const head = `{"runner": "exec", "command": ["x"], `
	for name, tt := range map[string]struct{ text, key, says string }{
		"no object":                  {`[]`, "", "must be an object"},
		"broken":                     {`{"runner": }`, "", ":1:"},
		"no runner":                  {`{"command": ["x"], ` + anyTool + `}`, "runner", `allowed: "exec"`},
		"another runner":             {`{"runner": "go", "command": ["x"], ` + anyTool + `}`, "runner", "compiled plugin"},
		"FIELD-B12 a bare number":    {head + `"timeout": 5, ` + anyTool + `}`, "timeout", `add a unit, as in "5s"`},
		"no tools":                   {head + `}`, "tools", "at least one tool"},
		"an empty list":              {head + `"tools": []}`, "tools", "at least one tool"},
		"tools that are no objects":  {head + `"tools": [1]}`, "tools", "an array of objects"},
		"both forms":                 {head + anyTool + `, "tools": [{"name": "a", ` + anyTool + `}]}`, "tools", "beside none of"},
		"two of one name":            {head + `"tools": [{"name": "a", ` + anyTool + `}, {"name": "a", ` + anyTool + `}]}`, "tools", `two tools have the name "a"`},
		"a name of the host":         {head + `"tools": [{"name": "BASH", ` + anyTool + `}]}`, "tools[0].name", "one of its own"},
		"an illegal name":            {head + `"tools": [{"name": "a b", ` + anyTool + `}]}`, "tools[0].name", "a letter"},
		"no name":                    {head + `"tools": [{` + anyTool + `}]}`, "tools[0].name", "missing"},
		"no program at all":          {`{"runner": "exec", "tools": [{"name": "a", ` + anyTool + `}]}`, "command", "the program to run"},
		"an unknown catalog":         {head + `"catalogs": ["work", "Plan"], ` + anyTool + `}`, "catalogs", `"plan", "work" or both`},
		"no catalog":                 {head + `"tools": [{"name": "a", "catalogs": [], ` + anyTool + `}]}`, "tools[0].catalogs", `"plan", "work" or both`},
		"a blank description":        {head + `"description": "  ", "schema": {}}`, "description", ""},
		"no schema":                  {head + `"description": "x"}`, "schema", "missing"},
		"a schema that is no object": {head + `"description": "x", "schema": true}`, "schema", "an object"},
		"options that are no texts":  {head + anyTool + `, "argv": {"a": 1}}`, "argv.a", ""},
		"an unknown output":          {head + anyTool + `, "output": "json"}`, "output", "content"},
		"a wrong approval":           {head + anyTool + `, "approval": "never"}`, "approval", "always"},
		"a word for a boolean":       {head + anyTool + `, "stdin": "yes"}`, "stdin", "true or false"},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, tt.text, t.TempDir(), "tools.json")
			_, _, err := home.ReadToolSet(path, "one", reserved)
			var broken *home.ToolSetError
			require.ErrorAs(t, err, &broken)
			assert.Equal(t, tt.key, broken.Key)
			assert.ErrorContains(t, err, tt.says)
			assert.ErrorContains(t, err, path)
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			_, err = home.EnableToolSet(path, "one", false, reserved)
			require.ErrorAs(t, err, &broken)
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, before, after)
		})
	}
}

func TestToolSetKeysThatMeanNothingAreNoted(t *testing.T) {
	path := write(t, `{"runner": "exec", "command": ["x"], "colour": 1, "timeoutSeconds": 5, "tools": [{"name": "a", "pathArgument": "p", `+anyTool+`}]}`,
		t.TempDir(), "tools.json")
	s, notes, err := home.ReadToolSet(path, "one", reserved)
	require.NoError(t, err)
	assert.Equal(t, 2*time.Minute, s.Tools[0].Timeout)
	require.Equal(t, []string{"ConfigUnknownKey", "ConfigUnknownKey", "ConfigUnknownKey"}, codes(notes))
	assert.Contains(t, notes[0].Text, `unknown key "timeoutSeconds"; did you mean "timeout"?`)
	assert.Contains(t, notes[1].Text, `unknown key "tools[0].pathArgument"; did you mean "pathArguments"?`)
	assert.Contains(t, notes[2].Text, `unknown key "colour"`)
}

func TestToolSetsOfBothTrees(t *testing.T) {
	tr := newTrees(t)
	one := func(description string) string {
		return `{"runner": "exec", "command": ["x"], "tools": [{"name": "t_` + description + `", ` + anyTool + `}]}`
	}
	tr.toolSet(t, "home", "a", one("a"))
	tr.toolSet(t, "home", "b", one("b"))
	tr.toolSet(t, "project", "b", `{"enabled": false, "colour": 1, "runner": "exec", "command": ["x"], `+anyTool+`}`)
	tr.toolSet(t, "home", "c", `{"timeout": 5}`)
	tr.toolSet(t, "project", "d", `{"enabled": false,`)
	tr.toolSet(t, "home", "0bad", one("x"))
	require.NoError(t, os.MkdirAll(filepath.Join(string(tr.home), "tools", "empty"), 0o755))
	write(t, "no directory", string(tr.home), "tools", "file")
	found := home.DiscoverToolSets(tr.home, tr.tree, reserved)
	var rows []string
	for _, r := range found.Rows {
		line := r.Directory + " " + string(r.Source)
		if r.Loaded() {
			line += " loaded " + r.ToolSet.Tools[0].Name
		}
		if r.Problem != nil {
			line += " " + string(r.Problem.Code)
		}
		rows = append(rows, line)
	}
	assert.Equal(t, []string{
		"0bad home ToolSetInvalid", "a home loaded t_a", "b home", "b project", "c home ToolSetInvalid", "d project ToolSetInvalid", "empty home ",
	}, rows)
	assert.Equal(t, []string{"ToolSetInvalid", "ToolSetInvalid", "ToolSetInvalid"}, codes(found.Notes), "what is hidden or off is no news")

	tr.tree = ""
	assert.Len(t, home.DiscoverToolSets(tr.home, "", reserved).Rows, 5)
}

func TestEnableToolSetChangesTheSwitchAlone(t *testing.T) {
	text := "{ // on\n  \"runner\": \"exec\", \"command\": [\"x\"], " + anyTool + " }\n"
	path := write(t, text, t.TempDir(), "tools.json")
	changed, err := home.EnableToolSet(path, "one", true, reserved)
	require.NoError(t, err)
	assert.False(t, changed)
	changed, err = home.EnableToolSet(path, "one", false, reserved)
	require.NoError(t, err)
	assert.True(t, changed)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(after), "// on\n  \"runner\": \"exec\"")
	s, _, err := home.ReadToolSet(path, "one", reserved)
	require.NoError(t, err)
	assert.False(t, s.Enabled)
}

func FuzzReadToolSet(f *testing.F) {
	f.Add(`{"runner": "exec", "command": ["x"], ` + anyTool + `}`)
	f.Add(`{"runner": "exec", "tools": [{"name": "a", "command": ["x"], "argv": {"a": "-a"}, ` + anyTool + `}]}`)
	f.Add(`{"timeout": 5, "catalogs": [1]}`)
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "tools.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		s, _, err := home.ReadToolSet(path, "one", reserved)
		var broken *home.ToolSetError
		if err != nil {
			require.ErrorAs(t, err, &broken)
			return
		}
		require.NotEmpty(t, s.Tools)
		for _, one := range s.Tools {
			require.NotEmpty(t, one.Name)
			require.NotEmpty(t, one.Description)
			require.True(t, json.Valid(one.Schema))
			require.True(t, one.Plan || one.Work)
			require.NotZero(t, one.Timeout)
		}
	})
}
