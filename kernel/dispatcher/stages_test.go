package dispatcher_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/dispatcher"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/rawhook"
	"github.com/crystalkernel/crystal/points/tool"
)

func TestACallRunsAndIsRecorded(t *testing.T) {
	seen := &records{}
	h := newHost(t)
	add[dispatch.Recorder](h, dispatch.Recorders, seen)
	h.tools(echo("read"))
	var started []dispatcher.Call
	h.turn.BeforeStart = func(c dispatcher.Call) error { started = append(started, c); return nil }
	o := h.call("read", `{"path":"a.txt"}`)
	assert.Equal(t, model.Success, o.Status)
	assert.True(t, o.Executed)
	assert.True(t, o.Result.Executed)
	assert.Equal(t, `{"path":"a.txt"}`, o.Text)
	assert.Equal(t, "auto", o.Verdict.By)
	assert.Equal(t, tool.Read, o.Classification.Risk)
	assert.False(t, o.Rewritten)
	require.Len(t, started, 1)
	assert.Equal(t, "c1", started[0].ID)
	require.Len(t, seen.starts, 1)
	require.Len(t, seen.ends, 1)
	assert.Equal(t, "full", seen.starts[0].Approval)
	assert.Equal(t, "builtin:tools:builtin:read", seen.starts[0].Definition.Key.String())
}

// FIELD-D8: names that lead nowhere are results like any other.
func TestNamesThatLeadNowhere(t *testing.T) {
	h := newHost(t)
	list := []tool.Registration{says("read", "x")}
	for i := range 40 {
		list = append(list, says(strings.Repeat("n", 60)+string(rune('a'+i%26))+string(rune('a'+i/26)), "x"))
	}
	h.tools(list...)
	for _, name := range []string{"", "bash\n", strings.Repeat("a", 300), "raed", "\x00\xff\"", strings.Repeat("語", 100)} {
		o := h.call(name, `{}`)
		assert.Equal(t, tool.CodeNotFound, code(o), name)
		assert.Equal(t, model.Failure, o.Status)
		assert.False(t, o.Executed)
		assert.LessOrEqual(t, len([]rune(o.Text)), 1000)
		assert.NotContains(t, o.Text, "\n")
		assert.LessOrEqual(t, len(o.Result.Error.Params["name"].(string)), 4*64)
		assert.LessOrEqual(t, strings.Count(o.Text, ","), 20)
	}
	assert.Contains(t, h.call("raed", `{}`).Text, "The nearest are: read, ")
}

// FIELD-D10, TOOL-10: another case finds the one tool, and the record says which name was asked for.
func TestAnotherCaseIsNotedInTheRecord(t *testing.T) {
	h := newHost(t)
	h.tools(says("find", "found"), says("Read2", "x"), says("read2", "y"))
	o := h.call("Find", `{}`)
	assert.Equal(t, "found", o.Text)
	assert.Equal(t, "Find", o.Requested.Name)
	assert.Equal(t, "find", o.Effective.Name)
	o = h.call("READ2", `{}`)
	assert.Equal(t, tool.CodeNotFound, code(o))
	assert.Contains(t, o.Text, "Read2, read2")
}

func TestAudiencesAndExposures(t *testing.T) {
	exposed := func(name string, e tool.Exposure, a tool.Audiences) tool.Registration {
		return says(name, "x", func(r *tool.Registration) { r.Definition.Exposure, r.Definition.Audiences = e, a })
	}
	all := tool.AudienceModel | tool.AudienceHost | tool.AudienceApp
	h := newHost(t)
	h.tools(exposed("open", tool.Direct, all), exposed("plain", "", 0), exposed("secret", tool.Hidden, all), exposed("mine", tool.DirectModelOnly, all),
		says("off", "x", func(r *tool.Registration) { r.Binding.Unavailable, r.Definition.Audiences = true, all }))
	want := map[string][3]string{
		"open": {"", "", ""}, "plain": {"", "", tool.CodeUnauthorized}, "secret": {tool.CodeUnauthorized, "", ""},
		"mine": {"", tool.CodeUnauthorized, tool.CodeUnauthorized}, "off": {tool.CodeUnavailable, tool.CodeUnavailable, tool.CodeUnavailable},
	}
	for name, codes := range want {
		for i, audience := range []tool.Audiences{tool.AudienceModel, tool.AudienceHost, tool.AudienceApp} {
			o := h.dispatcher.Dispatch(context.Background(), h.turn, dispatcher.Request{ID: "c", Name: name, Arguments: "{}", Audience: audience})
			assert.Equal(t, codes[i], code(o), "%s for %s", name, audience)
			switch codes[i] {
			case tool.CodeUnauthorized:
				assert.Equal(t, audience.String(), o.Result.Error.Params["audience"])
				assert.Equal(t, model.Denied, o.Status)
			case tool.CodeUnavailable:
				assert.Equal(t, tool.ReasonNotAvailable, o.Result.Error.Params["reason"])
			}
		}
	}
}

