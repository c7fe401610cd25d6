//go:build unix

package exectool_test

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/points/tool"
)

// EXT-1
func TestArgumentsThatArePathsRaiseTheClass(t *testing.T) {
	s := newShed(t)
	s.set("x", `"command": ["true"], "pathArguments": ["p", "q"]`)
	s.file(filepath.Join(s.ws, "a"), "", 0o600)
	require.NoError(t, os.Symlink("/etc", filepath.Join(s.ws, "out")))
	for arguments, want := range map[string]string{
		`{}`:                            "Write Workspace",
		`{"p":"a"}`:                     "Write Workspace",
		`{"p":"../x"}`:                  "Write OutsideWorkspace",
		`{"p":"out/passwd"}`:            "Write OutsideWorkspace",
		`{"p":"~/.ssh/config"}`:         "Forbidden PrivilegedEscalation",
		`{"p":["a","/etc/x"]}`:          "Write OutsideWorkspace",
		`{"p":["a",1,{"p":"/etc"}]}`:    "Write Workspace",
		`{"p":"../x","q":"~/.netrc"}`:   "Forbidden PrivilegedEscalation",
		`{"other":"../x"}`:              "Write Workspace",
		`{"p":"a\u0000b"}`:              "Privileged OutsideWorkspace",
		`{"p":".git/hooks/pre-commit"}`: "Privileged Workspace",
		`{"p":` + `"` + s.home + `/permissions.json"}`: "Forbidden PrivilegedEscalation",
		`not json`: "Write Workspace",
	} {
		k := s.tool("x").Binding.Classify(context.Background(), tool.Call{Tool: "x", Arguments: []byte(arguments)}, s.ws)
		assert.Equal(t, want, k.Risk.String()+" "+k.Authority.String(), arguments)
		assert.True(t, k.Always, arguments)
	}
	k := s.tool("x").Binding.Classify(context.Background(), tool.Call{Tool: "x", Arguments: []byte(`{"p":"../x"}`)}, s.ws)
	assert.Equal(t, "x "+filepath.Dir(s.ws)+"/x: outside the workspace", k.Summary)
}

func TestTheWishOfAnAuthorCountsWhereTheOperatorSaysSo(t *testing.T) {
	s := newShed(t)
	s.set("mine", `"command": ["true"]`)
	s.manifest(filepath.Join(s.ws, home.TreeName, "tools"), "theirs", `"command": ["true"]`)
	always := func(name string) bool {
		return s.tool(name).Binding.Classify(context.Background(), tool.Call{}, s.ws).Always
	}
	assert.True(t, always("mine"))
	assert.False(t, always("theirs"))
	s.approval = home.ExternalApproval{Home: "host", Project: "author"}
	assert.False(t, always("mine"))
	assert.True(t, always("theirs"))
	assert.Equal(t, tool.Key{Kind: tool.OwnerExternal, Owner: "project/theirs", ID: "theirs"}, s.tool("theirs").Definition.Key)
}

// EXT-3
func TestArgumentsBecomeOptions(t *testing.T) {
	s := newShed(t)
	s.script("x", "show", `touch started; for a in "$@"; do printf '%s|' "$a"; done`)
	s.set("x", `"command": ["./show", "sub"], "argv": {"v": "-v", "n": "--n"}`)
	for arguments, want := range map[string]string{
		`{"v":{"a":1}}`:                    "tool_input_invalid",
		`{"v":null}`:                       "tool_input_invalid",
		`{"v":["a",1]}`:                    "tool_input_invalid",
		`{"v":"a\u0000b"}`:                 "tool_input_invalid",
		`{}`:                               "sub|",
		`{"v":[]}`:                         "sub|",
		`{"v":["a","b"]}`:                  "sub|-v|a|-v|b|",
		`{"n":1e3,"v":true}`:               "sub|-v|true|--n|1e3|",
		`{"v":"","n":"x y"}`:               "sub|-v||--n|x y|",
		`{"v":"--x; rm -rf \"$HOME\" \n"}`: "sub|-v|--x; rm -rf \"$HOME\" \n|",
		`{"w":"not an option"}`:            "sub|",
	} {
		r := s.call("x", arguments)
		started := filepath.Join(s.ws, "started")
		if strings.HasPrefix(want, "tool_") {
			assert.Equal(t, want, code(r), arguments)
			assert.NoFileExists(t, started, arguments)
			continue
		}
		assert.Equal(t, "exit 0\n"+want, text(r), arguments)
		require.NoError(t, os.Remove(started))
	}
}

