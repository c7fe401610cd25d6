package dispatcher_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/tool"
)

// png begins like an image of that type.
const png = "\x89PNG\r\n\x1a\nrest"

func argument(c hook.Call, key string) string {
	var m map[string]string
	_ = json.Unmarshal(c.Arguments, &m)
	return m[key]
}

func setting(key string, f func(old string) string) hook.ToolCall {
	return rewriting(func(c hook.Call) (*hook.Call, error) {
		text, err := json.Marshal(map[string]string{key: f(argument(c, key))})
		c.Arguments = text
		return &c, err
	})
}

// FIELD-A1, HOOK-8: rewriting hooks compose in resolved order, and the record keeps what the model asked for.
func TestRewritingHooksCompose(t *testing.T) {
	h := newHost(t)
	h.plugin("acme.a", with(hook.ToolCalls, setting("command", func(string) string { return "A" })))
	h.plugin("acme.b", with(hook.ToolCalls, setting("command", func(old string) string { return old + "B" })))
	var judged string
	add(h, dispatch.Policies, policy(func(c dispatch.Call) (dispatch.Verdict, error) {
		judged = string(c.Arguments)
		return dispatch.Allowed(), nil
	}))
	h.tools(echo("bash"))
	for range 100 {
		o := h.call("bash", `{"command":"x"}`)
		assert.Equal(t, `{"command":"AB"}`, o.Text)
		assert.Equal(t, `{"command":"AB"}`, judged)
		assert.Equal(t, `{"command":"x"}`, o.Requested.Arguments)
		assert.Equal(t, `{"command":"AB"}`, o.Effective.Arguments)
		assert.True(t, o.Rewritten)
	}
}

// FIELD-A2: nothing returned keeps what an earlier hook changed.
func TestNothingReturnedKeepsTheCall(t *testing.T) {
	set := setting("path", func(string) string { return "b.txt" })
	nothing := rewriting(func(hook.Call) (*hook.Call, error) { return nil, nil })
	for _, order := range [][]hook.ToolCall{{set, nothing}, {nothing, set}} {
		h := newHost(t)
		h.tools(echo("read"))
		for _, f := range order {
			add(h, hook.ToolCalls, f)
		}
		assert.Equal(t, `{"path":"b.txt"}`, h.call("read", `{"path":"a.txt"}`).Text)
	}
}

// FIELD-A3: every hook gets its own copy.
func TestEveryHookGetsItsOwnCopy(t *testing.T) {
	vandal := rewriting(func(c hook.Call) (*hook.Call, error) { copy(c.Arguments, `{"path":"evil.txt"}`); return nil, nil })
	for name, add := range map[string]func(*host){
		"plugin": func(h *host) { h.plugin("acme.a", with(hook.ToolCalls, vandal)) },
		"host":   func(h *host) { add(h, hook.ToolCalls, vandal) },
	} {
		h := newHost(t)
		h.tools(echo("read"))
		add(h)
		var got string
		_, err := hook.ToolCalls.Add(h.registrar, rewriting(func(c hook.Call) (*hook.Call, error) { got = string(c.Arguments); return nil, nil }), contrib.Order(1))
		require.NoError(t, err)
		o := h.call("read", `{"path":"a.txt"}`)
		assert.Equal(t, `{"path":"a.txt"}`, got, name)
		assert.Equal(t, `{"path":"a.txt"}`, o.Text, name)
		assert.False(t, o.Rewritten)
	}
}

// FIELD-A6: a rewritten call is resolved, classified and approved from the start.
func TestARewrittenCallIsJudgedAgain(t *testing.T) {
	h := newHost(t)
	h.tools(says("ls", "x"), says("rm", "x", hints(&tool.Hints{Destructive: true})))
	add(h, hook.ToolCalls, rewriting(func(c hook.Call) (*hook.Call, error) { c.Tool = "rm"; return &c, nil }))
	add[dispatch.Approver](h, dispatch.Approvers, dispatch.ApproverFunc(func(_ context.Context, c dispatch.Call) (dispatch.Verdict, error) {
		return dispatch.Verdict{Allow: c.Classification.Risk < tool.Privileged}, nil
	}))
	o := h.call("ls", `{}`)
	assert.Equal(t, tool.CodeApprovalRejected, code(o))
	assert.Equal(t, tool.Privileged, o.Classification.Risk)
	assert.Equal(t, "ls", o.Requested.Name)
	assert.Equal(t, "rm", o.Effective.Name)
}

// HOOK-7: what a hook may not change refuses its result. FIELD-A5, FIELD-B4: failures are told with the label of the hook.
func TestRefusedRewrites(t *testing.T) {
	h := newHost(t)
	h.tools(echo("read"))
	bad := map[string]func(hook.Call) (*hook.Call, error){
		"id":    func(c hook.Call) (*hook.Call, error) { c.ID = "other"; return &c, nil },
		"blank": func(c hook.Call) (*hook.Call, error) { c.Tool = " "; return &c, nil },
		"long":  func(c hook.Call) (*hook.Call, error) { c.Tool = strings.Repeat("x", 129); return &c, nil },
		"error": func(hook.Call) (*hook.Call, error) { return nil, errors.New("x") },
		"panic": func(hook.Call) (*hook.Call, error) { panic("x") },
	}
	for label, f := range bad {
		h.plugin("acme."+label, with(hook.ToolCalls, rewriting(f), contrib.Label(label)))
	}
	h.plugin("acme.last", with(hook.ToolCalls, setting("path", func(string) string { return "b.txt" })))
	o := h.call("read", `{"path":"a.txt"}`)
	assert.Equal(t, `{"path":"b.txt"}`, o.Text)
	assert.Equal(t, "c1", o.ID)
	got := map[string]contrib.Cause{}
	for _, f := range h.fails {
		got[f.Origin.ID()+"/"+f.Label] = f.Cause
	}
	assert.Equal(t, map[string]contrib.Cause{
		"acme.id/id": contrib.CauseRefused, "acme.blank/blank": contrib.CauseRefused, "acme.long/long": contrib.CauseRefused,
		"acme.error/error": contrib.CauseError, "acme.panic/panic": contrib.CausePanic,
	}, got)
}