// TOOL-4: a masked tool is unknown to every audience.
func TestMaskedToolIsUnknownToEverybody(t *testing.T) {
	h := newHost(t)
	add[tool.Restriction](h, tool.Restrictions, tool.RestrictionFunc(func(_ context.Context, d tool.Definition, _ tool.Exposure, _ tool.Planning) (*tool.Edit, error) {
		return &tool.Edit{Mask: d.Name == "t"}, nil
	}))
	h.tools(says("t", "x"), says("u", "x"))
	for _, audience := range []tool.Audiences{tool.AudienceModel, tool.AudienceHost, tool.AudienceApp} {
		o := h.dispatcher.Dispatch(context.Background(), h.turn, dispatcher.Request{ID: "c", Name: "t", Audience: audience})
		assert.Equal(t, tool.CodeNotFound, code(o))
	}
}

type leaseFunc func() error

func (f leaseFunc) Check(context.Context) error { return f() }

func TestLeases(t *testing.T) {
	var lease func() error
	h := newHost(t)
	h.tools(says("t", "x", func(r *tool.Registration) { r.Binding.Lease = leaseFunc(func() error { return lease() }) }))
	lease = func() error { return errors.New("secret-1") }
	o := h.call("t", `{}`)
	assert.Equal(t, "Error tool_unavailable: The tool is not available.", o.Text)
	assert.Equal(t, tool.ReasonLease, o.Result.Error.Params["reason"])
	assert.Contains(t, h.log.String(), "secret-1")
	lease = func() error { panic("secret-2") }
	assert.Equal(t, tool.CodeUnavailable, code(h.call("t", `{}`)))
	lease = func() error { return contrib.ErrUnavailable }
	assert.Equal(t, tool.ReasonRevoked, h.call("t", `{}`).Result.Error.Params["reason"])
	lease = func() error { return nil }
	assert.Equal(t, "x", h.call("t", `{}`).Text)
}

func TestAuthority(t *testing.T) {
	verdict := dispatch.Verdict{}
	h := newHost(t, func(c *dispatcher.Config) {
		c.Authority = func(context.Context, dispatch.Call) dispatch.Verdict { return verdict }
	})
	h.tools(says("t", "x"))
	assert.Equal(t, tool.CodeUnauthorized, code(h.call("t", `{}`)))
	verdict.Code = "host_code"
	assert.Equal(t, "host_code", code(h.call("t", `{}`)))
	verdict.Allow = true
	assert.Equal(t, "x", h.call("t", `{}`).Text)
}

// FIELD-F1, FIELD-F2, FIELD-F4, FIELD-F8, FIELD-F9, FIELD-E9: bad arguments reach nobody.
func TestArguments(t *testing.T) {
	h := newHost(t)
	asked := 0
	add(h, dispatch.Policies, policy(func(dispatch.Call) (dispatch.Verdict, error) { asked++; return dispatch.Allowed(), nil }))
	h.tools(echo("read", schemaOf(`{"properties":{"path":{"type":"string"}},"required":["path"]}`)), echo("any"))
	cases := []struct {
		text, reason string
		offset       any
	}{
		{`{"command":"ls"`, "notJson", 15}, {`{"path":"a"}}`, "trailingText", 12}, {`null`, "notObject", nil}, {`[]`, "notObject", nil},
		{`"a.txt"`, "notObject", nil}, {`{"path":"a","path":"b"}`, "duplicateKey", 12}, {`{}`, "schema", nil}, {``, "schema", nil},
		{`{"path":{"a":1}}`, "schema", nil},
	}
	for _, c := range cases {
		o := h.call("read", c.text)
		assert.Equal(t, tool.CodeInputInvalid, code(o), c.text)
		assert.Equal(t, c.reason, o.Result.Error.Params["reasonCode"], c.text)
		assert.Equal(t, c.offset, o.Result.Error.Params["offset"], c.text)
		assert.Equal(t, c.text, o.Requested.Arguments)
		assert.False(t, o.Executed)
	}
	assert.Zero(t, asked)
	assert.Equal(t, "{}", h.call("any", "").Text)
}