// FIELD-M1, FIELD-U7
func TestNoShellStandsBetweenACallAndItsProgram(t *testing.T) {
	s := newShed(t)
	s.script("x", "show", `echo $#; for a in "$@"; do printf '[%s]' "$a"; done`)
	s.set("x", `"command": ["./show"], "argv": {"q": "--q"}, "pathArguments": ["q"]`)
	assert.Equal(t, "exit 0\n2\n[--q][$(touch pwned); C:\\tmp \"x\" *]", text(s.call("x", `{"q":"$(touch pwned); C:\\tmp \"x\" *"}`)))
	assert.Equal(t, "exit 0\n2\n[--q][x\"; touch pwned #]", text(s.call("x", `{"q":"x\"; touch pwned #"}`)))
	assert.NoFileExists(t, filepath.Join(s.ws, "pwned"))
}

// EXT-4, FIELD-L9
func TestAProgramOfTheSetLiesInTheSet(t *testing.T) {
	s := newShed(t)
	dir := filepath.Join(s.home, "tools")
	for name, command := range map[string]string{
		"inside": "./run", "sub": "sub/../run", "above": "../run", "link": "./link", "bare": "run", "barelink": "link", "deep": "sub/deep",
	} {
		s.set(name, `"command": ["`+command+`"]`)
		s.script(name, "run", "echo ran "+name)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name, "sub"), 0o755))
		require.NoError(t, os.Symlink("../run", filepath.Join(dir, name, "sub", "deep")))
	}
	s.script(".", "run", "touch started")
	for _, name := range []string{"link", "barelink"} {
		require.NoError(t, os.Symlink(filepath.Join(dir, "run"), filepath.Join(dir, name, "link")))
	}
	for _, name := range []string{"inside", "sub", "bare", "deep"} {
		assert.Equal(t, "exit 0\nran "+name, text(s.call(name, `{}`)), name)
	}
	for _, name := range []string{"above", "link", "barelink"} {
		r := s.call(name, `{}`)
		assert.Equal(t, tool.CodeExecutionFailed, code(r), name)
		assert.Contains(t, text(r), "leads out of the directory of its tool set", name)
	}
	assert.NoFileExists(t, filepath.Join(s.ws, "started"))
}

func TestASetMayItselfBeALink(t *testing.T) {
	s := newShed(t)
	elsewhere := filepath.Join(s.home, "elsewhere")
	s.file(filepath.Join(elsewhere, "run"), "#!/bin/sh\necho ran\n", 0o755)
	s.file(filepath.Join(elsewhere, home.ToolSetFile), `{"runner":"exec","command":["./run"],"description":"x","schema":{}}`, 0o600)
	require.NoError(t, os.MkdirAll(filepath.Join(s.home, "tools"), 0o755))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(s.home, "tools", "x")))
	assert.Equal(t, "exit 0\nran", text(s.call("x", `{}`)))
}