func reshaping(f func(hook.Result) (*hook.Result, error)) hook.ToolResult {
	return hook.ToolResultFunc(func(_ context.Context, _ hook.Call, r hook.Result) (*hook.Result, error) { return f(r) })
}

// FIELD-A4: result hooks build on each other, and what one leaves out keeps its value.
func TestResultHooksBuildOnEachOther(t *testing.T) {
	h := newHost(t)
	h.turn.Images = true
	h.tools(registration("t", func(context.Context, tool.Invocation) (tool.Result, error) {
		return tool.Result{Content: []tool.Block{{Text: "x"}, {MediaType: "image/png", Data: []byte(png)}}}, nil
	}))
	h.plugin("acme.a", with(hook.ToolResults, reshaping(func(r hook.Result) (*hook.Result, error) {
		return &hook.Result{Text: "x1", Success: r.Success}, nil
	})))
	add(h, hook.ToolResults, reshaping(func(r hook.Result) (*hook.Result, error) { r.Text += "2"; return &r, nil }))
	add(h, hook.ToolResults, reshaping(func(r hook.Result) (*hook.Result, error) { r.Success = false; return &r, nil }))
	o := h.call("t", `{}`)
	assert.Equal(t, "x12", o.Text)
	assert.Equal(t, []tool.Block{{Text: "x12"}, {MediaType: "image/png", Data: []byte(png)}}, o.Result.Content)
	require.Len(t, h.fails, 1)
	assert.Equal(t, contrib.CauseRefused, h.fails[0].Cause, "success is not a hook's to change")
}

func TestTheCodeOfAFailureIsTheHosts(t *testing.T) {
	h := newHost(t)
	h.tools(registration("t", func(context.Context, tool.Invocation) (tool.Result, error) { return quota(), nil }))
	var seen hook.Result
	add(h, hook.ToolResults, reshaping(func(r hook.Result) (*hook.Result, error) {
		seen = r
		r.Text = "Wait."
		return &r, nil
	}))
	o := h.call("t", `{}`)
	assert.Equal(t, "No more today.\nCome back tomorrow.", seen.Text)
	assert.False(t, seen.Success)
	assert.Equal(t, "Error acme_quota: Wait.", o.Text)
	assert.EqualValues(t, 3, o.Result.Error.Params["left"])
}

// HOOK-9: images of hooks are ignored on a turn that takes none, with one note.
func TestImagesOfHooksWithoutImages(t *testing.T) {
	h := newHost(t)
	h.tools(says("t", "x"))
	add(h, hook.ToolResults, reshaping(func(r hook.Result) (*hook.Result, error) {
		r.Text, r.Images = "from the hook", []hook.Image{{MediaType: "image/png", Data: []byte(png)}}
		return &r, nil
	}))
	for range 3 {
		assert.Equal(t, []tool.Block{{Text: "from the hook"}}, h.call("t", `{}`).Result.Content)
	}
	require.Len(t, h.notes, 1)
	assert.Equal(t, "HookImagesIgnored", h.notes[0].Code)
}

// HOOK-10 to HOOK-12: of the images that a hook returns those stay that can be sent.
func TestImagesOfHooks(t *testing.T) {
	h := newHost(t)
	h.turn.Images = true
	h.tools(says("t", "x"))
	images := []hook.Image{
		{MediaType: "image/png", Data: []byte(png)},
		{MediaType: "image/bmp", Data: []byte("BM")},
		{MediaType: "image/png", Data: []byte("GIF89a")},
		{MediaType: "image/gif", Data: []byte("GIF89a")},
	}
	add(h, hook.ToolResults, reshaping(func(r hook.Result) (*hook.Result, error) { r.Images = images; return &r, nil }))
	o := h.call("t", `{}`)
	assert.Equal(t, []tool.Block{{Text: "x"}, {MediaType: "image/png", Data: []byte(png)}, {MediaType: "image/gif", Data: []byte("GIF89a")}}, o.Result.Content)
	assert.Len(t, h.notes, 2)
}

// FIELD-J6: the text of a hook is bounded like that of a tool.
func TestTheTextOfAHookIsBounded(t *testing.T) {
	h := newHost(t)
	h.tools(says("t", "x"))
	whole := strings.Repeat("y", 1<<20)
	add(h, hook.ToolResults, reshaping(func(r hook.Result) (*hook.Result, error) { r.Text = whole; return &r, nil }))
	o := h.call("t", `{}`)
	assertBounded(t, h, o.Text, whole)
	assert.Equal(t, filepath.Join(h.home, "spill", "t1", "c1.txt"), o.Result.Spill)
}

func assertBounded(t *testing.T, h *host, text, whole string) {
	t.Helper()
	lines := strings.Split(text, "\n")
	require.GreaterOrEqual(t, len(lines), 3)
	path := filepath.Join(h.home, "spill", "t1", "c1.txt")
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, whole, string(kept))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	assert.Contains(t, text, path)
	runes := []rune(whole)
	assert.True(t, strings.HasPrefix(text, string(runes[:80_000])+"\n["))
	assert.True(t, strings.HasSuffix(text, "]\n"+string(runes[len(runes)-16_000:])))
}