// TOOL-15, FIELD-E6: everybody behind the check sees the coerced arguments; the record keeps the text as it came.
func TestCoercedArgumentsAreSeenByAll(t *testing.T) {
	h := newHost(t)
	var seen []string
	add(h, dispatch.Policies, policy(func(c dispatch.Call) (dispatch.Verdict, error) {
		seen = append(seen, string(c.Arguments))
		return dispatch.Allowed(), nil
	}))
	add[hook.Approval](h, hook.Approvals, hook.ApprovalFunc(func(_ context.Context, c hook.Call, _ tool.Classification) (*hook.Advice, error) {
		seen = append(seen, string(c.Arguments))
		return nil, nil
	}))
	h.tools(echo("count", schemaOf(`{"properties":{"count":{"type":"integer"}},"required":["count"]}`)))
	for text, rule := range map[string]string{`{"count":" 12"}`: "integerFromString", `{"count":12.0}`: "integerNotation"} {
		seen = nil
		o := h.call("count", text)
		assert.Equal(t, `{"count":12}`, o.Text)
		assert.Equal(t, []string{`{"count":12}`, `{"count":12}`}, seen)
		assert.Equal(t, []tool.Coercion{{Pointer: "/count", Rule: rule}}, o.Coercions)
		assert.Equal(t, o.Coercions, o.Result.Coercions)
		assert.Equal(t, text, o.Requested.Arguments)
		assert.Equal(t, `{"count":12}`, o.Effective.Arguments)
		assert.False(t, o.Rewritten)
	}
	o := h.call("count", `{"count":"5x"}`)
	assert.Contains(t, o.Text, "/count")
}

// The table of hints: approval.md 4 and tools.md 10.
func TestClassificationByHints(t *testing.T) {
	cases := []struct {
		hints     *tool.Hints
		risk      tool.Risk
		authority tool.Authority
		prompt    bool
	}{
		{nil, tool.Privileged, tool.PrivilegedEscalation, false},
		{&tool.Hints{}, tool.Write, tool.Workspace, false},
		{&tool.Hints{ReadOnly: true}, tool.Read, tool.Workspace, false},
		{&tool.Hints{Destructive: true, ReadOnly: true}, tool.Privileged, tool.Workspace, false},
		{&tool.Hints{OpenWorld: true}, tool.Write, tool.Network, false},
		{&tool.Hints{ReadOnly: true, OpenWorld: true, RequiresApproval: true}, tool.Read, tool.Network, true},
	}
	for _, c := range cases {
		h := newHost(t)
		h.moduleTools("m", says("t", "x", hints(c.hints)))
		k := h.call("t", `{}`).Classification
		assert.Equal(t, c.risk, k.Risk)
		assert.Equal(t, c.authority, k.Authority)
		assert.Equal(t, c.prompt, k.RequirePrompt)
		assert.NotEmpty(t, k.Summary)
	}
}