// FIELD-B8
func TestAProgramThatCannotStart(t *testing.T) {
	s := newShed(t)
	dir := filepath.Join(s.home, "tools")
	for _, name := range []string{"missing", "noexec", "badshell", "nowhere"} {
		s.set(name, `"command": ["./`+name+`"]`)
	}
	s.set("nowhere", `"command": ["no-such-program-anywhere"]`)
	s.file(filepath.Join(dir, "noexec", "noexec"), "#!/bin/sh\n", 0o644)
	s.file(filepath.Join(dir, "badshell", "badshell"), "#!/no/such/shell\n", 0o755)
	s.set("good", `"command": ["true"]`)
	s.file(filepath.Join(dir, "none", home.ToolSetFile),
		`{"runner":"exec","tools":[{"name":"none","description":"x","schema":{}},{"name":"some","command":["true"],"description":"x","schema":{}}]}`, 0o600)
	for name, says := range map[string]string{
		"missing":  dir + "/missing/missing: no such file or directory",
		"noexec":   dir + "/noexec/noexec: permission denied",
		"badshell": dir + "/badshell/badshell: the interpreter that its first line names: no such file or directory",
		"nowhere":  "no-such-program-anywhere: executable file not found in $PATH",
		"none":     "the manifest names no program",
	} {
		r := s.call(name, `{}`)
		assert.Equal(t, tool.CodeExecutionFailed, code(r), name)
		assert.Contains(t, text(r), says)
		assert.NotContains(t, text(r), "exit ", name)
	}
	assert.Equal(t, "exit 0", text(s.call("good", `{}`)))
	assert.Equal(t, "exit 0", text(s.call("some", `{}`)))
}

func TestTheProgramReadsTheArguments(t *testing.T) {
	s := newShed(t)
	s.set("on", `"command": ["cat"]`)
	s.set("off", `"command": ["cat"], "stdin": false`)
	s.set("deaf", `"command": ["true"]`)
	assert.Equal(t, "exit 0\n{\"a\": [1,  \"ü\"]}", text(s.call("on", `{"a": [1,  "ü"]}`)), "exactly as they are")
	assert.Equal(t, "exit 0\n{}", text(s.call("on", ``)))
	assert.Equal(t, "exit 0", text(s.call("off", `{"a":1}`)))
	assert.Equal(t, "exit 0", text(s.call("deaf", `{"a":"`+strings.Repeat("x", 1<<20)+`"}`)), "not reading is no fault")
}

func TestTheProgramKnowsWhereItRuns(t *testing.T) {
	t.Setenv("CRYSTAL_API_KEY", "secret-1")
	t.Setenv("CRYSTAL_THREAD", "another")
	s := newShed(t)
	s.script("x", "show", `pwd; echo "$CRYSTAL_WORKSPACE|$CRYSTAL_THREAD|$CRYSTAL_SESSION|$CRYSTAL_APPROVAL|$CRYSTAL_TOOL_DATA|$CRYSTAL_PROJECT_DATA|$CRYSTAL_API_KEY"
test -d "$CRYSTAL_TOOL_DATA" && echo made; test -d "$CRYSTAL_PROJECT_DATA" || echo not made; test -t 0 || test -t 1 || (: </dev/tty) 2>/dev/null || echo no terminal`)
	s.set("x", `"command": ["./show"]`)
	data := filepath.Join(s.home, "data", "tools", "x")
	project := filepath.Join(s.ws, ".crystal", "data", "tools", "x")
	assert.Equal(t, "exit 0\n"+s.ws+"\n"+strings.Join([]string{s.ws, "thread-1", "thread-1", "edit", data, project, ""}, "|")+
		"\nmade\nnot made\nno terminal", text(s.call("x", `{}`)))
}

func TestTextResults(t *testing.T) {
	s := newShed(t)
	for name, tt := range map[string]struct{ script, want, code string }{
		"both":       {`echo out; echo err >&2; echo more`, "exit 0\nout\nmore\nerr", ""},
		"failure":    {`echo why >&2; exit 3`, "exit 3\nwhy", "command_failed"},
		"signal":     {`kill -KILL $$`, "exit signal SIGKILL", "command_failed"},
		"colours":    {`printf '\033[31mred\033[0m\a\n'`, "exit 0\nred", ""},
		"background": {`sleep 60 & echo done`, "exit 0\ndone\n[background processes were stopped]", ""},
	} {
		s.script(name, "run", tt.script)
		s.set(name, `"command": ["./run"]`)
		r := s.call(name, `{}`)
		assert.Equal(t, tt.want, text(r), name)
		assert.Equal(t, tt.code, code(r), name)
	}
	assert.Equal(t, map[string]any{"exitCode": 3}, s.call("failure", `{}`).Error.Params)
	assert.Equal(t, map[string]any{"signal": "SIGKILL"}, s.call("signal", `{}`).Error.Params)
}

