package dispatcher_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// anyResult draws what a tool may return, and what it must not.
var anyResult = rapid.Custom(func(t *rapid.T) tool.Result {
	text := rapid.SampledFrom([]string{"", " ", "fine", "a\x00b", "\xff", "語"})
	block := rapid.Custom(func(t *rapid.T) tool.Block {
		if rapid.Bool().Draw(t, "image") {
			return tool.Block{MediaType: rapid.SampledFrom([]string{"image/png", "image/x"}).Draw(t, "type"), Data: []byte(png)}
		}
		return tool.Block{Text: text.Draw(t, "text")}
	})
	r := tool.Result{Failed: rapid.Bool().Draw(t, "failed"), Content: rapid.SliceOfN(block, 0, 3).Draw(t, "content")}
	if rapid.Bool().Draw(t, "with error") {
		r.Error = &tool.Error{
			Code: rapid.SampledFrom([]string{"", "acme", "two words", tool.CodeTimeout}).Draw(t, "code"), Message: text.Draw(t, "message"),
			Params: rapid.SampledFrom([]map[string]any{nil, {"a": 1}, {"f": func() {}}}).Draw(t, "params"),
		}
	}
	r.Structured = rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage(`{}`), json.RawMessage(`{`)}).Draw(t, "structured")
	return r
})

// Whatever tools, policies, approvers and hooks do, a call has one result, which is well formed, and a start has an end.
func TestEveryCallEndsInOneWellFormedResult(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHost(t)
		h.turn.Images = rapid.Bool().Draw(rt, "images")
		behave := func(what string) error {
			switch rapid.SampledFrom([]string{"", "", "", "error", "panic"}).Draw(rt, what) {
			case "error":
				return errors.New("x")
			case "panic":
				panic("x")
			}
			return nil
		}
		seen := &records{}
		add[dispatch.Recorder](h, dispatch.Recorders, seen)
		verdict := func() dispatch.Verdict {
			return rapid.SampledFrom([]dispatch.Verdict{dispatch.Allowed(), dispatch.Allowed(), {}, dispatch.Denied("", ""), dispatch.Denied("acme", "no"), dispatch.Denied("two words", " ")}).Draw(rt, "verdict")
		}
		h.plugin("acme.p", func(r *contrib.Registrar) error {
			return errors.Join(
				with(dispatch.Policies, policy(func(dispatch.Call) (dispatch.Verdict, error) { return verdict(), behave("policy") }))(r),
				with[hook.ToolResult](hook.ToolResults, reshaping(func(r hook.Result) (*hook.Result, error) {
					if rapid.Bool().Draw(rt, "reshape") {
						r.Text += "!"
						return &r, behave("hook")
					}
					return nil, behave("hook")
				}))(r),
				with(tool.Sources, tool.Source(tool.Fixed("s", registration("t", func(ctx context.Context, i tool.Invocation) (tool.Result, error) {
					if rapid.Bool().Draw(rt, "subcall") && len(i.CallID) < 8 {
						_, _ = i.Call(ctx, "t", nil)
					}
					return anyResult.Draw(rt, "result"), behave("tool")
				}))))(r),
			)
		})
		h.plan()
		o := h.call("t", `{}`)
		require.Equal(rt, o.Result.Failed, o.Result.Error != nil)
		require.Equal(rt, o.Result.Failed, o.Status != model.Success)
		require.Equal(rt, o.Executed, o.Result.Executed)
		require.NotEmpty(rt, o.Status)
		require.True(rt, utf8.ValidString(o.Text))
		_, err := json.Marshal(o.Result)
		require.NoError(rt, err)
		if e := o.Result.Error; e != nil {
			require.True(rt, tool.ValidCode(e.Code))
			require.NotEmpty(rt, e.Message)
			require.Equal(rt, e.FromTool, o.Executed && (e.Code == "acme" || e.Code == tool.CodeTimeout))
		} else {
			require.NotEmpty(rt, o.Result.Content)
		}
		require.Len(rt, seen.ends, len(seen.starts))
		if !o.Executed {
			require.Empty(rt, seen.starts)
		}
	})
}