func TestClassifiersComeBeforeHintsAndNeverSeeBuiltins(t *testing.T) {
	h := newHost(t)
	answer := tool.Classification{Risk: tool.Read, Authority: tool.Workspace, Summary: "fine"}
	ok, asked := true, 0
	h.plugin("acme.k", with[tool.Classifier](tool.Classifiers, tool.ClassifierFunc(func(_ context.Context, c tool.Call, workspace string) (tool.Classification, bool, error) {
		asked++
		assert.Equal(t, "/work", workspace)
		c.Arguments[0] = 'X'
		return answer, ok, nil
	})))
	fixed := func(r *tool.Registration) {
		r.Binding.Classify = func(context.Context, tool.Call, string) tool.Classification {
			return tool.Classification{Risk: tool.Write, Authority: tool.OutsideWorkspace, Summary: "rule", Fingerprint: "f"}
		}
	}
	h.tools(says("ruled", "x", fixed), says("bare", "x", hints(nil)), says("broken", "x", func(r *tool.Registration) {
		r.Binding.Classify = func(context.Context, tool.Call, string) tool.Classification { panic("x") }
	}))
	h.moduleTools("m", echo("t", hints(&tool.Hints{RequiresApproval: true})))
	assert.Equal(t, tool.Classification{Risk: tool.Write, Authority: tool.OutsideWorkspace, Summary: "rule", Fingerprint: "f"}, h.call("ruled", `{}`).Classification)
	assert.Equal(t, tool.Privileged, h.call("bare", `{}`).Classification.Risk)
	assert.Equal(t, tool.Privileged, h.call("broken", `{}`).Classification.Risk)
	assert.Zero(t, asked)
	o := h.call("t", `{}`)
	assert.Equal(t, tool.Classification{Risk: tool.Read, Authority: tool.Workspace, Summary: "fine", RequirePrompt: true}, o.Classification)
	assert.Equal(t, "{}", o.Text, "a classifier has its own copy")
	answer.Risk = 77
	o = h.call("t", `{}`)
	assert.Equal(t, tool.Write, o.Classification.Risk, "an unknown risk is no answer")
	require.Len(t, h.fails, 1)
	assert.Equal(t, contrib.CauseRefused, h.fails[0].Cause)
	ok = false
	assert.Equal(t, tool.Write, h.call("t", `{}`).Classification.Risk)
}

// TOOL-1: the first denial ends the stage. TOOL-13: a refusal leaves no record.
func TestTheFirstDenialEndsTheStage(t *testing.T) {
	h := newHost(t)
	seen := &records{}
	add[dispatch.Recorder](h, dispatch.Recorders, seen)
	hooked := 0
	add[hook.ToolResult](h, hook.ToolResults, hook.ToolResultFunc(func(context.Context, hook.Call, hook.Result) (*hook.Result, error) {
		hooked++
		return nil, nil
	}))
	third := 0
	add(h, dispatch.Policies, policy(func(dispatch.Call) (dispatch.Verdict, error) { return dispatch.Allowed(), nil }))
	add(h, dispatch.Policies, policy(func(dispatch.Call) (dispatch.Verdict, error) { return dispatch.Denied("acme_no", "No."), nil }))
	add(h, dispatch.Policies, policy(func(dispatch.Call) (dispatch.Verdict, error) { third++; return dispatch.Allowed(), nil }))
	ran := 0
	h.tools(registration("t", func(context.Context, tool.Invocation) (tool.Result, error) { ran++; return tool.Text("x"), nil }))
	h.turn.BeforeStart = func(dispatcher.Call) error { ran++; return nil }
	o := h.call("t", `{}`)
	assert.Equal(t, "Error acme_no: No.", o.Text)
	assert.Equal(t, model.Denied, o.Status)
	assert.Equal(t, "stage", o.Verdict.By)
	assert.False(t, o.Executed)
	assert.False(t, o.Result.Executed)
	assert.False(t, o.Result.Error.FromTool)
	assert.Zero(t, ran+third+hooked+len(seen.starts)+len(seen.ends))
}

// TOOL-3: a plugin replaces the default policy while it lives.
func TestReplacingAStage(t *testing.T) {
	h := newHost(t)
	add(h, dispatch.Policies, policy(func(dispatch.Call) (dispatch.Verdict, error) { return dispatch.Allowed(), nil }),
		contrib.Named(dispatch.DefaultPolicy), contrib.Order(100))
	h.tools(says("t", "x"))
	g := h.plugin("acme.p", with(dispatch.Policies, policy(func(dispatch.Call) (dispatch.Verdict, error) { return dispatch.Verdict{}, nil }),
		contrib.ReplaceTarget(dispatch.DefaultPolicy)))
	assert.Equal(t, tool.CodeUnauthorized, code(h.call("t", `{}`)))
	<-g.Stop(contrib.StopOperator).Done()
	assert.Equal(t, "x", h.call("t", `{}`).Text)
}