func TestTimeIsLimited(t *testing.T) {
	s := newShed(t)
	s.script("x", "run", `echo begun; sleep 60`)
	s.set("x", `"command": ["./run"], "timeout": "300ms"`)
	r := s.call("x", `{}`)
	assert.Equal(t, tool.CodeTimeout, code(r))
	assert.Equal(t, "timed out after 300ms\nbegun", text(r))
}

func TestACancelledCallEndsItsProgram(t *testing.T) {
	s := newShed(t)
	s.script("x", "run", `echo so far; echo begun > pipe; sleep 60`)
	s.set("x", `"command": ["./run"], "timeout": "unlimited"`)
	pipe := filepath.Join(s.ws, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		begun, err := os.ReadFile(pipe) // waits for the program, which has said something by then
		assert.NoError(t, err)
		assert.Equal(t, "begun\n", string(begun))
	}()
	r := s.callIn(ctx, "x", `{}`)
	assert.Equal(t, tool.CodeCancelled, code(r))
	assert.Equal(t, "so far", text(r))
	r = s.callIn(ctx, "x", `{}`)
	assert.Equal(t, tool.CodeCancelled, code(r), "nothing is started by then")
}

const dot = "\x89PNG\r\n\x1a\n1"

func TestContentResults(t *testing.T) {
	s := newShed(t)
	png := base64.StdEncoding.EncodeToString([]byte(dot))
	s.file(filepath.Join(s.ws, "dot.png"), dot, 0o600)
	s.file(filepath.Join(s.ws, ".ssh", "dot.png"), dot, 0o600)
	require.NoError(t, os.Symlink(s.home, filepath.Join(s.ws, "out")))
	s.file(filepath.Join(s.home, "dot.png"), dot, 0o600)
	img := func(members string) string { return `{"text":"t","images":[` + members + `]}` }
	one := `{"mimeType":"image/png","base64":"` + png + `"}`
	require.NoError(t, syscall.Mkfifo(filepath.Join(s.ws, "pipe"), 0o600))
	for name, tt := range map[string]struct{ out, want, code string }{
		"text":          {`{"text":"fine\u001b[31m","more":1}`, "fine", ""},
		"nothing":       {`{}`, "", ""},
		"blanks":        {" {\"text\":\"x\"}\n\n", "x", ""},
		"image":         {img(one), "t<image/png>", ""},
		"imageonly":     {`{"images":[` + one + `]}`, "<image/png>", ""},
		"imagepath":     {img(`{"mimeType":"image/png","path":"dot.png"}`), "t<image/png>", ""},
		"imageabsolute": {img(`{"mimeType":"image/png","path":"` + s.ws + `/dot.png"}`), "t<image/png>", ""},
		"two":           {img(one + "," + one), "t<image/png><image/png>", ""},
		"nine":          {img(strings.Repeat(one+",", 8) + one), "at most 8", "tool_result_invalid"},
		"chatter":       {"loading…\n" + `{"text":"ok"}`, `The output begins with "loading\u2026\n{\"text\":\"ok\"}"`, "tool_result_invalid"}, // FIELD-B17
		"empty":         {"", `begins with ""`, "tool_result_invalid"},
		"null":          {`null`, "null is no object", "tool_result_invalid"},
		"null text":     {`{"text":null}`, "text is no string", "tool_result_invalid"},
		"null images":   {`{"images":null}`, "no array of objects", "tool_result_invalid"},
		"null image":    {`{"images":[null]}`, "no array of objects", "tool_result_invalid"},
		"other case":    {`{"TEXT":"x","Images":1}`, "", ""},
		"no UTF-8":      {"{\"text\":\"\xff\"}", "not valid UTF-8", "tool_result_invalid"},
		"two objects":   {`{"text":"a"}{"text":"b"}`, "after top-level value", "tool_result_invalid"},
		"array":         {`["a"]`, "cannot unmarshal array", "tool_result_invalid"},
		"number":        {`{"text":1}`, "text is no string", "tool_result_invalid"},
		"bothgiven":     {img(`{"mimeType":"image/png","base64":"` + png + `","path":"dot.png"}`), "images[0]: exactly one of base64 and path", "tool_result_invalid"},
		"neither":       {img(`{"mimeType":"image/png"}`), "exactly one of base64 and path", "tool_result_invalid"},
		"badtype":       {img(`{"mimeType":"image/bmp","base64":"` + png + `"}`), "image/bmp", "tool_result_invalid"},
		"wrongtype":     {img(`{"mimeType":"image/gif","base64":"` + png + `"}`), "the bytes are not image/gif", "tool_result_invalid"},
		"badbase64":     {img(`{"mimeType":"image/png","base64":"*"}`), "base64", "tool_result_invalid"},
		"outside":       {img(`{"mimeType":"image/png","path":"../home/dot.png"}`), "images[0]: path", "tool_result_invalid"},
		"linkedout":     {img(`{"mimeType":"image/png","path":"out/dot.png"}`), "images[0]: path", "tool_result_invalid"},
		"credential":    {img(`{"mimeType":"image/png","path":".ssh/dot.png"}`), "holds credentials", "tool_result_invalid"},
		"fifo":          {img(`{"mimeType":"image/png","path":"pipe"}`), "images[0]: path", "tool_result_invalid"},
		"directory":     {img(`{"mimeType":"image/png","path":"."}`), "images[0]: path", "tool_result_invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			s.file(filepath.Join(s.ws, "printed"), tt.out, 0o600)
			s.set("x", `"command": ["cat", "printed"], "output": "content", "stdin": false`)
			r := s.call("x", `{}`)
			assert.Equal(t, tt.code, code(r))
			if tt.code == "" {
				assert.Equal(t, tt.want, text(r))
			} else {
				assert.Contains(t, text(r), tt.want)
			}
		})
	}
}