// FIELD-D4: a replaced guard does not fall back to the weaker default.
func TestALostGuardStaysClosed(t *testing.T) {
	h := newHost(t)
	h.tools(says("t", "x"))
	g := h.plugin("acme.p", with[dispatch.Approver](dispatch.Approvers, dispatch.ApproverFunc(func(context.Context, dispatch.Call) (dispatch.Verdict, error) {
		return dispatch.Allowed(), nil
	}), contrib.ReplaceTarget(dispatch.DefaultApproval)))
	assert.Equal(t, "x", h.call("t", `{}`).Text)
	<-g.Stop(contrib.StopFault).Done()
	o := h.call("t", `{}`)
	assert.Equal(t, tool.CodeUnavailable, code(o))
	assert.Equal(t, map[string]any{"reason": "guardLost", "target": dispatch.DefaultApproval, "pluginId": "acme.p"}, o.Result.Error.Params)
	h.registry.ReleaseHolds("acme.p")
	assert.Equal(t, "x", h.call("t", `{}`).Text)
}

// FIELD-B1: a policy that fails denies, and its text is in the log file alone. FIELD-B7 is the slow one.
func TestAPolicyThatFailsDenies(t *testing.T) {
	fail := map[string]func() (dispatch.Verdict, error){
		"error": func() (dispatch.Verdict, error) { return dispatch.Allowed(), errors.New("boom secret-123") },
		"panic": func() (dispatch.Verdict, error) { panic("boom secret-123") },
	}
	for cause, f := range fail {
		for _, owner := range []string{"plugin:acme.p@g1", "builtin"} {
			h := newHost(t)
			h.tools(says("read", "x"))
			p := policy(func(dispatch.Call) (dispatch.Verdict, error) { return f() })
			if owner == "builtin" {
				add(h, dispatch.Policies, p)
			} else {
				h.plugin("acme.p", with(dispatch.Policies, p))
			}
			o := h.call("read", `{}`)
			assert.Equal(t, tool.CodePolicyFailed, code(o))
			assert.Equal(t, map[string]any{"origin": owner, "cause": cause}, o.Result.Error.Params)
			assert.False(t, o.Executed)
			out, err := json.Marshal(o)
			require.NoError(t, err)
			assert.NotContains(t, string(out), "secret-123")
			assert.Contains(t, h.log.String(), "secret-123")
		}
	}
}

// FIELD-B7: a stage that is too slow fails at its deadline.
func TestAPolicyThatIsTooSlowDenies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.tools(says("read", "x"))
		block := make(chan struct{})
		h.plugin("acme.p", with(dispatch.Policies, policy(func(dispatch.Call) (dispatch.Verdict, error) { <-block; return dispatch.Allowed(), nil }),
			contrib.Deadline(time.Second)))
		start := time.Now()
		o := h.call("read", `{}`)
		assert.Equal(t, time.Second, time.Since(start))
		assert.Equal(t, tool.CodePolicyFailed, code(o))
		assert.Equal(t, "deadline", o.Result.Error.Params["cause"])
		close(block)
	})
}

// FIELD-B10: four ways not to run have four codes, and the first alone says that the operator declined.
func TestFourWaysNotToRun(t *testing.T) {
	h := newHost(t)
	h.tools(says("t", "x"))
	approve := func(f func(ctx context.Context) (dispatch.Verdict, error)) func() {
		handle := add[dispatch.Approver](h, dispatch.Approvers, dispatch.ApproverFunc(func(ctx context.Context, _ dispatch.Call) (dispatch.Verdict, error) {
			return f(ctx)
		}))
		return handle.Revoke
	}
	undo := approve(func(context.Context) (dispatch.Verdict, error) {
		return dispatch.Verdict{By: "operator", Message: "The operator declined."}, nil
	})
	o := h.call("t", `{}`)
	assert.Equal(t, tool.CodeApprovalRejected, code(o))
	assert.Equal(t, "operator", o.Result.Error.Params["by"])
	assert.Equal(t, model.Denied, o.Status)
	assert.Contains(t, o.Text, "declined")
	undo()

	handle := add(h, dispatch.Policies, policy(func(dispatch.Call) (dispatch.Verdict, error) { return dispatch.Verdict{}, nil }))
	o = h.call("t", `{}`)
	assert.Equal(t, tool.CodeUnauthorized, code(o))
	assert.NotContains(t, o.Text, "declined")
	handle.Revoke()

	undo = approve(func(context.Context) (dispatch.Verdict, error) { return dispatch.Allowed(), errors.New("no terminal") })
	o = h.call("t", `{}`)
	assert.Equal(t, tool.CodeApprovalFailed, code(o))
	assert.NotContains(t, o.Text, "declined")
	undo()

	ctx, cancel := context.WithCancel(context.Background())
	undo = approve(func(ctx context.Context) (dispatch.Verdict, error) {
		cancel()
		<-ctx.Done()
		return dispatch.Verdict{}, ctx.Err()
	})
	o = h.callIn(ctx, "t", `{}`)
	assert.Equal(t, tool.CodeCancelled, code(o))
	assert.Equal(t, model.Cancelled, o.Status)
	undo()
}

// An approver of a plugin that does not listen is left when the turn ends.
func TestCancellingLeavesAnApproverThatDoesNotListen(t *testing.T) {
	h := newHost(t)
	h.tools(says("t", "x"))
	ctx, cancel := context.WithCancel(context.Background())
	block := make(chan struct{})
	h.plugin("acme.p", with[dispatch.Approver](dispatch.Approvers, dispatch.ApproverFunc(func(context.Context, dispatch.Call) (dispatch.Verdict, error) {
		cancel()
		<-block
		return dispatch.Allowed(), nil
	})))
	assert.Equal(t, tool.CodeCancelled, code(h.callIn(ctx, "t", `{}`)))
	close(block)
}

func TestWithoutApproversOnlyReadingRuns(t *testing.T) {
	h := newHost(t)
	for _, e := range dispatch.Approvers.Entries(h.registry.View(), "") {
		require.True(t, e.Occupies(dispatch.DefaultApproval))
	}
	// A module may stand in the way of the default by replacing it with nothing of its own: revoke ours instead.
	bare, err := contrib.New(tool.Sources, tool.Restrictions, tool.Classifiers, dispatch.Policies, dispatch.Approvers, dispatch.Recorders,
		dispatch.Normalizers, hook.ToolCalls, hook.ToolResults, hook.Approvals, rawhook.RewriteApprovals)
	require.NoError(t, err)
	defer bare.Close()
	h.registry, h.registrar = bare, bare.Builtin()
	h.dispatcher = dispatcher.New(dispatcher.Config{Registry: bare})
	h.tools(says("look", "x"), says("change", "x", hints(&tool.Hints{})), says("ask", "x", hints(&tool.Hints{ReadOnly: true, RequiresApproval: true})))
	assert.Equal(t, "x", h.call("look", `{}`).Text)
	for _, name := range []string{"change", "ask"} {
		o := h.call(name, `{}`)
		assert.Equal(t, tool.CodeApprovalRejected, code(o))
		assert.Equal(t, "stage", o.Result.Error.Params["by"])
	}
}

// FIELD-A7: deny beats ask beats allow, in every combination.
func TestDenyBeatsAskBeatsAllow(t *testing.T) {
	low := tool.Read
	policies := map[string]func() (dispatch.Verdict, error){
		"":                    func() (dispatch.Verdict, error) { return dispatch.Allowed(), nil },
		"acme_denied":         func() (dispatch.Verdict, error) { return dispatch.Denied("acme_denied", "No."), nil },
		tool.CodePolicyFailed: func() (dispatch.Verdict, error) { return dispatch.Verdict{}, errors.New("x") },
	}
	advices := map[string]*hook.Advice{"nothing": nil, "prompt": {RequirePrompt: true}, "lower": {Risk: &low}}
	for want, p := range policies {
		for kind, advice := range advices {
			h := newHost(t)
			prompts := 0
			h.plugin("acme.p", func(r *contrib.Registrar) error {
				if err := with(dispatch.Policies, policy(func(dispatch.Call) (dispatch.Verdict, error) { return p() }))(r); err != nil {
					return err
				}
				return with[hook.Approval](hook.Approvals, hook.ApprovalFunc(func(context.Context, hook.Call, tool.Classification) (*hook.Advice, error) {
					return advice, nil
				}))(r)
			})
			add[dispatch.Approver](h, dispatch.Approvers, dispatch.ApproverFunc(func(_ context.Context, c dispatch.Call) (dispatch.Verdict, error) {
				if c.Classification.RequirePrompt {
					prompts++
				}
				return dispatch.Allowed(), nil
			}))
			h.pluginTools("acme.t", says("probe", "x", hints(&tool.Hints{})))
			o := h.call("probe", `{}`)
			assert.Equal(t, want, code(o))
			switch {
			case want != "":
				assert.Zero(t, prompts)
				assert.Empty(t, h.notes)
			case kind == "prompt":
				assert.Equal(t, 1, prompts)
			case kind == "lower":
				assert.Zero(t, prompts)
				require.Len(t, h.notes, 1)
				assert.Equal(t, "ApprovalLoweringIgnored", h.notes[0].Code)
				assert.Equal(t, tool.Write, o.Classification.Risk)
			default:
				assert.Equal(t, "x", o.Text)
			}
		}
	}
}