func TestContentOfAProgramThatFailed(t *testing.T) {
	s := newShed(t)
	png := base64.StdEncoding.EncodeToString([]byte(dot))
	for name, tt := range map[string]struct{ script, want, code string }{
		"fine":   {`echo '{"text":"all fine"}'; exit 2`, "exit 2\nall fine", "command_failed"}, // FIELD-B9
		"images": {`echo '{"text":"t","images":[{"mimeType":"image/png","base64":"` + png + `"}]}'; exit 2`, "exit 2\nt", "command_failed"},
		"words":  {`echo no json; echo err >&2; exit 2`, "exit 2\nno json\nerr", "command_failed"},
		"warned": {`echo '{"text":"t"}'; echo err >&2`, "t\nerr", ""},
	} {
		s.script(name, "run", tt.script)
		s.set(name, `"command": ["./run"], "output": "content"`)
		r := s.call(name, `{}`)
		assert.Equal(t, tt.want, text(r), name)
		assert.Equal(t, tt.code, code(r), name)
	}
}

func TestAModelWithoutImagesGetsNone(t *testing.T) {
	s := newShed(t)
	s.script("x", "run", `echo '{"images":[{"mimeType":"image/png","path":"dot.png"}]}'`)
	s.set("x", `"command": ["./run"], "output": "content"`)
	s.file(filepath.Join(s.ws, "dot.png"), dot, 0o600)
	r, err := s.tool("x").Binding.Runtime.Invoke(context.Background(), tool.Invocation{Arguments: []byte(`{}`), Workspace: s.ws})
	require.NoError(t, err)
	assert.Equal(t, tool.CodeResultInvalid, code(r))
	assert.Contains(t, text(r), "the model takes no images")
}

func TestWhatIsQuotedIsShortAndEscaped(t *testing.T) {
	s := newShed(t)
	s.script("x", "run", `printf '\033]0;title\a'; head -c 10000 /dev/zero | tr '\0' x`)
	s.set("x", `"command": ["./run"], "output": "content"`)
	r := s.call("x", `{}`)
	assert.Equal(t, tool.CodeResultInvalid, code(r))
	assert.Contains(t, text(r), `"\x1b]0;title\axxx`)
	assert.Less(t, len(text(r)), 500)
}