// HOOK-13: advice below the risk is ignored, and its demand for a prompt is not.
func TestLowAdviceStillAsks(t *testing.T) {
	h := newHost(t)
	low, high := tool.Read, tool.Forbidden
	advise := func(a hook.Advice) {
		add[hook.Approval](h, hook.Approvals, hook.ApprovalFunc(func(context.Context, hook.Call, tool.Classification) (*hook.Advice, error) { return &a, nil }))
	}
	h.tools(says("t", "x", hints(&tool.Hints{})))
	advise(hook.Advice{Risk: &low, RequirePrompt: true})
	advise(hook.Advice{})
	k := h.call("t", `{}`).Classification
	assert.Equal(t, tool.Write, k.Risk)
	assert.True(t, k.RequirePrompt)
	advise(hook.Advice{Risk: &high})
	assert.Equal(t, tool.Forbidden, h.call("t", `{}`).Classification.Risk)
}

// HOOK-14: raw hooks replace all four values, and the last one counts.
func TestRawHooksReplaceTheClassification(t *testing.T) {
	h := newHost(t)
	raw := func(k tool.Classification) {
		h.plugin("acme.r"+k.Summary, with[rawhook.RewriteApproval](rawhook.RewriteApprovals, rawhook.RewriteApprovalFunc(
			func(context.Context, hook.Call, tool.Classification) (*tool.Classification, error) { return &k, nil })))
	}
	var asked tool.Classification
	add[dispatch.Approver](h, dispatch.Approvers, dispatch.ApproverFunc(func(_ context.Context, c dispatch.Call) (dispatch.Verdict, error) {
		asked = c.Classification
		return dispatch.Allowed(), nil
	}))
	h.tools(says("t", "x", hints(&tool.Hints{Destructive: true, RequiresApproval: true})))
	raw(tool.Classification{Risk: tool.Read, Authority: tool.Workspace, Summary: "a", Fingerprint: "forged", Always: true})
	h.call("t", `{}`)
	assert.Equal(t, tool.Classification{Risk: tool.Read, Authority: tool.Workspace, Summary: "a"}, asked)
	raw(tool.Classification{Risk: tool.Forbidden, Authority: tool.Network})
	h.call("t", `{}`)
	assert.Equal(t, tool.Classification{Risk: tool.Forbidden, Authority: tool.Network}, asked)
	assert.Empty(t, h.notes)
	raw(tool.Classification{Risk: 9, Authority: tool.Network, Summary: "c"})
	h.call("t", `{}`)
	assert.Equal(t, tool.Forbidden, asked.Risk)
	require.Len(t, h.fails, 1)
	assert.Equal(t, contrib.CauseRefused, h.fails[0].Cause)
}

func TestVerdictOfAPluginIsTakenAsData(t *testing.T) {
	h := newHost(t)
	h.tools(says("t", "x"))
	v := dispatch.Verdict{Code: "two words", Message: " ", By: "operator", Scope: "persistent", Params: map[string]any{"n": 1, "f": struct{ A int }{2}}}
	h.plugin("acme.p", with(dispatch.Policies, policy(func(c dispatch.Call) (dispatch.Verdict, error) {
		c.Definition.Name, c.Arguments[0] = "changed", 'X'
		return v, nil
	})))
	o := h.call("t", `{}`)
	assert.Equal(t, tool.CodeUnauthorized, code(o))
	assert.Equal(t, "A policy refused the call.", o.Result.Error.Message)
	assert.Equal(t, "stage", o.Verdict.By)
	assert.Empty(t, o.Verdict.Scope)
	assert.Equal(t, map[string]any{"n": 1.0, "f": map[string]any{"A": 2.0}}, o.Result.Error.Params)
	assert.Equal(t, "t", o.Definition.Name)
	v.Code = "acme_no"
	assert.Equal(t, "acme_no", code(h.call("t", `{}`)))
}
